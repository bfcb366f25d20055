"""What a journal has seen of each log, so that it notices when the database goes back in time.

After a failover to a replica that lost its end, or with an older copy in a file's place, lines are
gone that were acknowledged. To go on would reuse their numbers: policies would remember decisions
that the log does not have, and ids of lost decisions would name others. So each batch compares the
hash of the last line that was seen with what the database has in its place.
"""

from __future__ import annotations

from typing import NamedTuple

from patientbandits.live.errors import UnavailableError
from patientbandits.live.log import CHAIN_BYTES
from patientbandits.live.storage import CHAIN, RECHAINED, Reader, StoreQuestion

ADVICE = (
    "nothing is written until somebody has looked: bring the lines back, or begin a new era with "
    "`patientbandits new-era`, which accepts their loss"
)


class HistoryError(UnavailableError):
    """It is not the store that failed: the log is not the one that was seen."""


class LostLinesError(HistoryError):
    """The database lacks lines that it had."""


class SeenEnd(NamedTuple):
    """A line that was the last of its log when it was seen."""

    seq: int
    hash: bytes
    rechained: str | None
    """how often the whole log had been chained anew, if ever"""


class SeenEnds:
    def __init__(self) -> None:
        self._ends: dict[int, SeenEnd] = {}

    @property
    def experiments(self) -> list[int]:
        return list(self._ends)

    def clear(self) -> None:
        self._ends.clear()

    def question(self, experiment: int) -> StoreQuestion | None:
        """The question that `require` will ask about a log."""
        end = self._ends.get(experiment)
        return None if end is None else StoreQuestion(CHAIN, (experiment, end.seq))

    def note(self, reader: Reader, experiment: int, seq: int, chain: bytes) -> None:
        """Take note of a log's end, which is durable."""
        before = self._ends.get(experiment)
        if before is None:
            rechained = reader.fact(f"{RECHAINED}{experiment}")
        else:
            rechained = before.rechained
        self._ends[experiment] = SeenEnd(seq, chain[:CHAIN_BYTES], rechained)

    def require(self, reader: Reader, experiment: int) -> bool:
        """Refuse a log without the line that was seen last; False: it was chained anew since."""
        end = self._ends.get(experiment)
        if end is None:
            return True
        rows = reader.asked(StoreQuestion(CHAIN, (experiment, end.seq)))
        if rows and bytes(rows[0][0] or b"")[:CHAIN_BYTES] == end.hash:
            return True
        if rows and reader.fact(f"{RECHAINED}{experiment}") != end.rechained:
            del self._ends[experiment]
            return False
        head = reader.head(experiment)
        raise LostLinesError(
            f"the database went back in time: line {end.seq} of experiment {experiment} was there, "
            f"and is not the same any more; its log has {head} lines; {ADVICE}"
        )
