"""What can go wrong, each with its HTTP status and a short name that machines can rely on."""

from __future__ import annotations

from patientbandits.errors import InputError


class RefusedError(InputError):
    """The request breaks a rule; nothing was written."""

    status = 422
    kind = "invalid"


class UnknownError(RefusedError):
    """There is no such experiment, decision or key."""

    status = 404
    kind = "unknown"


class ConflictError(RefusedError):
    """It does not fit what is there: another experiment of this name, a paused experiment."""

    status = 409
    kind = "conflict"


class DifferentError(RefusedError):
    """The same id or key came with another content before; the first stays."""

    kind = "different"


class UnavailableError(Exception):
    """The store did not confirm: nothing was acknowledged.

    Repeating the request is safe if it carries an id or a key.
    """

    status = 503
    kind = "unavailable"
