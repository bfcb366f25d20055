"""Lines as the rows of the table, and the chain that seals them.

The only place that knows how a record of `records` becomes columns and back. The chain is of rows,
not of records: a column that a kind does not use is sealed too.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import Any, NamedTuple, cast

import msgspec

from patientbandits.live.log.records import (
    AliasLine,
    AssignmentLine,
    ChangeLine,
    ConversionLine,
    CreditLine,
    Decided,
    DecisionColumns,
    DecisionLine,
    ExposureLine,
    GoalLine,
    Line,
    OrderLine,
    RetractionLine,
    UnitGoalLine,
    WithdrawalLine,
)


class LineRow(NamedTuple):
    """The log's columns, in their order; what a kind does not need is None.

    The docstrings say what a column holds whose name alone does not.
    """

    experiment: int
    seq: int
    kind: str
    time: int
    arm: int | None = None
    propensity: float | None = None
    """withdrawals: the share of the order that was paid back"""
    unit: str | None = None
    key: str | None = None
    """decisions: the idempotency key; orders: their name; aliases: the other unit"""
    decision: int | None = None
    """conversions and retractions: the line of their decision"""
    value: int | None = None
    happened: int | None = None
    stated: int | None = None
    settings: str | None = None
    about: int | None = None
    """credits and goals: the line of their decision; withdrawals: the line of their order"""
    goal: str | None = None
    sender: str | None = None
    chain: bytes | None = None


COLUMNS = {name: place for place, name in enumerate(LineRow._fields)}
OTHER_NAMES: dict[type[Line], dict[str, str]] = {
    OrderLine: {"order": "key"},
    UnitGoalLine: {"order": "key"},
    AliasLine: {"other": "key"},
    GoalLine: {"decision": "about"},
    CreditLine: {"decision": "about"},
    WithdrawalLine: {"withdrawn": "about", "share": "propensity"},
}
"""of records' fields: the columns that hold them"""


class Codec(NamedTuple):
    """The way between a kind of record and its row."""

    names: tuple[str, ...]
    places: tuple[int, ...]
    pick: Callable[[tuple[Any, ...]], tuple[Any, ...]]


def codec_of(record: type[Line]) -> Codec:
    names = record.__struct_fields__
    columns = OTHER_NAMES.get(record, {})
    places = tuple(COLUMNS[columns.get(name, name)] for name in names)
    return Codec(names, places, itemgetter(*places))


CODECS: dict[type[Line], Codec] = {
    record: codec_of(record)
    for record in (
        DecisionLine,
        ExposureLine,
        ConversionLine,
        RetractionLine,
        ChangeLine,
        OrderLine,
        WithdrawalLine,
        AliasLine,
        CreditLine,
        GoalLine,
        UnitGoalLine,
        AssignmentLine,
    )
}
RECORDS = {
    record.kind: record for record in CODECS if record not in (ExposureLine, GoalLine, UnitGoalLine)
}
UNIT, HAPPENED = COLUMNS["unit"], COLUMNS["happened"]


def record_of(row: tuple[Any, ...]) -> type[Line]:
    """The kind of record that the row holds."""
    kind = row[2]
    # two kinds of the table stand for two records each: it is too late to give them names there
    if kind == "decision":
        return DecisionLine if row[HAPPENED] is None else ExposureLine
    if kind == "goal":
        return GoalLine if row[UNIT] is None else UnitGoalLine
    return RECORDS[kind]


def line_of(row: tuple[Any, ...]) -> Line:
    """The row's record."""
    record = record_of(row)
    codec = CODECS[record]
    return record(**dict(zip(codec.names, codec.pick(row), strict=True)))


def row_of(line: Line) -> LineRow:
    """The record's row."""
    codec = CODECS[type(line)]
    row: list[Any] = [None] * len(COLUMNS)
    for name, place in zip(codec.names, codec.places, strict=True):
        row[place] = getattr(line, name)
    row[2] = line.kind
    return LineRow._make(row)


def decided_of(experiment: int, row: tuple[Any, ...]) -> Decided:
    """A row of `queries.DECIDED`: a decision with its conversion and its retraction."""
    seq, time, arm, propensity, unit, key, exposed, *outcome = row
    *outcome, exposed_by, converted_by = outcome
    converted, converted_time, value, happened, stated, retracted, retracted_time = outcome
    if exposed is None:
        decision = DecisionLine(
            experiment=experiment,
            seq=seq,
            time=time,
            arm=arm,
            propensity=propensity,
            unit=unit,
            key=key,
        )
    else:
        decision = ExposureLine(
            experiment=experiment,
            seq=seq,
            time=time,
            arm=arm,
            propensity=propensity,
            unit=unit,
            key=key,
            happened=exposed,
            sender=exposed_by,
        )
    if converted is None:
        return Decided(decision)
    conversion = ConversionLine(
        experiment=experiment,
        seq=converted,
        time=converted_time,
        decision=seq,
        value=value,
        happened=happened,
        stated=stated,
        sender=converted_by,
    )
    if retracted is None:
        return Decided(decision, conversion)
    retraction = RetractionLine(
        experiment=experiment, seq=retracted, time=retracted_time, decision=seq
    )
    return Decided(decision, conversion, retraction)


CHAIN_BYTES = 16
NAMES_SEAL_BYTES = 4
WITHOUT_GOAL_AND_SENDER = 3
"""columns, with the chain, that a line without them ends with"""
ENCODE = msgspec.json.Encoder().encode


def chained(rows: Iterable[LineRow], before: bytes) -> list[tuple[Any, ...]]:
    """The rows, each with its chain; ``before``: that of the line before."""
    done = []
    for row in rows:
        before = linked(row, before)
        done.append((*row[:-1], before))  # plain: to make a record takes as long as the hash
    return done


def decision_columns(lines: Sequence[Line]) -> DecisionColumns | None:
    """The columns of decisions written at one moment; None if there is any other line."""
    if set(map(type, lines)) != {DecisionLine}:
        return None
    decisions = cast(Sequence[DecisionLine], lines)
    first = decisions[0]
    if any(line.time != first.time for line in decisions):
        return None
    return DecisionColumns(
        experiment=first.experiment,
        time=first.time,
        seqs=range(first.seq, first.seq + len(decisions)),
        arms=[line.arm for line in decisions],
        propensities=[line.propensity for line in decisions],
        units=[line.unit for line in decisions],
        keys=[line.key for line in decisions],
    )


def chained_decisions(columns: DecisionColumns, before: bytes) -> list[bytes]:
    """The chain of each line, as `linked` makes it, with what all have in common encoded once."""
    content: list[Any] = [None] * (len(LineRow._fields) - WITHOUT_GOAL_AND_SENDER)
    content[:4] = [columns.experiment, 0, "decision", columns.time]
    # one template for all: only the hash before, the line, the arm and the propensity differ
    head, middle = ENCODE(content).split(b",0,", 1)
    kind_and_time, _, rest = middle.partition(b",null,null")
    propensities = ENCODE(columns.propensities)[1:-1].split(b",")
    written = b"%b%b,%%d,%b,%%d,%%b%b" % (b"%b", head, kind_and_time, rest)
    chains = []
    numbers = zip(columns.seqs, columns.arms, propensities, strict=True)
    names = zip(columns.units, columns.keys, strict=True)
    blake2b = hashlib.blake2b
    for (seq, arm, propensity), (unit, key) in zip(numbers, names, strict=True):
        text = written % (before[:CHAIN_BYTES], seq, arm, propensity)
        before = blake2b(text, digest_size=CHAIN_BYTES).digest() + seal_of(unit, key, seq)
        chains.append(before)
    return chains


def linked(row: LineRow, before: bytes) -> bytes:
    """H(hash of the line before, all columns of this one but its names), and their seal.

    Names, ``unit`` and ``key``, have a seal of their own, so that a person's can be removed and
    the hashes still hold.
    """
    # the names stand as null in the hash, so that databases of all versions hash alike
    content = [*row[:6], None, None, *row[8 : hashed_columns(row)]]
    hashed = hashlib.blake2b(before[:CHAIN_BYTES] + ENCODE(content), digest_size=CHAIN_BYTES)
    return hashed.digest() + names_seal(row)


def hashed_columns(row: LineRow) -> int:
    """A line without a goal or a sender is hashed as it was before there were any."""
    if row.sender is not None:
        return -1
    return -2 if row.goal is not None else -WITHOUT_GOAL_AND_SENDER


def names_seal(row: LineRow) -> bytes:
    return seal_of(row.unit, row.key, row.seq)


def seal_of(unit: str | None, key: str | None, seq: int) -> bytes:
    """A checksum (CRC-32): it finds every flipped bit, and tells nothing of names that are gone."""
    if unit is None and key is None:
        return b""
    seal = zlib.crc32(ENCODE((unit, key)), seq & 0xFFFFFFFF)
    return seal.to_bytes(NAMES_SEAL_BYTES, "big")


def resealed(row: LineRow) -> bytes | None:
    """The chain of a line that has other names now; without one it stays without."""
    return None if row.chain is None else row.chain[:CHAIN_BYTES] + names_seal(row)


def linked_with_names(row: LineRow, before: bytes) -> bytes:
    """Hash the row with its names, as earlier versions did."""
    joined = before[:CHAIN_BYTES] + ENCODE(row[: hashed_columns(row)])
    return hashlib.blake2b(joined, digest_size=CHAIN_BYTES).digest()


def names_are_hashed_in(row: LineRow) -> bool:
    """Tell whether an earlier version has written it, so that its names cannot go by themselves."""
    named = row.unit is not None or row.key is not None
    return named and row.chain is not None and len(row.chain) == CHAIN_BYTES


def names_are_chained(row: LineRow) -> bool:
    """Tell whether what follows must be chained anew if its names change: rules are hashed too."""
    return row.kind == "change" or names_are_hashed_in(row)
