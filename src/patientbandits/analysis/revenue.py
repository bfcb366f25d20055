"""Revenue per decision: the rate times what a converted decision is worth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from patientbandits.analysis.events import ArmHistory
from patientbandits.analysis.rates import Z95, Belief
from patientbandits.analysis.records import OrderWorth, Revenue, Span
from patientbandits.inference import FloatArray, best_normal, expected_maximum

FEWEST_PAID = 2
"""An arm with fewer converted decisions borrows what those of all arms are worth."""


def worths_of(arms: Sequence[ArmHistory], window: float | None) -> list[OrderWorth] | None:
    """The worth of a converted decision, arm by arm; None if almost nothing was paid."""
    paid = [
        PaidSums(arm.paid_by_decision(window), arm.counts[arm.converted_within(window)])
        for arm in arms
    ]
    everything = PaidSums(
        sums=np.concatenate([own.sums for own in paid]),
        counts=np.concatenate([own.counts for own in paid]),
    )
    if everything.decisions < FEWEST_PAID or not everything.sums.any():
        return None
    return [_worth(own, everything) for own in paid]


class PaidSums(NamedTuple):
    """Sums that converted decisions have paid, and how many decisions paid each."""

    sums: FloatArray
    counts: FloatArray

    @property
    def decisions(self) -> int:
        return round(float(self.counts.sum()))


def _worth(own: PaidSums, everything: PaidSums) -> OrderWorth:
    used = own if own.decisions >= FEWEST_PAID else everything
    mean = float((used.counts * used.sums).sum() / used.decisions)
    squares = float((used.counts * (used.sums - mean) ** 2).sum())
    return OrderWorth(
        mean=mean,
        spread=math.sqrt(squares / (used.decisions - 1)),
        count=max(own.decisions, 1),
    )


def revenues_of(arm_beliefs: Sequence[Belief], worths: Sequence[OrderWorth]) -> list[Revenue]:
    """Each arm's revenue per decision; the first arm is the control."""
    parts = [_revenue(belief, worth) for belief, worth in zip(arm_beliefs, worths, strict=True)]
    means = np.array([part.mean for part in parts])
    spreads = np.array([part.spread for part in parts])
    chances = best_normal(means, spreads)
    losses = expected_maximum(means, spreads) - means
    return [
        replace(
            part,
            best=float(chances[place]),
            expected_loss=max(float(losses[place]), 0.0),
            lift=_lift(part, parts[0]) if place > 0 else None,
        )
        for place, part in enumerate(parts)
    ]


def _revenue(belief: Belief, worth: OrderWorth) -> Revenue:
    """Rate m and worth p, known to standard deviations a and b: p m with (a p)^2 + (b m)^2.

    The interval is that of a log-normal law with this spread where it is small beside the mean,
    else of a normal one.
    """
    rate = belief.rate.mean
    mean = rate * worth.mean
    spread = math.hypot(belief.spread * worth.mean, rate * worth.spread / math.sqrt(worth.count))
    low, high = mean - Z95 * spread, mean + Z95 * spread
    if mean > 2 * spread:
        low, high = mean * math.exp(-Z95 * spread / mean), mean * math.exp(Z95 * spread / mean)
    elif mean >= 0:
        low = max(low, 0.0)
    return Revenue(mean=mean, low=low, high=high, spread=spread)


def _lift(part: Revenue, control: Revenue) -> Span | None:
    """The ratio to the control's, less 1, log-normal; None if one of the two is not positive."""
    if part.mean <= 0 or control.mean <= 0:
        return None
    ratio = part.mean / control.mean
    wide = Z95 * math.hypot(part.spread / part.mean, control.spread / control.mean)
    wide = min(wide, 50.0)  # exp() must not overflow for an arm that has hardly sold anything
    return Span(mean=ratio - 1, low=ratio * math.exp(-wide) - 1, high=ratio * math.exp(wide) - 1)


def amount(value: float, currency: str = "") -> str:
    """An amount of money for people: two decimals from 1 on, three significant digits below."""
    digits = 2
    if 0 < abs(value) < 1:
        digits = min(2 - math.floor(math.log10(abs(value))), 9)
    return f"{value:,.{digits}f} {currency}".strip()
