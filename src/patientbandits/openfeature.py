"""The provider for OpenFeature's Python SDK, of the distribution `patientbandits_client`.

    from openfeature import api
    from patientbandits.client import Client
    from patientbandits.openfeature import Provider

    api.set_provider(Provider(Client("http://localhost:8080", "pb_dc_...")))

Needs the extra ``openfeature``.
"""

from __future__ import annotations

from patientbandits.errors import InputError

try:
    from patientbandits_client.openfeature import Provider
except ImportError as error:  # pragma: no cover
    raise InputError(
        "openfeature: this needs patientbandits-client; pip install 'patientbandits[openfeature]'."
    ) from error

__all__ = ["Provider"]
