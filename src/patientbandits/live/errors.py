"""Errors, each with its HTTP status and a short name that machines can rely on; and the logger."""

from __future__ import annotations

import logging
import warnings

from patientbandits.errors import InputError

LOGGER = logging.getLogger("patientbandits.live")
"""writes nowhere, unless the program sets up logging"""

LOGGER.addHandler(logging.NullHandler())


class RefusedError(InputError):
    """The request breaks a rule; nothing was written."""

    status = 422
    kind = "invalid"


class NotFoundError(RefusedError):
    """There is no such experiment, decision or key."""

    status = 404
    kind = "unknown"


class ConflictError(RefusedError):
    """The request contradicts what exists: another experiment of this name, a paused one."""

    status = 409
    kind = "conflict"


class MismatchError(RefusedError):
    """The same id or key was sent before with other content; the first stays."""

    kind = "different"


class UnavailableError(Exception):
    """The database did not confirm: nothing was acknowledged.

    Repeating the request is safe if it carries an id or a key.
    """

    status = 503
    kind = "unavailable"


RENAMED = {"UnknownError": "NotFoundError", "DifferentError": "MismatchError"}
"""old names, for one more version"""


def __getattr__(name: str) -> type[RefusedError]:
    if name not in RENAMED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warnings.warn(f"{name} is now {RENAMED[name]}", DeprecationWarning, stacklevel=2)
    renamed: type[RefusedError] = globals()[RENAMED[name]]
    return renamed
