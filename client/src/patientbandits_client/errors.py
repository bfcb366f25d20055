"""Errors of the service and of the way to it, each with its HTTP status and a name for machines."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING


class InputError(ValueError):
    """Something the user gave breaks a rule; the message is one line and complete."""


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
    """The service could not confirm it. Repeating is safe if the request has an id or a key."""

    status = 503
    kind = "unavailable"


if not TYPE_CHECKING:
    # A program that also has the library must need only one `except`, whether it decides in the
    # process or over HTTP: there the library's own classes take the place of those above, all or
    # none, for another version of it may lack one.
    with suppress(ImportError, AttributeError):
        from patientbandits.live import errors as library

        (
            InputError,
            RefusedError,
            NotFoundError,
            ConflictError,
            MismatchError,
            UnavailableError,
        ) = (
            library.InputError,
            library.RefusedError,
            library.NotFoundError,
            library.ConflictError,
            library.MismatchError,
            library.UnavailableError,
        )


class ServiceUnavailable(UnavailableError):  # noqa: N818 - as the trade calls it
    """The service did not answer in time. The request may have been carried out, or not."""


class NoAccessError(RefusedError):
    """The key is missing, unknown or not allowed to do this."""

    status = 403
    kind = "scope"
