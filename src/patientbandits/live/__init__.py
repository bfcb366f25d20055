"""Decisions for live traffic: durable, for conversions that come hours or weeks later.

See `patientbandits.live.shop`. Names are imported when they are first used.
"""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from patientbandits._util.exports import lazy_exports
from patientbandits.errors import InputError
from patientbandits.live import errors

if TYPE_CHECKING:
    from patientbandits.live.commands import Conversion as Conversion
    from patientbandits.live.commands import Credited as Credited
    from patientbandits.live.commands import Decision as Decision
    from patientbandits.live.commands import Joined as Joined
    from patientbandits.live.commands import Retraction as Retraction
    from patientbandits.live.errors import ConflictError as ConflictError
    from patientbandits.live.errors import MismatchError as MismatchError
    from patientbandits.live.errors import NotFoundError as NotFoundError
    from patientbandits.live.errors import RefusedError as RefusedError
    from patientbandits.live.errors import UnavailableError as UnavailableError
    from patientbandits.live.experiment import ExperimentHandle as ExperimentHandle
    from patientbandits.live.shop import Shop as Shop
    from patientbandits.live.shop import open as open

__all__, _get, __dir__ = lazy_exports(__name__)

ALWAYS_NEEDED = ("msgspec", "apsw")
FOR_SERVING = ("httptools", "prometheus_client")


def require_packages(*names: str) -> None:
    """Refuse to go on without the packages ``names``, and those that are always needed."""
    missing = [name for name in (*ALWAYS_NEEDED, *names) if find_spec(name) is None]
    if missing:
        raise InputError(
            f"live: this needs {', '.join(missing)}; pip install 'patientbandits[live]'."
        )


def __getattr__(name: str) -> Any:
    if name in errors.RENAMED:
        return getattr(errors, name)
    if name in __all__:
        require_packages()
    return _get(name)
