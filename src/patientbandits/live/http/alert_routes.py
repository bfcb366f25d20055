"""The routes of those who look after experiments."""

from __future__ import annotations

from patientbandits.live.http import alert_handlers
from patientbandits.live.http.router import ONE_EXPERIMENT, READING_REFUSED, Route

ALERT_ROUTES: tuple[Route, ...] = (
    Route(
        method="POST",
        path=f"{ONE_EXPERIMENT}/quarantine",
        scope="admin",
        handler=alert_handlers.post_quarantine,
        operation="quarantine",
        what="Let a unit's, a key's or a time's events not count",
        answers={200: alert_handlers.QuarantineAnswer},
        body=alert_handlers.NewQuarantine,
        refusals=READING_REFUSED,
    ),
    Route(
        method="POST",
        path=f"{ONE_EXPERIMENT}/releases",
        scope="admin",
        handler=alert_handlers.post_release,
        operation="release",
        what="Let the events of a rule count again",
        answers={200: alert_handlers.QuarantineAnswer},
        body=alert_handlers.Release,
        refusals=READING_REFUSED,
    ),
    Route(
        method="GET",
        path=f"{ONE_EXPERIMENT}/alerts",
        scope="read",
        handler=alert_handlers.get_alerts,
        operation="alerts",
        what="Look for what somebody should know",
        answers={200: alert_handlers.AlertsAnswer},
        refusals=READING_REFUSED,
    ),
    Route(
        method="GET",
        path="/v1/webhooks",
        scope="admin",
        handler=alert_handlers.get_webhooks,
        operation="webhooks",
        what="Who is told of alerts",
        answers={200: alert_handlers.WebhooksAnswer},
        refusals=(422, 503),
    ),
    Route(
        method="POST",
        path="/v1/webhooks",
        scope="admin",
        handler=alert_handlers.post_webhook,
        operation="add_webhook",
        what="Have alerts told to an address",
        answers={201: alert_handlers.NewWebhookAnswer},
        body=alert_handlers.NewWebhook,
        refusals=(422, 503),
    ),
    Route(
        method="DELETE",
        path="/v1/webhooks/{id}",
        scope="admin",
        handler=alert_handlers.delete_webhook,
        operation="remove_webhook",
        what="Tell it no more",
        answers={204: None},
        refusals=READING_REFUSED,
    ),
)
