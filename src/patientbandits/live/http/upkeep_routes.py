"""The routes of those who keep the service running: keys, erasures, metrics, health."""

from __future__ import annotations

from patientbandits.live.http import answer_schemas, schemas, upkeep_handlers
from patientbandits.live.http.router import READING_REFUSED, Route

UPKEEP_ROUTES: tuple[Route, ...] = (
    Route(
        method="POST",
        path="/v1/erasures",
        scope="admin",
        handler=upkeep_handlers.post_erasure,
        operation="erase",
        what="Remove what identifies a unit; what was counted stays",
        answers={200: answer_schemas.ErasureAnswer},
        body=schemas.NewErasure,
        refusals=(422, 503),
    ),
    Route(
        method="GET",
        path="/v1/keys",
        scope="admin",
        handler=upkeep_handlers.get_keys,
        operation="keys",
        what="All keys, without their secrets",
        answers={200: answer_schemas.KeysAnswer},
        refusals=(422, 503),
    ),
    Route(
        method="POST",
        path="/v1/keys",
        scope="admin",
        handler=upkeep_handlers.post_key,
        operation="create_key",
        what="Make a key",
        answers={201: answer_schemas.NewKeyAnswer},
        body=schemas.NewKey,
        refusals=(422, 503),
    ),
    Route(
        method="DELETE",
        path="/v1/keys/{id}",
        scope="admin",
        handler=upkeep_handlers.delete_key,
        operation="revoke_key",
        what="Revoke a key",
        answers={204: None},
        refusals=READING_REFUSED,
    ),
    Route(
        method="GET",
        path="/v1/scopes",
        scope="read",
        handler=upkeep_handlers.get_scopes,
        operation="scopes",
        what="What the key may be used for",
        answers={200: answer_schemas.ScopesAnswer},
        refusals=(422, 503),
    ),
    Route(
        method="GET",
        path="/metrics",
        scope="read",
        handler=upkeep_handlers.get_metrics,
        operation="metrics",
        what="Metrics for Prometheus",
        answers={200: ("text/plain",)},
    ),
    Route(
        method="GET",
        path="/healthz",
        scope=None,
        handler=upkeep_handlers.get_health,
        operation="health",
        what="Whether the server runs",
        answers={200: answer_schemas.Alive},
    ),
    Route(
        method="GET",
        path="/readyz",
        scope=None,
        handler=upkeep_handlers.get_readiness,
        operation="ready",
        what="Whether it can decide",
        answers={200: answer_schemas.Health},
        refusals=(503,),
    ),
)
