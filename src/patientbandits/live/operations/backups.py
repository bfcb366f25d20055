"""Backups of a whole database, taken while it is in use, and restored into either kind of store."""

from __future__ import annotations

import os
from contextlib import closing
from itertools import islice
from pathlib import Path

from patientbandits.errors import InputError
from patientbandits.live.storage import (
    CLEAR,
    ERAS,
    FACTS_LIKE,
    KEPT_FROM,
    NAMES_KEPT,
    SECRET,
    TABLES,
    LogStore,
    Reader,
    begin_era,
    exclusive_lock,
    open_store,
)

ROWS_COPIED_AT_A_TIME = 10_000


def backup(source: LogStore, path: str) -> int:
    """Write the contents of ``source`` as of now to a new SQLite file.

    Returns the number of lines of the log.
    """
    if Path(path).exists():
        raise InputError(f"backup: the file must not exist yet; got {path!r}.")
    # Written beside it and renamed: a file of this name is always a whole backup.
    part = f"{path}.part"
    for leftover in (part, f"{part}-wal", f"{part}-shm"):
        Path(leftover).unlink(missing_ok=True)
    target = open_store(part)
    try:
        with source.reading() as reader:
            lines = copy_tables(reader, target)
    finally:
        target.close()  # folds the write-ahead log into the file
    os.replace(part, path)
    return lines


def restore(path: str, location: str) -> int:
    """Fill an empty database at ``location`` from the file that `backup` wrote.

    Returns the number of lines of the log.
    """
    with (
        closing(open_store(path, create=False)) as source,
        exclusive_lock(location, "restore"),
        closing(open_store(location)) as target,
        source.reading() as reader,
    ):
        if target.experiments():
            raise InputError(
                f"restore: the database must be empty; {target.shown!r} has experiments."
            )
        return copy_tables(reader, target, restoring=True)


def accept_loss(location: str) -> dict[str, int]:
    """Begin a new era in a database that lost lines, so that it is written to again: the last line
    of each experiment."""
    with closing(open_store(location, create=False)) as store, store.transaction():
        begin_era(store, announced=True)
        return {one.name: store.head(one.id) for one in store.experiments()}


def copy_tables(reader: Reader, target: LogStore, restoring: bool = False) -> int:
    """All rows of all tables, in one transaction; returns the number of lines of the log."""
    copied = dict.fromkeys(TABLES, 0)
    with target.transaction():
        secret = reader.fact(SECRET)
        if secret is not None:
            target.set_fact(SECRET, secret)
        target.set_fact(NAMES_KEPT, reader.fact(NAMES_KEPT) or CLEAR)
        eras = reader.fact(ERAS)
        if eras is not None:
            target.set_fact(ERAS, eras)
        for name, value in reader.rows(FACTS_LIKE, f"{KEPT_FROM}%"):
            target.set_fact(name, value)
        for table in TABLES:
            rows = reader.table(table)
            while chunk := list(islice(rows, ROWS_COPIED_AT_A_TIME)):
                target.fill(table, chunk)
                copied[table] += len(chunk)
        if restoring:
            begin_era(target, announced=True)
        target.seal()
    return copied["log"]
