"""The contract of a store, for reading and for writing; `sqlite` and `postgres` implement it.

A store has one writing connection. Every change is made between `begin` and `commit`, by one
thread at a time; `begin` takes the experiments for this writer alone, so that what is read then is
the end of their logs. Reading for people goes through `reading`, on a connection of its own.
"""

from __future__ import annotations

import contextlib
import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import msgspec

from patientbandits.live.errors import UnavailableError
from patientbandits.live.log import (
    ChangeLine,
    CreditLine,
    Decided,
    DecisionColumns,
    Experiment,
    Line,
    LineRow,
    Snapshot,
    StoredKey,
    chained,
    chained_decisions,
    class_of,
    decided_of,
    decision_columns,
    line_of,
    linked,
    linked_with_names,
    made_between,
    names_are_chained,
    names_are_hashed_in,
    resealed,
    row_of,
)
from patientbandits.live.storage import queries
from patientbandits.live.storage.queries import StoreQuestion

StoreRow = tuple[Any, ...]
LINES_CHECKED_AT_A_TIME = 10_000
LINES_IN_A_RANGE = 20_000
SECRET = "secret"
"""the fact that signs decision ids"""

NAMES_KEPT = "units"
"""the fact that says how names are kept: see `pseudonyms`; none in earlier versions"""

ERAS = "eras"
"""the fact that says when the database was restored, if ever: see `ids`"""

KEPT_FROM = "kept from "
"""with an experiment's id, the fact from which line on a person keeps its first arm; of new ones
there is none: from the first"""

BROKEN = "broken"
"""the fact that says which lines are missing, until somebody accepts it"""

PLACE = "place"
"""the fact that says where the database is: one that was copied or failed over is elsewhere"""

RECHAINED = "rechained "
"""with an experiment's id, the fact that says how often its log was chained anew"""

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
        rows = self.rows(queries.EXPERIMENT_OF_NAME, name)
        return Experiment._make(rows[0]) if rows else None

    def head(self, experiment: int) -> int:
        """Number of the last line."""
        return int(self.one(queries.LAST_SEQ, experiment))

    def time(self, experiment: int, seq: int) -> int:
        """The time when the line was written."""
        return int(self.one(queries.TIME, experiment, seq))

    def chain(self, experiment: int, seq: int) -> bytes:
        """The hash of the log up to this line; empty if it has none."""
        rows = self.rows(queries.CHAIN, experiment, seq)
        return bytes(rows[0][0] or b"") if rows else b""

    def last_time(self, experiment: int) -> int:
        """The time when the last line was written."""
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
        """Tell whether there is a line of this kind, one that names a unit."""
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
        rows = self.asked(self.decided_question(experiment, values))
        return [decided_of(experiment, row) for row in rows]

    def decided_question(self, experiment: int, seqs: Sequence[int]) -> StoreQuestion:
        condition, value = self.among("d.seq", seqs)
        return StoreQuestion(f"{queries.DECIDED}{condition} ORDER BY d.seq", (experiment, value))

    def decided_after(self, experiment: int, after: int, last: int, limit: int) -> list[Decided]:
        """The next ``limit`` decisions of the lines ``after`` to ``last``, oldest first."""
        rows = self.rows(queries.DECIDED_AFTER, experiment, after, last, limit)
        return [decided_of(experiment, row) for row in rows]

    def all_decided(self, experiment: int) -> list[Decided]:
        """Every decision, oldest first."""
        return self.decided_after(experiment, 0, END, 2**31 - 1)

    def converted(self, experiment: int) -> list[Decided]:
        """Every decision that has a conversion by its id, oldest first, with its credits."""
        rows = self.rows(queries.CONVERTED_BY_ID, experiment)
        decided = [decided_of(experiment, row) for row in rows]
        return self.with_credits(experiment, decided)

    def with_credits(self, experiment: int, decided: Sequence[Decided]) -> list[Decided]:
        """The same decisions, with their credits."""
        by_decision: dict[int, list[CreditLine]] = {}
        seqs = [about.decision.seq for about in decided]
        for line in self.lines_about(experiment, CreditLine, seqs):
            by_decision.setdefault(line.decision, []).append(line)
        return [
            about._replace(credits=tuple(by_decision.get(about.decision.seq, ())))
            for about in decided
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
        """(arm, class of age at the time ``now``, how many decisions up to then); none of none."""
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

    def line_ranges(self, experiment: int) -> Iterator[tuple[int, int]]:
        """(after, last) of ranges of lines, so that a long log is never in memory at once."""
        head = self.head(experiment)
        for after in range(0, head, LINES_IN_A_RANGE):
            yield after, min(after + LINES_IN_A_RANGE, head)

    def goal_names(self, experiment: int) -> list[str]:
        """The goals that were reached, without the one that decides."""
        return [goal for (goal,) in self.rows(queries.GOAL_NAMES, experiment)]

    def snapshot(self, experiment: int) -> Snapshot | None:
        rows = self.rows(queries.SNAPSHOT, experiment)
        if not rows:
            return None
        seq, code, state = rows[0]
        return Snapshot(seq=int(seq), code=str(code), state=bytes(state))

    def snapshot_name(self, experiment: int) -> tuple[int, str]:
        """(its last line, the program whose it is), or (0, "")."""
        rows = self.rows(queries.SNAPSHOT_NAME, experiment)
        return (int(rows[0][0]), str(rows[0][1])) if rows else (0, "")

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
        """Tell whether these are as they were written; the first version wrote no seal."""
        return self.fact(SEAL) in (None, self.tables_seal())

    def fact(self, name: str) -> str | None:
        rows = self.rows(queries.FACT, name)
        return str(rows[0][0]) if rows else None

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


class LogStore(Reader):
    """The writing connection. ``location``: the path of a file, or postgresql://..."""

    location: str
    connections: int = 1
    """how often it has connected"""
    appended: dict[int, tuple[int, bytes]]
    """the last line that was appended to each log in this transaction, and its chain"""

    @abstractmethod
    def place(self) -> str | None:
        """Where the database is, if that can be told."""

    @property
    def replaced(self) -> bool:
        """Tell whether another database has taken this one's place."""
        return False

    @abstractmethod
    def begin(self, experiments: Sequence[int] | None, soon: Sequence[StoreQuestion] = ()) -> None:
        """Start a transaction that alone can append to these logs; None: that alone can write.

        ``soon``: what will be asked then, so that a database elsewhere can answer at once.
        """

    answers_ahead = False
    """whether it is of use to say ``soon``"""

    @abstractmethod
    def commit(self) -> None:
        """Make it durable. If this raises, nothing may be acknowledged."""

    def work_beside(self) -> None:
        """Move what the writer need not do itself to a thread; a server does."""

    @abstractmethod
    def rollback(self) -> None:
        """Forget the transaction, if there is one."""

    def mark(self) -> None:
        """Set the point that `back_to_mark` returns to, within a transaction."""
        self.many(queries.MARK, [()])

    def back_to_mark(self) -> None:
        """Forget what was written since."""
        self.many(queries.BACK_TO_MARK, [()])

    @abstractmethod
    def many(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Execute the statement for each row."""

    def append(self, lines: Sequence[Line], before: bytes | None = None) -> bytes:
        """Put the lines at the end of their experiment's log, and return its new chain.

        ``before``: the chain of the line before them, if it is known.
        """
        if not lines:
            return before or b""
        if before is None:
            before = self.chain(lines[0].experiment, lines[0].seq - 1)
        columns = decision_columns(lines)
        if columns is not None:  # mostly
            chains = chained_decisions(columns, before)
            self.insert_decisions(columns, chains)
            chain = chains[-1]
        else:
            rows = chained(map(row_of, lines), before)
            self.insert(rows)
            chain = rows[-1][-1]
        self.appended[lines[0].experiment] = (lines[-1].seq, chain)
        return chain

    def rename(self, lines: Sequence[Line]) -> None:
        """Give lines of one log the names that ``lines`` have now; all else in them is known."""
        rows = list(map(row_of, lines))
        if any(map(names_are_chained, rows)):
            renamed = {line.seq: line for line in lines}
            self.rechain(lines[0].experiment, lambda line: renamed.get(line.seq, line))
            return
        self.many(queries.RENAME, [new_names(row, resealed(row)) for row in rows])

    def rechain(self, experiment: int, renamed: Callable[[Line], Line]) -> None:
        """Chain the whole log anew, with other names; lines without a chain stay so."""
        times = int(self.fact(f"{RECHAINED}{experiment}") or 0)
        self.set_fact(f"{RECHAINED}{experiment}", str(times + 1))
        before: bytes | None = None
        for rows in self.line_rows(experiment):
            changed = []
            for row in rows:
                names = row_of(renamed(line_of(row)))
                row = row._replace(unit=names.unit, key=names.key, settings=names.settings)
                if row.chain is not None or before is not None:
                    before = linked(row, before or b"")
                changed.append(new_names(row, before))
            self.many(queries.RENAME, changed)

    def leave_no_traces(self) -> None:
        """Have what was overwritten go from the files too, as far as that can be done now."""

    @abstractmethod
    def insert(self, lines: Sequence[StoreRow]) -> None:
        """Write the lines as they are."""

    @abstractmethod
    def insert_decisions(self, columns: DecisionColumns, chains: Sequence[bytes]) -> None:
        """Write the lines with these chains."""

    @abstractmethod
    def reading(self) -> contextlib.AbstractContextManager[Reader]:
        """A second connection, for reading a consistent state of everything committed."""

    @abstractmethod
    def recover(self, failure: UnavailableError) -> bool:
        """Tell whether writing can go on after a failure, perhaps on a new connection."""

    @abstractmethod
    def close(self) -> None: ...

    def check(self) -> list[str]:
        """The faults that the database itself finds in its files."""
        return []

    @property
    def shown(self) -> str:
        """The location, fit to be shown: without a password."""
        return self.location

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """begin(None), then commit, or rollback if something goes wrong."""
        self.appended.clear()
        self.begin(None)
        try:
            yield
            self.commit()
        except BaseException:
            self.rollback()
            raise

    def add_experiment(self, experiment: Experiment) -> None:
        self.many(queries.ADD_EXPERIMENT, [experiment])
        self.seal()

    def seal(self) -> None:
        """Seal what is not chained; to be called after each change of it."""
        self.set_fact(SEAL, self.tables_seal())

    def next_experiment(self) -> int:
        return int(self.one(queries.NEXT_EXPERIMENT))

    def save_snapshot(self, experiment: int, snapshot: Snapshot) -> None:
        self.many(queries.SAVE_SNAPSHOT, [(experiment, *snapshot)])

    def set_fact(self, name: str, value: str) -> None:
        self.many(queries.SET_FACT, [(name, value)])

    def remove_fact(self, name: str) -> None:
        self.many(queries.REMOVE_FACT, [(name,)])

    def add_key(self, *, id: str, hash: str, note: str, scopes: str, created: int) -> None:
        self.many(queries.ADD_KEY, [(id, hash, note, scopes, created)])
        self.seal()

    def revoke_key(self, id: str, time: int) -> None:
        self.many(queries.REVOKE_KEY, [(time, id)])
        self.seal()

    def fill(self, table: str, rows: Sequence[StoreRow]) -> None:
        """Insert whole rows, those of another store's table."""
        columns = queries.TABLES[table]
        places = ", ".join("?" * len(columns.split(", ")))
        self.many(f"INSERT INTO {table} ({columns}) VALUES ({places})", rows)


def new_names(row: LineRow, chain: bytes | None) -> StoreRow:
    """Values for `queries.RENAME`."""
    return (row.unit, row.key, row.settings, chain, row.experiment, row.seq)
