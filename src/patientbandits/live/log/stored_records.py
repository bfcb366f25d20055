"""The records that a store gives, apart from those of the log."""

from __future__ import annotations

from typing import NamedTuple


class Experiment(NamedTuple):
    """The part of an experiment that never changes."""

    id: int
    name: str
    seed: int
    created: int
    """microseconds since 1970"""


class Snapshot(NamedTuple):
    """What a policy remembered of the log up to line ``seq``."""

    seq: int
    code: str
    """the program whose memory it is"""
    state: bytes


class StoredKey(NamedTuple):
    id: str
    hash: str
    note: str
    scopes: str
    """separated by blanks"""
    created: int
    revoked: int | None
