"""Snapshots with a seal: a damaged one is never taken for what a policy remembers.

What is sealed is the experiment, the line, the program and the memory. A snapshot without a seal,
of an earlier version, is not used: it is made anew from the log.
"""

from __future__ import annotations

import hashlib

from patientbandits.live.log import Snapshot

SNAPSHOT_MARK = b"pb-snapshot-1"
SEAL_BYTES = 32


def _seal(experiment: int, seq: int, code: str, memory: bytes) -> bytes:
    hashed = hashlib.blake2b(digest_size=SEAL_BYTES)
    hashed.update(f"{experiment} {seq} {code} {len(memory)}\n".encode())
    hashed.update(memory)
    return hashed.digest()


def sealed(experiment: int, seq: int, code: str, memory: bytes) -> Snapshot:
    state = SNAPSHOT_MARK + _seal(experiment, seq, code, memory) + memory
    return Snapshot(seq=seq, code=code, state=state)


def is_sealed(snapshot: Snapshot) -> bool:
    """Whether it was written with a seal, good or broken."""
    return snapshot.state.startswith(SNAPSHOT_MARK)


def opened(experiment: int, snapshot: Snapshot) -> bytes | None:
    """The memory, if the seal is good."""
    if not is_sealed(snapshot):
        return None
    begin = len(SNAPSHOT_MARK) + SEAL_BYTES
    memory = snapshot.state[begin:]
    good = _seal(experiment, snapshot.seq, snapshot.code, memory)
    return memory if snapshot.state[len(SNAPSHOT_MARK) : begin] == good else None
