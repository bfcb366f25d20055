"""Files: written whole or not at all, with checksums, as CSV and as JSON."""

from __future__ import annotations

import csv
import hashlib
import io
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

TEMPORARY = ".*.tmp"
"""Names of files that are being written."""

CHECKSUM_LENGTH = 64
"""Characters of a `checksum`."""


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file so that a reader, or a crash, finds the old content or the new, never a part."""
    target = Path(path)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def checksum(content: bytes) -> bytes:
    """SHA-256 in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest().encode()


def write_csv(
    path: str | os.PathLike[str], heading: Sequence[str], rows: Iterable[Sequence[object]]
) -> None:
    """A table as a file; it appears complete or not at all. Numbers have six digits."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(heading)
    for row in rows:
        writer.writerow([_six_digits(cell) for cell in row])
    write_atomically(path, buffer.getvalue().encode())


def _six_digits(cell: object) -> object:
    if isinstance(cell, float):
        return f"{cell:.6g}"
    return cell


def json_default(value: Any) -> Any:
    """NumPy's numbers as Python's: the ``default`` of `json.dumps`."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} has no place in a file")
