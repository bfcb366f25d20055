"""Where a store is: opening it, and keeping others from it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from patientbandits.errors import InputError
from patientbandits.live.storage.base import LogStore

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows
    fcntl = None  # type: ignore[assignment]

POSTGRES = ("postgresql://", "postgres://")


def in_postgres(location: str) -> bool:
    return location.startswith(POSTGRES)


def open_store(location: str, create: bool = True) -> LogStore:
    """The store at ``location``: the path of an SQLite file, or postgresql://..."""
    if in_postgres(location):
        from patientbandits.live.storage.postgres import PostgresStore

        return PostgresStore(location, create)
    from patientbandits.live.storage.sqlite import SQLiteStore

    return SQLiteStore(location, create)


def private(path: str, flags: int) -> int:
    """Open a file that only its owner may read."""
    return os.open(path, flags, mode=0o600)


@contextlib.contextmanager
def exclusive_lock(location: str, owner: str) -> Iterator[None]:
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
