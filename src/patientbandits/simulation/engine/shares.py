"""Shares: what the arms get whatever the policy chooses, and how fast that may change.

With floors f, free = 1 - sum of f and q the policy's own chances, arm i is chosen with probability

    p_i = f_i + free * (lead * q_i + (1 - lead) * base_i)                                      (S)

``base`` is what the policy's part was on the day before; ``lead`` is 1 unless shares may move by
at most ``cap`` a day, and then the largest number <= 1 with |p_i - f_i - free * base_i| <= cap for
all i. One uniform draw chooses among the p_i, so they are the probabilities of what was done even
if a policy knows its own chances only roughly; one that does not know them has q_i = 1 for the arm
that it picks. The functions are interpreted and compiled, as policies are.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

SHARE_DAY = 86400.0
BASE_WEIGHT = 100.0
"""decisions that the base before counts for, beside those of the day"""

FREE, CAP, TODAY = 0, 1, 2
"""places in ``numbers``"""


class ShareBook(NamedTuple):
    """The numbers of (S). A book without arms: the policy alone decides."""

    floors: NDArray[np.float64]
    base: NDArray[np.float64]
    counts: NDArray[np.float64]
    """decisions of today"""
    own: NDArray[np.float64]
    """the policy's chances q at the last decision"""
    numbers: NDArray[np.float64]
    """free, cap, today"""

    @classmethod
    def of(cls, floors: Any, free: float, cap: float | None) -> ShareBook:
        arms = len(floors)
        return cls(
            floors=np.array(floors, np.float64),
            base=np.full(arms, 1.0 / max(arms, 1)),
            counts=np.zeros(arms),
            own=np.zeros(arms),
            numbers=np.array([free, math.inf if cap is None else cap, 0.0]),
        )


NO_SHARES = ShareBook.of([], 1.0, None)


def lead_of(book: Any) -> float:
    """The ``lead`` of (S)."""
    farthest = 0.0
    for arm in range(len(book.own)):
        farthest = max(farthest, abs(book.own[arm] - book.base[arm]))
    if book.numbers[FREE] * farthest <= book.numbers[CAP]:
        return 1.0
    return float(book.numbers[CAP] / (book.numbers[FREE] * farthest))


def mixed_share(book: Any, lead: float, arm: int) -> float:
    """(S)"""
    part = lead * book.own[arm] + (1.0 - lead) * book.base[arm]
    return float(book.floors[arm] + book.numbers[FREE] * part)


def shared_arm(book: Any, lead: float, draw: float) -> int:
    """The arm for the draw, which is uniform in [0, sum of all shares)."""
    left = draw
    chosen = 0
    for arm in range(len(book.own)):
        share = mixed_share(book, lead, arm)
        if share > 0.0:
            chosen = arm
            left -= share
            if left < 0.0:
                break
    return chosen


def share_out(book: Any, event: Any) -> int:
    """Choose the event's arm by its draw, if it has none: 1 if it has another."""
    turn_page(book, event.time)
    lead = lead_of(book)
    arm = shared_arm(book, lead, event.draw)
    if event.arm >= 0:
        return int(event.arm != arm)
    event.arm = arm
    event.propensity = mixed_share(book, lead, arm)
    return 0


def note_share(book: Any, event: Any) -> None:
    """A decision was made, by whomever."""
    turn_page(book, event.time)
    book.counts[event.arm] += 1.0


def turn_page(book: Any, time: float) -> None:
    """At the first decision of a day: the base is what was shown on the last day with decisions.

    base_i is in proportion to max(s_i - f_i, 0), s_i = the share of arm i among these decisions
    and `BASE_WEIGHT` more that were as before.
    """
    today = math.floor(time / SHARE_DAY)
    if today <= book.numbers[TODAY]:
        return
    book.numbers[TODAY] = today
    total = 0.0
    whole = book.numbers[FREE]
    for arm in range(len(book.counts)):
        total += book.counts[arm]
        whole += book.floors[arm]
    if total == 0.0 or book.numbers[FREE] <= 0.0:
        return
    above = 0.0
    for arm in range(len(book.counts)):
        before = (book.floors[arm] + book.numbers[FREE] * book.base[arm]) / whole
        share = (book.counts[arm] + BASE_WEIGHT * before) / (total + BASE_WEIGHT)
        book.base[arm] = max(share * whole - book.floors[arm], 0.0)
        book.counts[arm] = 0.0
        above += book.base[arm]
    for arm in range(len(book.base)):
        book.base[arm] /= above
