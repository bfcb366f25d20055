"""The service from another program: the names of the library, over HTTP.

    from patientbandits.client import Client

    shop = Client("http://localhost:8080", "pb_dc_...")
    checkout = shop.open("checkout", fallback="control")
    checkout.decide(unit="visitor-42")
    checkout.convert(unit="visitor-42", order="A-1001", value=59.90)

`AsyncClient` is the same with ``await``. What fails on its way is sent again, with the same key, so
nothing is counted twice. Needs httpx: the extra ``client``.
"""

from typing import TYPE_CHECKING

from patientbandits._util.exports import lazy_exports

if TYPE_CHECKING:
    from patientbandits.client.asynchronous import AsyncClient as AsyncClient
    from patientbandits.client.asynchronous import AsyncRemoteExperiment as AsyncRemoteExperiment
    from patientbandits.client.synchronous import Client as Client
    from patientbandits.client.synchronous import RemoteExperiment as RemoteExperiment
    from patientbandits.client.trying import AwayError as AwayError
    from patientbandits.client.trying import NoAccessError as NoAccessError

__all__, __getattr__, __dir__ = lazy_exports(__name__)
