"""A line of an experiment's log, and a decision with the lines that came of it.

Times are whole microseconds since 1970, values whole millionths of the experiment's scale.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec

from patientbandits.simulation.engine import MILLIONTHS

__all__ = ["KINDS", "MILLIONTHS", "Decided", "LogLine"]


KINDS = (
    "decision",
    "conversion",
    "retraction",
    "change",
    "order",
    "withdrawal",
    "alias",
    "credit",
    "goal",
    "assignment",
)
"""of lines

decision     an arm was chosen, or an exposure told by those who choose themselves: then
             ``happened`` is when it was made, if that was before it was told
conversion   a decision has paid, told by its id; retraction takes it back
change       new settings
order        a unit has paid; ``key`` is the order's own name; withdrawal takes it back
alias        the units in ``unit`` and ``key`` are one person
credit       what a decision is worth from here on, all orders and its conversion together
goal         another goal than the one that decides was reached, by the unit in ``unit`` (``key``
             names it, as an order's does) or by the decision in ``about``
assignment   an arm was promised to a unit that may never see it: no decision, and nothing a policy
             hears of, until the unit is exposed
"""


class LogLine(NamedTuple):
    """The log's columns, in their order. What a kind does not need is None."""

    experiment: int
    seq: int
    """1, 2, 3, ... in each experiment"""
    kind: str
    """one of `KINDS`"""
    time: int
    """when it was written"""
    arm: int | None = None
    """decisions: the chosen arm's place; None until the policy has chosen"""
    propensity: float | None = None
    unit: str | None = None
    key: str | None = None
    decision: int | None = None
    """conversions and retractions: the line of their decision"""
    value: int | None = None
    happened: int | None = None
    stated: int | None = None
    """conversions: when it happened as the client said, if it did; ``happened`` is made of it"""
    settings: str | None = None
    """changes: the new settings"""
    about: int | None = None
    """credits and goals: the line of their decision; withdrawals: the line of their order"""
    goal: str | None = None
    """goals: which one"""
    sender: str | None = None
    """conversions, orders, goals and told exposures: the id of the key that came with it, if any"""
    chain: bytes | None = None
    """hash of this line and of the chain before it, and the seal of its names: see `linked`;
    none in lines of the first version"""

    @property
    def made(self) -> int:
        """When a decision was made."""
        return self.time if self.happened is None else self.happened


class DecisionColumns(NamedTuple):
    """Lines of decisions that a policy has just made, column by column; all others are None."""

    experiment: int
    time: int
    seqs: Sequence[int]
    """one after the other"""
    arms: Sequence[int]
    propensities: Sequence[float | None]
    units: Sequence[str | None]
    keys: Sequence[str | None]


CHAIN_BYTES = 16
NAMES_SEAL_BYTES = 4
WITHOUT_GOAL_AND_SENDER = 3
"""columns, with the chain, that a line without them ends with"""
ENCODE = msgspec.json.Encoder().encode


def chained(lines: Iterable[LogLine], before: bytes) -> list[tuple[Any, ...]]:
    """The lines' columns, each with its chain; ``before``: that of the line before.

    Plain tuples: to make lines of them anew would take as long as the hash.
    """
    done = []
    for line in lines:
        before = linked(line, before)
        done.append((*line[:-1], before))
    return done


def chained_decisions(columns: DecisionColumns, before: bytes) -> list[bytes]:
    """The chain of each line, as `linked` makes it, with what all have in common encoded once."""
    content: list[Any] = [None] * (len(LogLine._fields) - WITHOUT_GOAL_AND_SENDER)
    content[:4] = [columns.experiment, 0, "decision", columns.time]
    head, middle = ENCODE(content).split(b",0,", 1)
    kind_and_time, _, rest = middle.partition(b",null,null")
    propensities = ENCODE(columns.propensities)[1:-1].split(b",")
    written = b"%b%b,%%d,%b,%%d,%%b%b" % (b"%b", head, kind_and_time, rest)
    found = []
    numbers = zip(columns.seqs, columns.arms, propensities, strict=True)
    names = zip(columns.units, columns.keys, strict=True)
    blake2b = hashlib.blake2b
    for (seq, arm, propensity), (unit, key) in zip(numbers, names, strict=True):
        text = written % (before[:CHAIN_BYTES], seq, arm, propensity)
        before = blake2b(text, digest_size=CHAIN_BYTES).digest() + seal_of(unit, key, seq)
        found.append(before)
    return found


def linked(line: LogLine, before: bytes) -> bytes:
    """H(hash of the line before, all columns of this one but its names), and their seal.

    Names, ``unit`` and ``key``, have a seal of their own, so that a person's can be removed and
    the hashes still hold.
    """
    content = [*line[:6], None, None, *line[8 : hashed_columns(line)]]
    hashed = hashlib.blake2b(before[:CHAIN_BYTES] + ENCODE(content), digest_size=CHAIN_BYTES)
    return hashed.digest() + names_seal(line)


def hashed_columns(line: LogLine) -> int:
    """A line without a goal or a sender is hashed as it was before there were any."""
    if line.sender is not None:
        return -1
    return -2 if line.goal is not None else -WITHOUT_GOAL_AND_SENDER


def names_seal(line: LogLine) -> bytes:
    return seal_of(line.unit, line.key, line.seq)


def seal_of(unit: str | None, key: str | None, seq: int) -> bytes:
    """A checksum (CRC-32): it finds every flipped bit, and tells nothing of names that are gone."""
    if unit is None and key is None:
        return b""
    seal = zlib.crc32(ENCODE((unit, key)), seq & 0xFFFFFFFF)
    return seal.to_bytes(NAMES_SEAL_BYTES, "big")


def resealed(line: LogLine) -> bytes | None:
    """The chain of a line that has other names now; without one it stays without."""
    return None if line.chain is None else line.chain[:CHAIN_BYTES] + names_seal(line)


def linked_with_names(line: LogLine, before: bytes) -> bytes:
    """As earlier versions did: the names are a part of what is hashed."""
    joined = before[:CHAIN_BYTES] + ENCODE(line[: hashed_columns(line)])
    return hashlib.blake2b(joined, digest_size=CHAIN_BYTES).digest()


def names_are_hashed_in(line: LogLine) -> bool:
    """Whether an earlier version has written it, so that its names cannot go by themselves."""
    named = line.unit is not None or line.key is not None
    return named and line.chain is not None and len(line.chain) == CHAIN_BYTES


def names_are_chained(line: LogLine) -> bool:
    """Whether what follows must be chained anew if its names change: rules are hashed too."""
    return line.kind == "change" or names_are_hashed_in(line)


class Decided(NamedTuple):
    """A decision, and what became of it so far."""

    decision: LogLine
    conversion: LogLine | None = None
    retraction: LogLine | None = None
    credits: tuple[LogLine, ...] = ()
    """oldest first; once there is one, the last alone says what the decision is worth"""

    @property
    def delay(self) -> int | None:
        """Microseconds from the decision to its conversion, if there is one."""
        if self.conversion is None or self.conversion.happened is None:
            return None
        return self.conversion.happened - self.decision.made
