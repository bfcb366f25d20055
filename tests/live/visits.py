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
        self.goals: dict[str, dict[str, list[tuple[Placed, bool]]]] = {}
        """the same for each goal beside the one that decides"""
        self.people: list[set[str]] = []

    def person(self, unit: str) -> set[str]:
        return next((person for person in self.people if unit in person), {unit})

    def decide(self, unit: str, arm: str, time: int, number: int) -> None:
        self.exposures.append((time, number, unit, arm))

    def expose(self, unit: str, arm: str, stated: int | None, now: int, number: int) -> str:
        """first, duplicate or different"""
        made = now if stated is None else min(stated, now)
        if stated is not None:
            shown = [arm for time, _, one, arm in self.exposures if (time, one) == (made, unit)]
            if shown:
                return "duplicate" if arm in shown else "different"
        self.exposures.append((made, number, unit, arm))
        return "first"

    def join(self, unit: str, other: str) -> bool:
        """Whether it was known."""
        one, two = self.person(unit), self.person(other)
        if other in one:
            return True
        self.people = [person for person in self.people if not person & (one | two)]
        self.people.append(one | two)
        return False

    def named(self, goal: str | None) -> dict[str, list[tuple[Placed, bool]]]:
        return self.orders if goal is None else self.goals.setdefault(goal, {})

    def order(
        self,
        name: str,
        unit: str,
        value: int,
        stated: int | None,
        now: int,
        number: int,
        goal: str | None = None,
    ) -> str:
        """first, duplicate or different"""
        versions = self.named(goal).setdefault(name, [])
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

    def retract(self, name: str, goal: str | None = None) -> str:
        versions = self.named(goal).get(name)
        if not versions:
            return "unknown"
        placed, gone = versions[-1]
        versions[-1] = (placed, True)
        return "duplicate" if gone else "first"

    def credited(self, goal: str | None) -> list[tuple[int, int]]:
        """(number of the decision, value) of all that counts"""
        found = []
        for versions in self.named(goal).values():
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
                found += [(number, placed.value) for _, number in chosen]
        return found

    def goal_counts(self, goal: str) -> dict[str, tuple[int, int, int]]:
        """arm: how often, decisions, sum in millionths"""
        arms = {number: arm for _, number, _, arm in self.exposures}
        credited = self.credited(goal)
        found = {}
        for arm in set(arms.values()):
            own = [(number, value) for number, value in credited if arms[number] == arm]
            numbers = {number for number, _ in own}
            found[arm] = (len(own), len(numbers), sum(value for _, value in own))
        return found

    def counts(self) -> dict[str, tuple[int, int, int]]:
        """arm: decisions, conversions, sum in millionths"""
        worth = Counter()
        for number, value in self.credited(None):
            worth[number] += value
        found: dict[str, tuple[int, int, int]] = {}
        for _, number, _, arm in self.exposures:
            decisions, conversions, paid = found.get(arm, (0, 0, 0))
            gained = min(worth[number], MILLION)
            found[arm] = (decisions + 1, conversions + (gained > 0), paid + gained)
        return found


GOALS = ("cart", "refund")
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
            ["decide", "expose", "order", "goal", "again", "retract", "alias", "wait"],
            p=[0.2, 0.1, 0.25, 0.1, 0.15, 0.08, 0.07, 0.05],
        )
        if kind == "again" and told:
            told.append(told[int(rng.integers(0, len(told)))])
        elif kind == "decide":
            told.append(("decide", unit))
        elif kind == "expose":
            told.append(("expose", unit, str(rng.choice(["a", "b"])), ago))
        elif kind in ("order", "goal"):
            owner = f"{'visitor' if rng.random() < 0.5 else 'account'} {one}"
            goal = None if kind == "order" else str(rng.choice(GOALS))
            told.append(("order", name, owner, value, ago, goal))
        elif kind == "retract":
            told.append(("retract", name, [None, *GOALS][int(rng.integers(0, 3))]))
        elif kind == "alias":
            pair = [f"visitor {one}", f"account {one}"]
            told.append(("alias", *rng.permutation(pair).tolist()))
        else:
            told.append(("wait", int(rng.integers(1, 60))))
    return told
