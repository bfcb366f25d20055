"""Decisions for live traffic: durable, for conversions that come hours or weeks later.

See `patientbandits.live.shop`.

Names are imported when they are first used: the command line's help must not wait for them.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from patientbandits.live.commands import Conversion as Conversion
    from patientbandits.live.commands import Decision as Decision
    from patientbandits.live.commands import Retraction as Retraction
    from patientbandits.live.errors import ConflictError as ConflictError
    from patientbandits.live.errors import DifferentError as DifferentError
    from patientbandits.live.errors import RefusedError as RefusedError
    from patientbandits.live.errors import UnavailableError as UnavailableError
    from patientbandits.live.errors import UnknownError as UnknownError
    from patientbandits.live.experiment import ExperimentHandle as ExperimentHandle
    from patientbandits.live.shop import Shop as Shop
    from patientbandits.live.shop import open as open

EXPORTS = {
    "commands": ("Conversion", "Decision", "Retraction"),
    "errors": (
        "ConflictError",
        "DifferentError",
        "RefusedError",
        "UnavailableError",
        "UnknownError",
    ),
    "experiment": ("ExperimentHandle",),
    "shop": ("Shop", "open"),
}
HOME = {name: module for module, names in EXPORTS.items() for name in names}

__all__ = [
    "ConflictError",
    "Conversion",
    "Decision",
    "DifferentError",
    "ExperimentHandle",
    "RefusedError",
    "Retraction",
    "Shop",
    "UnavailableError",
    "UnknownError",
    "open",
]


def __getattr__(name: str) -> Any:
    if name not in HOME:
        raise AttributeError(f"module 'patientbandits.live' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"patientbandits.live.{HOME[name]}"), name)
    globals()[name] = value
    return value
