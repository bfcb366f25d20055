"""Every question and change in SQL that both databases speak; ``?`` stands for a value."""

from __future__ import annotations

from typing import Any, NamedTuple

from patientbandits.live.log import LineRow

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


class StoreQuestion(NamedTuple):
    """A statement with its values, for each ``?``."""

    statement: str
    values: tuple[Any, ...]


# Experiments, snapshots, keys and facts

EXPERIMENT_COLUMNS = "id, name, seed, created"
ALL_EXPERIMENTS = f"SELECT {EXPERIMENT_COLUMNS} FROM experiments ORDER BY name"
EXPERIMENT_OF_NAME = f"SELECT {EXPERIMENT_COLUMNS} FROM experiments WHERE name = ?"
NEXT_EXPERIMENT = "SELECT COALESCE(MAX(id), 0) + 1 FROM experiments"
ADD_EXPERIMENT = f"INSERT INTO experiments ({EXPERIMENT_COLUMNS}) VALUES (?, ?, ?, ?)"

SNAPSHOT_COLUMNS = "experiment, seq, code, state"
SNAPSHOT = "SELECT seq, code, state FROM snapshots WHERE experiment = ?"
SNAPSHOT_NAME = "SELECT seq, code FROM snapshots WHERE experiment = ?"
SAVE_SNAPSHOT = f"""
    INSERT INTO snapshots ({SNAPSHOT_COLUMNS}) VALUES (?, ?, ?, ?)
    ON CONFLICT (experiment)
    DO UPDATE SET seq = excluded.seq, code = excluded.code, state = excluded.state"""

KEY_COLUMNS = "id, hash, note, scopes, created, revoked"
KEYS = f"SELECT {KEY_COLUMNS} FROM keys ORDER BY created, id"
ADD_KEY = "INSERT INTO keys (id, hash, note, scopes, created) VALUES (?, ?, ?, ?, ?)"
REVOKE_KEY = "UPDATE keys SET revoked = ? WHERE id = ? AND revoked IS NULL"

FACT = "SELECT value FROM facts WHERE name = ?"
REMOVE_FACT = "DELETE FROM facts WHERE name = ?"
ERAS_AND_FAULT = "SELECT name, value FROM facts WHERE name IN ('eras', 'broken')"
FACTS_LIKE = "SELECT name, value FROM facts WHERE name LIKE ?"
SET_FACT = """
    INSERT INTO facts (name, value) VALUES (?, ?)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value"""

# The log

LOG_COLUMNS = ", ".join(LineRow._fields)
VALUES = f"({', '.join('?' * len(LineRow._fields))})"
RENAME = """
    UPDATE log SET unit = ?, key = ?, settings = ?, chain = ? WHERE experiment = ? AND seq = ?"""
LAST_SEQ = "SELECT COALESCE(MAX(seq), 0) FROM log WHERE experiment = ?"
CHAIN = "SELECT chain FROM log WHERE experiment = ? AND seq = ?"
TIME = "SELECT time FROM log WHERE experiment = ? AND seq = ?"
LINES = f"""
    SELECT {LOG_COLUMNS} FROM log
    WHERE experiment = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?"""
CHANGES = f"""
    SELECT {LOG_COLUMNS} FROM log WHERE experiment = ? AND settings IS NOT NULL ORDER BY seq"""
LAST_RETRACTION = """
    SELECT COALESCE(MAX(seq), 0) FROM log
    WHERE experiment = ? AND decision IS NOT NULL AND kind = 'retraction'"""
LAST_SUPERSEDING = """
    SELECT COALESCE(MAX(k.seq), 0) FROM log k
    WHERE k.experiment = ? AND k.about IS NOT NULL AND k.kind = 'credit' AND EXISTS (
        SELECT 1 FROM log p
        WHERE p.experiment = k.experiment AND p.about = k.about AND p.kind = 'credit'
        AND p.seq < k.seq)"""
WITH_SEVERAL_ARMS = """
    SELECT unit FROM log
    WHERE experiment = ? AND kind IN ('decision', 'assignment') AND unit IS NOT NULL
    GROUP BY unit HAVING MIN(arm) < MAX(arm)"""
WITH_ALIASES = "SELECT DISTINCT experiment FROM log WHERE kind = 'alias' AND key IS NOT NULL"
ANY_WITH_UNIT = """
    SELECT 1 FROM log WHERE experiment = ? AND kind = ? AND unit IS NOT NULL LIMIT 1"""
LINES_AT = f"SELECT {LOG_COLUMNS} FROM log WHERE experiment = ? AND "
"""A condition on seq follows."""

LINES_ABOUT = f"""
    SELECT {LOG_COLUMNS} FROM log
    WHERE experiment = ? AND about IS NOT NULL AND kind = ? AND """
"""A condition on about follows."""

LINES_WITH_UNIT = f"""
    SELECT {LOG_COLUMNS} FROM log
    WHERE experiment = ? AND kind = ? AND unit IS NOT NULL ORDER BY seq"""

DECIDED = """
    SELECT d.seq, d.time, d.arm, d.propensity, d.unit, d.key, d.happened,
        c.seq, c.time, c.value, c.happened, c.stated, r.seq, r.time, d.sender, c.sender
    FROM log d
    LEFT JOIN log c
        ON c.experiment = d.experiment AND c.decision = d.seq AND c.kind = 'conversion'
    LEFT JOIN log r
        ON r.experiment = d.experiment AND r.decision = d.seq AND r.kind = 'retraction'
    WHERE d.experiment = ? AND d.kind = 'decision' AND """
"""Decisions with what became of them: see `chain.decided_of`. A condition follows."""

CONVERTED_BY_ID = DECIDED.replace("LEFT JOIN log c", "JOIN log c") + " d.seq > 0 ORDER BY d.seq"
DECIDED_AFTER = f"{DECIDED} d.seq > ? AND d.seq <= ? ORDER BY d.seq LIMIT ?"

MARK = "SAVEPOINT mark"
BACK_TO_MARK = "ROLLBACK TO SAVEPOINT mark"
BY_KIND = "SELECT kind, COUNT(*) FROM log WHERE experiment = ? GROUP BY kind"

# Whole tables, for copies

TABLES = {
    "experiments": EXPERIMENT_COLUMNS,
    "log": LOG_COLUMNS,
    "snapshots": SNAPSHOT_COLUMNS,
    "keys": KEY_COLUMNS,
    **ALERT_TABLES,
}

# Counts for reports

MADE_AT = "COALESCE(d.happened, d.time)"
"""when a decision was made"""

SPAN_OF_DECISIONS = f"""
    SELECT
        (SELECT MIN({MADE_AT}) FROM log d
            WHERE d.experiment = ? AND d.arm = ? AND d.kind = 'decision'),
        (SELECT MAX({MADE_AT}) FROM log d
            WHERE d.experiment = ? AND d.arm = ? AND d.kind = 'decision')"""
DECISIONS_BETWEEN = f"""
    SELECT COUNT(*) FROM log d
    WHERE d.experiment = ? AND d.arm = ? AND d.kind = 'decision'
    AND {MADE_AT} > ? AND {MADE_AT} <= ?"""
CONVERSION_TIMES = f"""
    SELECT d.arm, {MADE_AT}, c.happened, c.value, CASE WHEN r.seq IS NULL THEN 0 ELSE 1 END, d.seq
    FROM log c
    JOIN log d ON d.experiment = c.experiment AND d.seq = c.decision
    LEFT JOIN log r
        ON r.experiment = c.experiment AND r.decision = c.decision AND r.kind = 'retraction'
    WHERE c.experiment = ? AND c.decision > ? AND c.decision <= ? AND c.kind = 'conversion'
    AND NOT EXISTS (
        SELECT 1 FROM log k
        WHERE k.experiment = c.experiment AND k.about = c.decision AND k.kind = 'credit')"""
LAST_CREDITS = """
    SELECT about, MAX(seq) AS seq FROM log
    WHERE experiment = ? AND about IS NOT NULL AND kind = 'credit' GROUP BY about"""
LAST_CREDITS_BETWEEN = """
    SELECT about, MAX(seq) AS seq FROM log
    WHERE experiment = ? AND about > ? AND about <= ? AND kind = 'credit' GROUP BY about"""
CREDIT_TIMES = f"""
    SELECT d.arm, {MADE_AT}, k.happened, k.value
    FROM ({LAST_CREDITS_BETWEEN}) AS latest
    JOIN log k ON k.experiment = ? AND k.seq = latest.seq
    JOIN log d ON d.experiment = k.experiment AND d.seq = k.about
    WHERE k.value > 0"""
DECISIONS_OF_UNITS = """
    SELECT COUNT(*), COUNT(DISTINCT d.unit) FROM log d
    WHERE d.experiment = ? AND d.kind = 'decision' AND d.unit IS NOT NULL"""
DECISION_TIMES = f"""
    SELECT d.seq, d.arm, {MADE_AT}, d.propensity FROM log d
    WHERE d.experiment = ? AND d.seq > ? AND d.seq <= ? AND d.kind = 'decision' ORDER BY d.seq"""
PAID = """
    SELECT c.decision, c.happened, c.value FROM log c
    WHERE c.experiment = ? AND c.decision > ? AND c.decision <= ? AND c.kind = 'conversion'
    AND c.value > 0 AND NOT EXISTS (
        SELECT 1 FROM log r
        WHERE r.experiment = c.experiment AND r.decision = c.decision AND r.kind = 'retraction')
    AND NOT EXISTS (
        SELECT 1 FROM log k
        WHERE k.experiment = c.experiment AND k.about = c.decision AND k.kind = 'credit')"""
CREDITED = f"""
    SELECT k.about, k.happened, k.value
    FROM ({LAST_CREDITS_BETWEEN}) AS latest JOIN log k ON k.experiment = ? AND k.seq = latest.seq
    WHERE k.value > 0"""
NOT_WITHDRAWN = """NOT EXISTS (
        SELECT 1 FROM log w
        WHERE w.experiment = g.experiment AND w.about = g.seq AND w.kind = 'withdrawal')"""
GOALS_OF_DECISIONS = f"""
    SELECT g.goal, g.happened, g.value, d.seq, {MADE_AT}, d.arm, g.time, g.sender, d.unit
    FROM log g JOIN log d ON d.experiment = g.experiment AND d.seq = g.about
    WHERE g.experiment = ? AND g.about IS NOT NULL AND g.kind = 'goal' AND {NOT_WITHDRAWN}"""
GOALS_OF_UNITS = f"""
    SELECT g.seq, g.goal, g.happened, g.value, g.unit, d.seq, {MADE_AT}, d.arm
    FROM log g JOIN log d
        ON d.experiment = g.experiment AND d.kind = 'decision' AND d.unit = g.unit
    WHERE g.experiment = ? AND g.kind = 'goal' AND g.unit IS NOT NULL AND d.unit IS NOT NULL
    AND {NOT_WITHDRAWN}"""
"""Each time a unit reached a goal, with each of the unit's decisions."""

GOAL_NAMES = "SELECT DISTINCT goal FROM log WHERE experiment = ? AND kind = 'goal'"
ORDER_COUNTS = """
    SELECT COUNT(*), COUNT(w.seq), COUNT(w.happened)
    FROM log o LEFT JOIN log w
        ON w.experiment = o.experiment AND w.about = o.seq AND w.kind = 'withdrawal'
    WHERE o.experiment = ? AND o.kind = 'order' AND o.unit IS NOT NULL"""
NEVER_EXPOSED = """
    SELECT o.unit, COUNT(*) FROM log o
    WHERE o.experiment = ? AND o.kind = 'order' AND o.unit IS NOT NULL
    AND NOT EXISTS (
        SELECT 1 FROM log d
        WHERE d.experiment = o.experiment AND d.kind = 'decision' AND d.unit = o.unit)
    AND NOT EXISTS (
        SELECT 1 FROM log w
        WHERE w.experiment = o.experiment AND w.about = o.seq AND w.kind = 'withdrawal')
    GROUP BY 1"""
"""Units with orders that were never exposed by this name."""

DECISIONS_BY_TIME = f"""
    SELECT {MADE_AT} / ?, d.arm, COUNT(*) FROM log d
    WHERE d.experiment = ? AND d.kind = 'decision' GROUP BY 1, 2 ORDER BY 1, 2"""
CONVERSIONS_BY_TIME = """
    SELECT c.time / ?, d.arm, COUNT(*), SUM(c.value)
    FROM log c JOIN log d ON d.experiment = c.experiment AND d.seq = c.decision
    WHERE c.experiment = ? AND c.decision IS NOT NULL AND c.kind = 'conversion' AND NOT EXISTS (
        SELECT 1 FROM log k
        WHERE k.experiment = c.experiment AND k.about = c.decision AND k.kind = 'credit')
    GROUP BY 1, 2 ORDER BY 1, 2"""
CREDITS_BY_TIME = f"""
    SELECT k.time / ?, d.arm, COUNT(*), SUM(k.value)
    FROM ({LAST_CREDITS}) AS latest
    JOIN log k ON k.experiment = ? AND k.seq = latest.seq
    JOIN log d ON d.experiment = k.experiment AND d.seq = k.about
    WHERE k.value > 0 GROUP BY 1, 2 ORDER BY 1, 2"""

# What alerts read

WATCHED_DECISIONS = f"""
    SELECT d.seq, d.arm, {MADE_AT}, d.propensity, d.unit, d.sender FROM log d
    WHERE d.experiment = ? AND d.seq > ? AND d.seq <= ? AND d.kind = 'decision' ORDER BY d.seq"""
WATCHED_PAYMENTS = f"""
    SELECT l.seq, l.kind, l.time, COALESCE(l.decision, l.about), l.value, l.happened, l.stated,
        COALESCE(l.unit, d.unit), l.sender, d.arm, {MADE_AT}
    FROM log l LEFT JOIN log d
        ON d.experiment = l.experiment AND d.seq = COALESCE(l.decision, l.about)
        AND d.kind = 'decision'
    WHERE l.experiment = ? AND l.seq > ? AND l.seq <= ?
    AND l.kind IN ('conversion', 'retraction', 'order', 'credit') ORDER BY l.seq"""

# What must hold in every log: each statement counts what breaks the rule

RULES = {
    "lines must be numbered 1, 2, 3, ...": """
        SELECT CASE WHEN COUNT(*) = MAX(seq) AND MIN(seq) = 1 THEN 0 ELSE 1 END
        FROM log WHERE experiment = ?""",
    "the first line must be a change": """
        SELECT COUNT(*) FROM log WHERE experiment = ? AND seq = 1 AND kind <> 'change'""",
    "time must not go back": """
        SELECT COUNT(*) FROM log l
        JOIN log k ON k.experiment = l.experiment AND k.seq = l.seq - 1
        WHERE l.experiment = ? AND l.time < k.time""",
    "conversions and retractions must be of decisions": """
        SELECT COUNT(*) FROM log l
        LEFT JOIN log d
            ON d.experiment = l.experiment AND d.seq = l.decision AND d.kind = 'decision'
        WHERE l.experiment = ? AND l.decision IS NOT NULL AND d.seq IS NULL""",
    "retractions must be of conversions": """
        SELECT COUNT(*) FROM log l
        LEFT JOIN log c
            ON c.experiment = l.experiment AND c.decision = l.decision
            AND c.kind = 'conversion' AND c.seq < l.seq
        WHERE l.experiment = ? AND l.kind = 'retraction' AND c.seq IS NULL""",
    "credits must be of decisions": """
        SELECT COUNT(*) FROM log l
        LEFT JOIN log d ON d.experiment = l.experiment AND d.seq = l.about AND d.kind = 'decision'
        WHERE l.experiment = ? AND l.kind = 'credit' AND d.seq IS NULL""",
    "goals must be of units or of decisions": """
        SELECT COUNT(*) FROM log l
        LEFT JOIN log d ON d.experiment = l.experiment AND d.seq = l.about AND d.kind = 'decision'
        WHERE l.experiment = ? AND l.kind = 'goal' AND l.unit IS NULL AND d.seq IS NULL""",
    "exposures must be told after they were made": """
        SELECT COUNT(*) FROM log WHERE experiment = ? AND kind = 'decision' AND happened > time""",
    "withdrawals must be of orders or goals, and once": """
        SELECT COUNT(*) FROM log l
        LEFT JOIN log o
            ON o.experiment = l.experiment AND o.seq = l.about AND o.kind IN ('order', 'goal')
        WHERE l.experiment = ? AND l.kind = 'withdrawal' AND (o.seq IS NULL OR EXISTS (
            SELECT 1 FROM log w
            WHERE w.experiment = l.experiment AND w.about = l.about AND w.kind = 'withdrawal'
            AND w.seq < l.seq))""",
}
