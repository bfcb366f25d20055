"""apsw, with its errors in our words, which version it must be, and how long to wait for others."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

from patientbandits.errors import InputError
from patientbandits.live.errors import UnavailableError

try:
    import apsw as apsw
except ImportError as error:  # pragma: no cover
    raise InputError("live: this needs more packages; install patientbandits[live].") from error

OLDEST = (3, 51, 3)
"""Earlier ones can lose a write-ahead log that is reset while another connection writes.

sqlite.org/wal.html calls it the WAL-reset bug.
"""

BUSY_SECONDS = 10.0
ASK_AGAIN = 0.002


class Patience:
    """Waits for another writer.

    A busy one leaves gaps of a fraction of a millisecond only, which SQLite's own way of waiting,
    up to 100 ms at a time, may miss for long.
    """

    def __init__(self) -> None:
        self._end = 0.0

    def __call__(self, before: int) -> bool:
        """Whether to try again; ``before``: how often it was asked for this lock."""
        if before == 0:
            self._end = time.monotonic() + BUSY_SECONDS
        time.sleep(ASK_AGAIN)
        return time.monotonic() < self._end


@contextlib.contextmanager
def sqlite_errors() -> Iterator[None]:
    """SQLite's errors in our words: the caller must not take them for success."""
    try:
        yield
    except apsw.NotADBError as error:
        raise InputError("live: the file is not an SQLite database.") from error
    except UnicodeDecodeError as error:
        raise InputError("live: the database is damaged: it holds text that is none.") from error
    except apsw.ReadOnlyError as error:
        raise InputError("live: the database cannot be written: it is read-only.") from error
    except apsw.Error as error:
        raise UnavailableError(f"the database failed: {type(error).__name__}: {error}") from error


def check_version(found: str) -> None:
    version = tuple(int(part) for part in found.split("."))
    if version < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise InputError(f"live: SQLite must be at least {oldest}; got {found}.")
