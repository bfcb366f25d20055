"""Decisions for live traffic: durable, for conversions that come hours or weeks later.

See `patientbandits.live.shop`. Names are imported when they are first used.
"""

from typing import TYPE_CHECKING, Any

from patientbandits._util.exports import lazy_exports
from patientbandits.live.packages import require_packages

if TYPE_CHECKING:
    from patientbandits.live.commands import Conversion as Conversion
    from patientbandits.live.commands import Credited as Credited
    from patientbandits.live.commands import Decision as Decision
    from patientbandits.live.commands import Joined as Joined
    from patientbandits.live.commands import Retraction as Retraction
    from patientbandits.live.errors import ConflictError as ConflictError
    from patientbandits.live.errors import DifferentError as DifferentError
    from patientbandits.live.errors import RefusedError as RefusedError
    from patientbandits.live.errors import UnavailableError as UnavailableError
    from patientbandits.live.errors import UnknownError as UnknownError
    from patientbandits.live.experiment import ExperimentHandle as ExperimentHandle
    from patientbandits.live.shop import Shop as Shop
    from patientbandits.live.shop import open as open

__all__, _get, __dir__ = lazy_exports(__name__)


def __getattr__(name: str) -> Any:
    if name in __all__:
        require_packages()
    return _get(name)
