"""Copies of a whole database, made while it is in use: to a file, from a file, or from one kind of store to the other."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path

from patientbandits.errors import InputError
from patientbandits.live.store import Store, open_store
from patientbandits.live.store.sql import COLUMNS, Reader

TABLES = {
    "experiments": "id, name, seed, created",
    "log": COLUMNS,
    "snapshots": "experiment, seq, code, state",
    "keys": "id, hash, note, scopes, created, revoked",
}
CHUNK = 10_000


def backup(source: Store, path: str) -> int:
    """Write all that ``source`` holds at this moment to a new SQLite file; returns the number of lines of the log."""
    if Path(path).exists():
        raise InputError(f"backup: the file must not exist yet; got {path!r}.")
    part = f"{path}.part"
    for leftover in (part, f"{part}-wal", f"{part}-shm"):
        Path(leftover).unlink(missing_ok=True)
    target = open_store(part)
    try:
        with source.reading() as reader:
            lines = copy(reader, target)
    finally:
        target.close()  # folds the write-ahead log into the file
    os.replace(part, path)
    return lines


def restore(path: str, address: str) -> int:
    """Fill an empty database at ``address`` from the file that `backup` wrote; returns the number of lines of the log."""
    source = open_store(path, create=False)
    try:
        target = open_store(address)
        try:
            if target.experiments():
                raise InputError(
                    f"restore: the database must be empty; {target.shown!r} has experiments."
                )
            with source.reading() as reader:
                return copy(reader, target)
        finally:
            target.close()
    finally:
        source.close()


def copy(reader: Reader, target: Store) -> int:
    """All rows of all tables, in one transaction."""
    lines = 0
    with target.transaction():
        secret = reader.fact("secret")
        if secret is not None:
            target.set_fact("secret", secret)
        for table, columns in TABLES.items():
            places = ", ".join("?" * len(columns.split(", ")))
            rows = reader.stream(f"SELECT {columns} FROM {table} ORDER BY 1, 2")
            while chunk := list(islice(rows, CHUNK)):
                target.many(f"INSERT INTO {table} ({columns}) VALUES ({places})", chunk)
                lines += len(chunk) if table == "log" else 0
    return lines
