"""Client of the patientbandits service: the names of the library, over HTTP.

    from patientbandits_client import Client

    shop = Client("http://localhost:8080", "pb_dc_...")
    checkout = shop.open("checkout", fallback="control")
    checkout.decide(unit="visitor-42")
    checkout.convert(unit="visitor-42", order="A-1001", value=59.90)

`AsyncClient` is the same with ``await``. A request that gets lost is sent again with the same
idempotency key, so nothing is counted twice.
"""

from __future__ import annotations

from patientbandits_client.asynchronous import AsyncClient, AsyncRemoteExperiment
from patientbandits_client.errors import (
    NoAccessError,
    RefusedError,
    ServiceUnavailable,
    UnavailableError,
)
from patientbandits_client.records import Decision, Evaluated
from patientbandits_client.synchronous import Client, RemoteExperiment

__version__ = "0.1.0"

__all__ = [
    "AsyncClient",
    "AsyncRemoteExperiment",
    "Client",
    "Decision",
    "Evaluated",
    "NoAccessError",
    "RefusedError",
    "RemoteExperiment",
    "ServiceUnavailable",
    "UnavailableError",
]
