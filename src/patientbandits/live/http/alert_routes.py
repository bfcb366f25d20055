"""The routes of those who look after experiments."""

from __future__ import annotations

from patientbandits.live.http import alert_handlers
from patientbandits.live.http.router import Route

WATCHED = "/v1/experiments/{name}"

ALERT_ROUTES: tuple[Route, ...] = (
    Route(
        method="POST",
        path=f"{WATCHED}/quarantine",
        scope="admin",
        handler=alert_handlers.post_quarantine,
        operation="quarantine",
        what="Let a unit's, a key's or a time's events not count",
        answers={200: alert_handlers.QuarantineAnswer},
        body=alert_handlers.NewQuarantine,
        refusals=(404, 422, 503),
    ),
    Route(
        method="POST",
        path=f"{WATCHED}/releases",
        scope="admin",
        handler=alert_handlers.post_release,
        operation="release",
        what="Let the events of a rule count again",
        answers={200: alert_handlers.QuarantineAnswer},
        body=alert_handlers.Release,
        refusals=(404, 422, 503),
    ),
)
