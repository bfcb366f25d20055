"""One server to an SQLite file: a lock that lasts as long as the process that holds it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from patientbandits.errors import InputError
from patientbandits.live.storage import in_postgres

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows
    fcntl = None  # type: ignore[assignment]


def private(path: str, flags: int) -> int:
    """For its owner alone."""
    return os.open(path, flags, mode=0o600)


@contextlib.contextmanager
def alone_with(location: str, owner: str) -> Iterator[None]:
    """Keep other servers, and `restore`, from this file; PostgreSQL serves many."""
    if fcntl is None or in_postgres(location):
        yield
        return
    try:
        file = open(f"{location}.lock", "a", opener=private)  # noqa: SIM115 - closed below
    except FileNotFoundError:
        raise InputError(
            f"{owner}: the database {location!r} cannot be opened; is the folder there?"
        ) from None
    except OSError as error:
        raise InputError(f"{owner}: {location!r} cannot be written: {error.strerror}.") from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(
                f"{owner}: another process serves {location!r}; SQLite has one writer."
            ) from None
        yield
