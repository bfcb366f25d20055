"""Visitors, orders, aliases and retractions in any order, and what must come of them.

`Model` is written from the definition and knows nothing of the package.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np

MILLION = 10**6


class Placed(NamedTuple):
    unit: str
    value: int
    """in millionths of the largest value"""
    happened: int
    stated: int | None
    number: int
    """of the message that placed it"""


class Model:
    """One experiment. Times in microseconds; every step gets a number, in the order of telling."""

    def __init__(self, rule: str, window: int | None) -> None:
        self.rule = rule
        self.window = window
        self.exposures: list[tuple[int, int, str, str]] = []
        """(time, number, unit, arm)"""
        self.orders: dict[str, list[tuple[Placed, bool]]] = {}
        """by name: each version, and whether it was taken back"""
        self.people: list[set[str]] = []

    def person(self, unit: str) -> set[str]:
        return next((person for person in self.people if unit in person), {unit})

    def decide(self, unit: str, arm: str, time: int, number: int) -> None:
        self.exposures.append((time, number, unit, arm))

    def join(self, unit: str, other: str) -> bool:
        """Whether it was known."""
        one, two = self.person(unit), self.person(other)
        if other in one:
            return True
        self.people = [person for person in self.people if not person & (one | two)]
        self.people.append(one | two)
        return False

    def order(
        self, name: str, unit: str, value: int, stated: int | None, now: int, number: int
    ) -> str:
        """first, duplicate or different"""
        versions = self.orders.setdefault(name, [])
        for placed, _ in versions:
            said = placed.happened if placed.stated is None else placed.stated
            same_time = stated in (None, said)
            if placed.value == value and same_time and unit in self.person(placed.unit):
                return "duplicate"
        if any(not gone for _, gone in versions):
            return "different"
        happened = now if stated is None else min(stated, now)
        versions.append((Placed(unit, value, happened, stated, number), False))
        return "first"

    def retract(self, name: str) -> str:
        versions = self.orders.get(name)
        if not versions:
            return "unknown"
        placed, gone = versions[-1]
        versions[-1] = (placed, True)
        return "duplicate" if gone else "first"

    def counts(self) -> dict[str, tuple[int, int, int]]:
        """arm: decisions, conversions, sum in millionths"""
        worth = Counter()
        for versions in self.orders.values():
            for placed, gone in versions:
                if gone:
                    continue
                person = self.person(placed.unit)
                before = sorted(
                    (time, number)
                    for time, number, unit, _ in self.exposures
                    if unit in person and (time, number) < (placed.happened, placed.number)
                )
                if self.window is not None:
                    before = [e for e in before if placed.happened - e[0] <= self.window]
                chosen = {"first": before[:1], "last": before[-1:], "every": before}[self.rule]
                for _, number in chosen:
                    worth[number] += placed.value
        found: dict[str, tuple[int, int, int]] = {}
        for _, number, _, arm in self.exposures:
            decisions, conversions, paid = found.get(arm, (0, 0, 0))
            gained = min(worth[number], MILLION)
            found[arm] = (decisions + 1, conversions + (gained > 0), paid + gained)
        return found


VALUES = (0, 100_000, 250_000, 700_000, MILLION)


def messages(rng: np.random.Generator, number: int, people: int) -> list[tuple]:
    """What clients tell, in the order of its delivery: with repetitions, and with mistakes."""
    units = [f"{kind} {one}" for one in range(people) for kind in ("visitor", "account")]
    told: list[tuple] = []
    for _ in range(number):
        one = int(rng.integers(0, people))
        unit = units[int(rng.integers(0, len(units)))]
        name = f"order {one}-{int(rng.integers(0, 3))}"
        value = VALUES[int(rng.integers(0, len(VALUES)))]
        ago = [None, 0, 3, 40, 900][int(rng.integers(0, 5))]
        kind = rng.choice(
            ["decide", "order", "again", "retract", "alias", "wait"],
            p=[0.25, 0.35, 0.15, 0.1, 0.1, 0.05],
        )
        if kind == "again" and told:
            told.append(told[int(rng.integers(0, len(told)))])
        elif kind == "decide":
            told.append(("decide", unit))
        elif kind == "order":
            owner = f"{'visitor' if rng.random() < 0.5 else 'account'} {one}"
            told.append(("order", name, owner, value, ago))
        elif kind == "retract":
            told.append(("retract", name))
        elif kind == "alias":
            pair = [f"visitor {one}", f"account {one}"]
            told.append(("alias", *rng.permutation(pair).tolist()))
        else:
            told.append(("wait", int(rng.integers(1, 60))))
    return told
