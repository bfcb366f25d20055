"""Where the log is kept: SQLite in a file, or PostgreSQL for several workers on several machines."""

from __future__ import annotations

from patientbandits.live.store.sql import Store

__all__ = ["Store", "open_store"]


def open_store(address: str, create: bool = True) -> Store:
    """The store at ``address``: the path of an SQLite file, or postgresql://..."""
    if address.startswith(("postgresql://", "postgres://")):
        from patientbandits.live.store.postgres import PostgresStore

        return PostgresStore(address, create)
    from patientbandits.live.store.sqlite import SQLiteStore

    return SQLiteStore(address, create)
