"""Alerts and webhooks in SQL that both databases speak; ``?`` stands for a value."""

from __future__ import annotations

ALERT_COLUMNS = "id, experiment, kind, subject, raised, seq, words, data, cleared"
WEBHOOK_COLUMNS = "id, url, secret, kinds, created, removed"
DELIVERY_COLUMNS = "webhook, message, body, due, attempts, delivered"

STANDING = f"""
    SELECT {ALERT_COLUMNS} FROM alerts WHERE experiment = ? AND cleared IS NULL
    ORDER BY raised, id"""
ALL_STANDING = """
    SELECT e.name, a.kind, a.subject FROM alerts a JOIN experiments e ON e.id = a.experiment
    WHERE a.cleared IS NULL ORDER BY e.name, a.kind, a.subject"""
RAISE = f"INSERT INTO alerts ({ALERT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
CLEAR_ALERT = "UPDATE alerts SET cleared = ? WHERE id = ?"

LISTENING = "SELECT id, kinds FROM webhooks WHERE removed IS NULL ORDER BY id"
WEBHOOKS = f"SELECT {WEBHOOK_COLUMNS} FROM webhooks WHERE removed IS NULL ORDER BY created, id"
ADD_WEBHOOK = f"INSERT INTO webhooks ({WEBHOOK_COLUMNS}) VALUES (?, ?, ?, ?, ?, NULL)"
REMOVE_WEBHOOK = "UPDATE webhooks SET removed = ? WHERE id = ? AND removed IS NULL"

QUEUE = f"""
    INSERT INTO deliveries ({DELIVERY_COLUMNS}) VALUES (?, ?, ?, ?, 0, NULL)
    ON CONFLICT (webhook, message) DO NOTHING"""
DUE = """
    SELECT d.webhook, d.message, d.body, d.attempts, w.url, w.secret
    FROM deliveries d JOIN webhooks w ON w.id = d.webhook
    WHERE d.delivered IS NULL AND w.removed IS NULL AND d.due <= ? AND d.attempts < ?
    ORDER BY d.due, d.message LIMIT 100"""
DELIVERED = "UPDATE deliveries SET delivered = ? WHERE webhook = ? AND message = ?"
TRY_AGAIN = """
    UPDATE deliveries SET attempts = attempts + 1, due = ?
    WHERE webhook = ? AND message = ? AND delivered IS NULL"""
UNDELIVERED = """
    SELECT COUNT(*) FROM deliveries d JOIN webhooks w ON w.id = d.webhook
    WHERE d.delivered IS NULL AND w.removed IS NULL"""

ALERT_TABLES = {
    "alerts": ALERT_COLUMNS,
    "webhooks": WEBHOOK_COLUMNS,
    "deliveries": DELIVERY_COLUMNS,
}
