"""What can be asked of a store, and the records it gives; `queries` has the SQL."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

import msgspec

from patientbandits.live.log import (
    ChangeLine,
    CreditLine,
    Decided,
    Experiment,
    Line,
    LineRow,
    Snapshot,
    StoredKey,
    class_of,
    decided_of,
    line_of,
    linked,
    linked_with_names,
    made_between,
    names_are_hashed_in,
)
from patientbandits.live.storage import queries
from patientbandits.live.storage.queries import StoreQuestion

StoreRow = tuple[Any, ...]
LINES_CHECKED_AT_A_TIME = 10_000
LINES_IN_A_STRETCH = 20_000
SECRET = "secret"
"""the fact that signs decision ids"""

NAMES_KEPT = "units"
"""the fact that says how names are kept: see `pseudonyms`; none in earlier versions"""

ERAS = "eras"
"""the fact that says when the database was restored, if ever: see `ids`"""

SEAL = "seal"
END = 2**62
"""a line that no log reaches"""


L = TypeVar("L", bound=Line)


class Reader(ABC):
    """A connection, and what can be asked of it."""

    @abstractmethod
    def rows(self, statement: str, *values: Any) -> list[StoreRow]:
        """The statement's rows; ``?`` stands for a value."""

    @abstractmethod
    def stream(self, statement: str, *values: Any) -> Iterator[StoreRow]:
        """The statement's rows, one by one."""

    @abstractmethod
    def among(self, column: str, values: Sequence[Any]) -> tuple[str, Any]:
        """``column`` is one of ``values``, as a condition with one ``?``, and the value for it."""

    def asked(self, question: StoreQuestion) -> list[StoreRow]:
        """The question's rows."""
        return self.rows(question.statement, *question.values)

    def one(self, statement: str, *values: Any) -> Any:
        """The single value that the statement gives."""
        return self.rows(statement, *values)[0][0]

    def answers(self) -> None:
        """Raise unless the database answers."""
        self.rows("SELECT 1")

    def experiments(self) -> list[Experiment]:
        return [Experiment._make(row) for row in self.rows(queries.ALL_EXPERIMENTS)]

    def experiment(self, name: str) -> Experiment | None:
        found = self.rows(queries.EXPERIMENT_OF_NAME, name)
        return Experiment._make(found[0]) if found else None

    def head(self, experiment: int) -> int:
        """Number of the last line."""
        return int(self.one(queries.LAST_SEQ, experiment))

    def time(self, experiment: int, seq: int) -> int:
        """When the line was written."""
        return int(self.one(queries.TIME, experiment, seq))

    def chain(self, experiment: int, seq: int) -> bytes:
        """The hash of the log up to this line; empty if it has none."""
        found = self.rows(queries.CHAIN, experiment, seq)
        return bytes(found[0][0] or b"") if found else b""

    def last_time(self, experiment: int) -> int:
        """When the last line was written."""
        return self.time(experiment, self.head(experiment))

    def lines(
        self, experiment: int, after: int, last: int = END, limit: int = 2**31 - 1
    ) -> list[Line]:
        """The log from ``after`` (exclusive) to ``last`` (inclusive)."""
        return list(map(line_of, self.rows(queries.LINES, experiment, after, last, limit)))

    def line_rows(self, experiment: int) -> Iterator[list[LineRow]]:
        """All of the log as the table has it, in pieces."""
        seq = 0
        while rows := self.rows(queries.LINES, experiment, seq, END, LINES_CHECKED_AT_A_TIME):
            yield list(map(LineRow._make, rows))
            seq = rows[-1][1]

    def broken_chain(self, experiment: int) -> int | None:
        """The first line that is not as it was written, if there is one."""
        before: bytes | None = None
        for rows in self.line_rows(experiment):
            for row in rows:
                if row.chain is None and before is None:
                    continue  # of the first version
                link = linked_with_names if names_are_hashed_in(row) else linked
                before = link(row, before or b"")
                if row.chain != before:
                    return row.seq
        return None

    def changes(self, experiment: int) -> list[ChangeLine]:
        return lines_of_kind(ChangeLine, self.rows(queries.CHANGES, experiment))

    def last_retraction(self, experiment: int) -> int:
        """Its line, or 0."""
        return int(self.one(queries.LAST_RETRACTION, experiment))

    def last_superseding(self, experiment: int) -> int:
        """The last credit of a decision that had one before: its line, or 0."""
        return int(self.one(queries.LAST_SUPERSEDING, experiment))

    def has_any(self, experiment: int, kind: str) -> bool:
        """Whether there is a line of this kind, one that names a unit."""
        return bool(self.rows(queries.ANY_WITH_UNIT, experiment, kind))

    def decided(self, experiment: int, column: str, values: Sequence[Any]) -> list[Decided]:
        """The decisions whose ``column`` (seq, key or unit) is among ``values``, oldest first.

        Without their credits: see `with_credits`.
        """
        if not values:
            return []
        if column != "seq":
            values = self.lines_of(experiment, "decision", column, values)
            return self.decided(experiment, "seq", values)
        found = self.asked(self.decided_question(experiment, values))
        return [decided_of(experiment, row) for row in found]

    def decided_question(self, experiment: int, seqs: Sequence[int]) -> StoreQuestion:
        condition, value = self.among("d.seq", seqs)
        return StoreQuestion(f"{queries.DECIDED}{condition} ORDER BY d.seq", (experiment, value))

    def decided_after(self, experiment: int, after: int, last: int, limit: int) -> list[Decided]:
        """The next ``limit`` decisions of the lines ``after`` to ``last``, oldest first."""
        found = self.rows(queries.DECIDED_AFTER, experiment, after, last, limit)
        return [decided_of(experiment, row) for row in found]

    def all_decided(self, experiment: int) -> list[Decided]:
        """Every decision, oldest first."""
        return self.decided_after(experiment, 0, END, 2**31 - 1)

    def converted(self, experiment: int) -> list[Decided]:
        """Every decision that has a conversion by its id, oldest first, with its credits."""
        rows = self.rows(queries.CONVERTED_BY_ID, experiment)
        found = [decided_of(experiment, row) for row in rows]
        return self.with_credits(experiment, found)

    def with_credits(self, experiment: int, found: Sequence[Decided]) -> list[Decided]:
        """The same decisions, with their credits."""
        by_decision: dict[int, list[CreditLine]] = {}
        seqs = [about.decision.seq for about in found]
        for line in self.lines_about(experiment, CreditLine, seqs):
            by_decision.setdefault(line.decision, []).append(line)
        return [
            about._replace(credits=tuple(by_decision.get(about.decision.seq, ())))
            for about in found
        ]

    def lines_of(self, experiment: int, kind: str, column: str, values: Sequence[str]) -> list[int]:
        """Numbers of the lines of a kind whose ``column`` (key or unit) is among ``values``.

        From its index; mostly there are none.
        """
        question = self.lines_question(experiment, kind, column, values)
        return [seq for (seq,) in self.asked(question)]

    def lines_question(
        self, experiment: int, kind: str, column: str, values: Sequence[str]
    ) -> StoreQuestion:
        condition, value = self.among(column, values)
        statement = (
            f"SELECT seq FROM log WHERE experiment = ? AND {condition} AND {column} IS NOT NULL "
            f"AND kind = '{kind}'"
        )
        return StoreQuestion(statement, (experiment, value))

    def named_lines(
        self, experiment: int, kind: type[L], column: str, values: Sequence[str]
    ) -> list[L]:
        """The lines of a kind whose ``column`` (key or unit) is among ``values``, oldest first."""
        if not values:
            return []
        seqs = self.lines_of(experiment, kind.kind, column, values)
        if not seqs:
            return []
        condition, value = self.among("seq", seqs)
        rows = self.rows(f"{queries.LINES_AT}{condition} ORDER BY seq", experiment, value)
        return lines_of_kind(kind, rows)

    def lines_about(self, experiment: int, kind: type[L], seqs: Sequence[int]) -> list[L]:
        """The lines of a kind about the lines ``seqs``, oldest first."""
        if not seqs:
            return []
        condition, value = self.among("about", list(seqs))
        statement = f"{queries.LINES_ABOUT}{condition} ORDER BY seq"
        return lines_of_kind(kind, self.rows(statement, experiment, kind.kind, value))

    def lines_with_unit(self, experiment: int, kind: type[L]) -> list[L]:
        """All lines of this kind that name a unit, oldest first."""
        rows = self.rows(queries.LINES_WITH_UNIT, experiment, kind.kind)
        return lines_of_kind(kind, rows)

    def decisions_by_age(
        self, experiment: int, arms: int, now: int
    ) -> Iterator[tuple[int, int, int]]:
        """(arm, class of age at the time ``now``, how many decisions); none of none."""
        for arm in range(arms):
            oldest, newest = self.rows(queries.SPAN_OF_DECISIONS, experiment, arm, experiment, arm)[
                0
            ]
            if oldest is None:
                continue
            for place in range(class_of(now - newest), class_of(now - oldest) + 1):
                between = made_between(place, now)
                count = int(self.one(queries.DECISIONS_BETWEEN, experiment, arm, *between))
                if count:
                    yield arm, place, count

    def stretches(self, experiment: int) -> Iterator[tuple[int, int]]:
        """(after, last) of lines, one stretch after the other: all of them take no room at once."""
        head = self.head(experiment)
        for after in range(0, head, LINES_IN_A_STRETCH):
            yield after, min(after + LINES_IN_A_STRETCH, head)

    def goal_names(self, experiment: int) -> list[str]:
        """Those that were reached, without the one that decides."""
        return [goal for (goal,) in self.rows(queries.GOAL_NAMES, experiment)]

    def snapshot(self, experiment: int) -> Snapshot | None:
        found = self.rows(queries.SNAPSHOT, experiment)
        if not found:
            return None
        seq, code, state = found[0]
        return Snapshot(seq=int(seq), code=str(code), state=bytes(state))

    def snapshot_name(self, experiment: int) -> tuple[int, str]:
        """(its last line, the program whose it is), or (0, "")."""
        found = self.rows(queries.SNAPSHOT_NAME, experiment)
        return (int(found[0][0]), str(found[0][1])) if found else (0, "")

    def tables_seal(self) -> str:
        """A hash of what is small and not chained: experiments, keys, secret, how names are kept,
        eras."""
        parts = [self.experiments(), self.keys(), self.fact(SECRET)]
        for name in (NAMES_KEPT, ERAS):
            later = self.fact(name)
            if later is not None:
                parts.append(later)
        return hashlib.blake2b(msgspec.json.encode(parts), digest_size=16).hexdigest()

    def seal_is_good(self) -> bool:
        """Whether these are as they were written; the first version wrote no seal."""
        return self.fact(SEAL) in (None, self.tables_seal())

    def fact(self, name: str) -> str | None:
        found = self.rows(queries.FACT, name)
        return str(found[0][0]) if found else None

    def keys(self) -> list[StoredKey]:
        return [StoredKey._make(row) for row in self.rows(queries.KEYS)]

    def table(self, table: str) -> Iterator[StoreRow]:
        """All of its rows, for a copy."""
        return self.stream(f"SELECT {queries.TABLES[table]} FROM {table} ORDER BY 1, 2")

    def lines_by_kind(self, experiment: int) -> dict[str, int]:
        return dict(self.rows(queries.BY_KIND, experiment))

    def broken_rules(self, experiment: int) -> list[str]:
        """The rules that the log breaks."""
        return [rule for rule, count in queries.RULES.items() if self.one(count, experiment)]


def lines_of_kind(kind: type[L], rows: Iterable[StoreRow]) -> list[L]:
    """The rows' records, which a query has picked by their kind."""
    return [line for line in map(line_of, rows) if isinstance(line, kind)]
