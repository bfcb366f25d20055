"""The service from another program: the distribution `patientbandits_client`, by its first name.

    from patientbandits.client import Client

    shop = Client("http://localhost:8080", "pb_dc_...")
    checkout = shop.open("checkout", fallback="control")
    checkout.decide(unit="visitor-42")

Needs the extra ``client``.
"""

from __future__ import annotations

import warnings

from patientbandits.errors import InputError

try:
    from patientbandits_client import (
        AsyncClient,
        AsyncRemoteExperiment,
        Client,
        NoAccessError,
        RemoteExperiment,
        ServiceUnavailable,
    )
except ImportError as error:  # pragma: no cover
    raise InputError(
        "client: this needs patientbandits-client; pip install 'patientbandits[client]'."
    ) from error

__all__ = [
    "AsyncClient",
    "AsyncRemoteExperiment",
    "Client",
    "NoAccessError",
    "RemoteExperiment",
    "ServiceUnavailable",
]


def __getattr__(name: str) -> type[ServiceUnavailable]:
    if name == "AwayError":
        warnings.warn("AwayError is now ServiceUnavailable", DeprecationWarning, stacklevel=2)
        return ServiceUnavailable
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
