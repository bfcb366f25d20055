"""What a store does, in SQL that both databases speak; the files beside this one say how to reach them.

A store has one writing connection. Every change is made between `begin` and `commit`, by one thread at a time; `begin`
takes the experiments for this writer alone, so that what is read then is the end of their logs. Reading for people goes
through `reading`, on a connection of its own.
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from patientbandits.live.refusals import UnavailableError

Rows = list[tuple[Any, ...]]


class Experiment(NamedTuple):
    """The part of an experiment that never changes."""

    id: int
    name: str
    seed: int
    created: int
    """microseconds since 1970"""


class Entry(NamedTuple):
    """A line of the log, to be appended."""

    experiment: int
    seq: int
    kind: str
    time: int
    arm: int | None = None
    propensity: float | None = None
    unit: str | None = None
    key: str | None = None
    decision: int | None = None
    value: int | None = None
    happened: int | None = None
    stated: int | None = None
    """conversions: when it happened as the client said, if it did; ``happened`` is what was made of it"""
    settings: str | None = None


class Decided(NamedTuple):
    """A decision that was made, with what became of it."""

    seq: int
    arm: int
    time: int
    propensity: float | None
    unit: str | None
    key: str | None
    value: int | None
    happened: int | None
    stated: int | None
    retracted: int | None


class Line(NamedTuple):
    """A line of the log as a fold needs it, with the decision it refers to."""

    seq: int
    kind: str
    time: int
    arm: int | None
    decision: int | None
    value: int | None
    happened: int | None
    decided: int | None
    """time of the decision"""
    settings: str | None
    undone: int | None
    """seq of the retraction, if the conversion was retracted"""


COLUMNS = ", ".join(Entry._fields)

LINES = """SELECT l.seq, l.kind, l.time, COALESCE(l.arm, d.arm), l.decision, COALESCE(l.value, c.value), COALESCE(l.happened, c.happened),
        d.time, l.settings, r.seq
    FROM log l LEFT JOIN log d ON d.experiment = l.experiment AND d.seq = l.decision
        LEFT JOIN log c ON c.experiment = l.experiment AND c.decision = l.decision AND c.kind = 'conversion' AND l.kind = 'retraction'
        LEFT JOIN log r ON r.experiment = l.experiment AND r.decision = l.decision AND r.kind = 'retraction' AND l.kind = 'conversion'
    WHERE l.experiment = ? AND l.seq > ? AND l.seq <= ? ORDER BY l.seq LIMIT ?"""

DECIDED = """SELECT d.seq, d.arm, d.time, d.propensity, d.unit, d.key, c.value, c.happened, c.stated, r.seq
    FROM log d LEFT JOIN log c ON c.experiment = d.experiment AND c.decision = d.seq AND c.kind = 'conversion'
        LEFT JOIN log r ON r.experiment = d.experiment AND r.decision = d.seq AND r.kind = 'retraction'
    WHERE d.experiment = ? AND d.kind = 'decision' AND """


class Reader(ABC):
    """A connection, and what can be asked of it."""

    @abstractmethod
    def rows(self, statement: str, *values: Any) -> Rows:
        """The statement's rows; ``?`` stands for a value."""

    @abstractmethod
    def stream(self, statement: str, *values: Any) -> Iterator[tuple[Any, ...]]:
        """The statement's rows, one by one."""

    @abstractmethod
    def among(self, column: str, values: Sequence[Any]) -> tuple[str, Any]:
        """``column`` is one of ``values``, as a condition with one ``?``, and the value for it."""

    def experiments(self) -> list[Experiment]:
        return [
            Experiment(*row)
            for row in self.rows("SELECT id, name, seed, created FROM experiments ORDER BY name")
        ]

    def experiment(self, name: str) -> Experiment | None:
        found = self.rows("SELECT id, name, seed, created FROM experiments WHERE name = ?", name)
        return Experiment(*found[0]) if found else None

    def head(self, experiment: int) -> int:
        """Number of the last line."""
        return int(
            self.rows("SELECT COALESCE(MAX(seq), 0) FROM log WHERE experiment = ?", experiment)[0][
                0
            ]
        )

    def time(self, experiment: int, seq: int) -> int:
        """When the line was written."""
        return int(
            self.rows("SELECT time FROM log WHERE experiment = ? AND seq = ?", experiment, seq)[0][
                0
            ]
        )

    def lines(
        self, experiment: int, after: int, last: int = 2**62, limit: int = 2**31 - 1
    ) -> list[Line]:
        """The log from ``after`` (exclusive) to ``last`` (inclusive)."""
        return [Line(*row) for row in self.rows(LINES, experiment, after, last, limit)]

    def changes(self, experiment: int) -> list[tuple[int, int, str]]:
        """(seq, time, settings) of every change."""
        return self.rows(
            "SELECT seq, time, settings FROM log WHERE experiment = ? AND settings IS NOT NULL ORDER BY seq",
            experiment,
        )

    def last_retraction(self, experiment: int) -> int:
        statement = "SELECT COALESCE(MAX(seq), 0) FROM log WHERE experiment = ? AND decision IS NOT NULL AND kind = 'retraction'"
        return int(self.rows(statement, experiment)[0][0])

    def decided(self, experiment: int, column: str, values: Sequence[Any]) -> list[Decided]:
        """The decisions whose ``column`` (seq, key or unit) is among ``values``, oldest first."""
        if not values:
            return []
        if column != "seq":
            values = self.lines_of(experiment, column, values)
            return self.decided(experiment, "seq", values)
        condition, value = self.among("d.seq", values)
        return [
            Decided(*row)
            for row in self.rows(f"{DECIDED}{condition} ORDER BY d.seq", experiment, value)
        ]

    def lines_of(self, experiment: int, column: str, values: Sequence[str]) -> list[int]:
        """Numbers of the decisions whose ``column`` (key or unit) is among ``values``, from its index; mostly there are none."""
        condition, value = self.among(column, values)
        statement = (
            f"SELECT seq FROM log WHERE experiment = ? AND {condition} AND {column} IS NOT NULL"
        )
        return [seq for (seq,) in self.rows(statement, experiment, value)]

    def snapshot(self, experiment: int) -> tuple[int, str, bytes] | None:
        found = self.rows("SELECT seq, code, state FROM snapshots WHERE experiment = ?", experiment)
        return (int(found[0][0]), str(found[0][1]), bytes(found[0][2])) if found else None

    def snapshot_name(self, experiment: int) -> tuple[int, str]:
        """(its last line, the program whose it is), or (0, "")."""
        found = self.rows("SELECT seq, code FROM snapshots WHERE experiment = ?", experiment)
        return (int(found[0][0]), str(found[0][1])) if found else (0, "")

    def fact(self, name: str) -> str | None:
        found = self.rows("SELECT value FROM facts WHERE name = ?", name)
        return str(found[0][0]) if found else None

    def keys(self) -> Rows:
        return self.rows(
            "SELECT id, hash, note, scopes, created, revoked FROM keys ORDER BY created, id"
        )


class Store(Reader):
    """The writing connection."""

    address: str

    @abstractmethod
    def begin(self, experiments: Sequence[int] | None) -> None:
        """Start a transaction that alone can append to these experiments' logs; None: to all and everything."""

    @abstractmethod
    def commit(self) -> None:
        """Make it durable. If this raises, nothing may be acknowledged."""

    @abstractmethod
    def rollback(self) -> None:
        """Forget the transaction, if there is one."""

    @abstractmethod
    def many(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Execute the statement for each row."""

    @abstractmethod
    def reading(self) -> contextlib.AbstractContextManager[Reader]:
        """A second connection, for reading a consistent state of everything committed."""

    @abstractmethod
    def recover(self, failure: UnavailableError) -> bool:
        """After a failure: whether writing can go on, perhaps on a new connection, or only after a restart."""

    @abstractmethod
    def close(self) -> None: ...

    def check(self) -> list[str]:
        """What the database itself finds wrong with its files."""
        return []

    @property
    def shown(self) -> str:
        """The address, fit to be shown: without a password."""
        return self.address

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """begin(None), then commit, or rollback if something goes wrong."""
        self.begin(None)
        try:
            yield
            self.commit()
        except BaseException:
            self.rollback()
            raise

    def append(self, entries: Sequence[Entry]) -> None:
        if entries:
            self.many(
                f"INSERT INTO log ({COLUMNS}) VALUES ({', '.join('?' * len(Entry._fields))})",
                entries,
            )

    def add_experiment(self, experiment: Experiment) -> None:
        self.many(
            "INSERT INTO experiments (id, name, seed, created) VALUES (?, ?, ?, ?)", [experiment]
        )

    def next_experiment(self) -> int:
        return int(self.rows("SELECT COALESCE(MAX(id), 0) + 1 FROM experiments")[0][0])

    def save_snapshot(self, experiment: int, seq: int, code: str, state: bytes) -> None:
        statement = """INSERT INTO snapshots (experiment, seq, code, state) VALUES (?, ?, ?, ?) ON CONFLICT (experiment)
            DO UPDATE SET seq = excluded.seq, code = excluded.code, state = excluded.state"""
        self.many(statement, [(experiment, seq, code, state)])

    def set_fact(self, name: str, value: str) -> None:
        self.many(
            "INSERT INTO facts (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            [(name, value)],
        )

    def add_key(self, id: str, hash: str, note: str, scopes: str, created: int) -> None:
        row = (id, hash, note, scopes, created)
        self.many(
            "INSERT INTO keys (id, hash, note, scopes, created) VALUES (?, ?, ?, ?, ?)", [row]
        )

    def revoke_key(self, id: str, time: int) -> None:
        self.many("UPDATE keys SET revoked = ? WHERE id = ? AND revoked IS NULL", [(time, id)])
