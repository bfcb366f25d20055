"""Flip bits of a database's file: what becomes of each."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

from patientbandits.errors import InputError
from patientbandits.live.errors import UnavailableError
from patientbandits.live.operations.checks import check
from patientbandits.live.storage import open_store

TABLES = ("experiments", "log", "keys", "facts")


def content(path: Path) -> list[list[str]] | None:
    """All that counts, or None if it cannot be read."""
    try:
        store = open_store(str(path), create=False)
    except (InputError, UnavailableError):
        return None
    try:
        with store.reading() as reader:
            return [sorted(map(repr, reader.rows(f"SELECT * FROM {name}"))) for name in TABLES]
    except (InputError, UnavailableError):
        return None
    finally:
        store.close()


def found_wrong(path: Path) -> bool:
    try:
        store = open_store(str(path), create=False)
    except (InputError, UnavailableError):
        return True
    try:
        return bool(check(store)["wrong"])
    except (InputError, UnavailableError):
        return True
    finally:
        store.close()


def flips(source: Path, folder: Path, number: int, seed: int = 1) -> Counter[str]:
    """Of ``number`` flipped bits: harmless, found, or missed."""
    whole = source.read_bytes()
    before = content(source)
    chance = random.Random(seed)
    fates: Counter[str] = Counter()
    there = folder / "flipped.db"
    for _ in range(number):
        bit = chance.randrange(8 * len(whole))
        changed = bytearray(whole)
        changed[bit // 8] ^= 1 << bit % 8
        for leftover in folder.glob("flipped.db*"):
            leftover.unlink()
        there.write_bytes(changed)
        if found_wrong(there):
            fates["found"] += 1
            continue
        there.write_bytes(changed)
        fates["harmless" if content(there) == before else f"missed at byte {bit // 8}"] += 1
    return fates
