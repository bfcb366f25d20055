"""A disk that can lose power, or fail: an SQLite VFS that writes down every operation, and the
disks a crash could leave.

A crash may come after any operation. What was synchronised is then on the disk. Of the rest each
block of 512 or 4096 bytes
may have been written or not, in any order; so may a truncation and a deletion. Nothing else is
assumed. The shared-memory file
does not survive; it is rebuilt.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import apsw

WRITE, TRUNCATE, SYNC, DELETE = "write", "truncate", "sync", "delete"
PERSISTENT = ("", "-wal", "-journal")
BLOCKS = (512, 4096)


class Operation(NamedTuple):
    kind: str
    suffix: str
    """which file: "" is the database, "-wal" its write-ahead log"""
    offset: int = 0
    """of a write; the length left by a truncation; whether a deletion is synchronised"""
    data: bytes = b""


class Disk(apsw.VFS):
    """Passes everything on to the real disk, after writing it down and asking ``fault`` for an
    error to raise instead."""

    def __init__(
        self,
        name: str,
        path: Path,
        fault: Callable[[int, Operation], Exception | None] | None = None,
    ) -> None:
        self.name, self.path, self.fault = name, str(path), fault
        self.operations: list[Operation] = []
        super().__init__(name, base="")

    def note(self, operation: Operation) -> None:
        error = self.fault(len(self.operations), operation) if self.fault is not None else None
        if error is not None:
            raise error
        self.operations.append(operation)

    def suffix(self, path: str | None) -> str | None:
        """Which of our files it is, if it is one that survives."""
        found = path[len(self.path) :] if path is not None and path.startswith(self.path) else None
        return found if found in PERSISTENT else None

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        return File(self, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        suffix = self.suffix(filename)
        if suffix is not None:
            self.note(Operation(DELETE, suffix, int(syncdir)))
        super().xDelete(filename, syncdir)


class File(apsw.VFSFile):
    def __init__(self, disk: Disk, name: Any, flags: list[int]) -> None:
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        self.disk, self.mine = disk, disk.suffix(path)
        super().__init__("", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        if self.mine is not None:
            self.disk.note(Operation(WRITE, self.mine, offset, bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        if self.mine is not None:
            self.disk.note(Operation(TRUNCATE, self.mine, newsize))
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:  # noqa: N802
        if self.mine is not None:
            self.disk.note(
                Operation(SYNC, self.mine)
            )  # and no more: the real disk need not be waited for


class Image:
    """What is certainly on the disk, and what may be."""

    def __init__(self) -> None:
        self.certain: dict[str, bytearray | None] = {}
        self.pending: list[Operation] = []

    def take(self, operation: Operation) -> None:
        """One more operation came back without an error."""
        if operation.kind == SYNC or (operation.kind == DELETE and operation.offset):
            mine = [other for other in self.pending if other.suffix == operation.suffix]
            if operation.kind == DELETE:
                mine.append(operation)
            for other in mine:
                carry_out(self.certain, other)
            self.pending = [other for other in self.pending if other.suffix != operation.suffix]
        else:
            self.pending.append(operation)

    def crash(self, folder: Path, name: str, chance: random.Random) -> None:
        """Write to ``folder`` one of the disks that a crash now could leave."""
        files = {
            suffix: None if content is None else bytearray(content)
            for suffix, content in self.certain.items()
        }
        block, survival = chance.choice(BLOCKS), chance.choice((0.0, 0.1, 0.5, 0.9, 1.0))
        gone: set[str] = set()
        # files whose deletion got lost: what came later went into another file, without a name
        for operation in self.pending:
            if operation.suffix in gone:
                continue
            if operation.kind == WRITE:
                for piece in pieces(operation, block):
                    if chance.random() < survival:
                        carry_out(files, piece)
            elif chance.random() < survival:
                carry_out(files, operation)
            elif operation.kind == DELETE:
                gone.add(operation.suffix)
        for suffix, content in files.items():
            if content is not None:
                (folder / (name + suffix)).write_bytes(content)


def pieces(write: Operation, block: int) -> Iterator[Operation]:
    """The write, cut at the disk's blocks."""
    begin = write.offset
    while begin < write.offset + len(write.data):
        end = min((begin // block + 1) * block, write.offset + len(write.data))
        yield write._replace(
            offset=begin, data=write.data[begin - write.offset : end - write.offset]
        )
        begin = end


def carry_out(files: dict[str, bytearray | None], operation: Operation) -> None:
    if operation.kind == DELETE:
        files[operation.suffix] = None
        return
    content = files.get(operation.suffix)
    if content is None:
        content = files[operation.suffix] = bytearray()
    if operation.kind == WRITE:
        end = operation.offset + len(operation.data)
        content.extend(bytes(max(0, end - len(content))))
        content[operation.offset : end] = operation.data
    elif operation.kind == TRUNCATE:
        del content[operation.offset :]
        content.extend(bytes(operation.offset - len(content)))


def after(operations: Sequence[Operation]) -> Image:
    """The disk after these operations."""
    image = Image()
    for operation in operations:
        image.take(operation)
    return image
