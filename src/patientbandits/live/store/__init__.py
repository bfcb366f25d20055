"""Where the log is kept: an SQLite file, or PostgreSQL for several workers and machines."""

from __future__ import annotations

from patientbandits.live.store.log_store import LogStore

__all__ = ["LogStore", "open_store"]

POSTGRES = ("postgresql://", "postgres://")


def in_postgres(location: str) -> bool:
    return location.startswith(POSTGRES)


def open_store(location: str, create: bool = True) -> LogStore:
    """The store at ``location``: the path of an SQLite file, or postgresql://..."""
    if in_postgres(location):
        from patientbandits.live.store.postgres import PostgresStore

        return PostgresStore(location, create)
    from patientbandits.live.store.sqlite import SQLiteStore

    return SQLiteStore(location, create)
