"""The Kaplan-Meier estimate (1958): which share has converted by an age, from data alone.

With d_j conversions after t_j and n_j pulls that were watched for at least t_j without an earlier
conversion,

    F(t) = 1 - prod over t_j <= t of (1 - d_j / n_j),

and by Greenwood (1926)  Var F(t) = (1 - F(t))^2 sum over t_j <= t of d_j / (n_j (n_j - d_j)).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from patientbandits.inference.intervals import FloatArray


def product_limit(events: FloatArray, at_risk: FloatArray) -> tuple[FloatArray, FloatArray]:
    """1 - F and Greenwood's sum after each step, from d_j and n_j."""
    with np.errstate(divide="ignore", invalid="ignore"):
        hazard = np.where(at_risk > 0, events / at_risk, 0.0)
        terms = np.where(at_risk > events, events / (at_risk * (at_risk - events)), 0.0)
    left: FloatArray = np.cumprod(1.0 - hazard, dtype=float)
    return left, np.cumsum(terms)


@dataclass(frozen=True)
class StepCurve:
    """The steps of the estimate; before the first it is 0."""

    times: FloatArray
    share: FloatArray
    """converted by each time"""
    variance: FloatArray
    largest: float
    """the largest age: nothing is known beyond it"""

    def at(self, times: ArrayLike) -> FloatArray:
        """F at ``times``; NaN beyond the largest age."""
        return self._step(self.share, times)

    def variance_at(self, times: ArrayLike) -> FloatArray:
        """Var F at ``times``; NaN beyond the largest age."""
        return self._step(self.variance, times)

    def _step(self, values: FloatArray, times: ArrayLike) -> FloatArray:
        at = np.asarray(times, dtype=float)
        from_zero = np.concatenate([[0.0], values])
        steps = from_zero[np.searchsorted(self.times, at, side="right")]
        return np.where(at <= self.largest, steps, np.nan)


def step_curve(ages: FloatArray, delays: FloatArray, counts: FloatArray | None = None) -> StepCurve:
    """Estimate F from decisions with these ages, converted after these delays (infinity: not yet).

    ``counts``: how many decisions each stands for, if not one.
    """
    weights = np.ones(len(ages)) if counts is None else counts
    converted = np.isfinite(delays)
    times, places = np.unique(delays[converted], return_inverse=True)
    events = np.bincount(places, weights[converted], minlength=len(times)).astype(float)
    watched = np.where(converted, delays, ages)
    order = np.argsort(watched, kind="stable")
    before = np.concatenate([[0.0], np.cumsum(weights[order])])
    at_risk = before[-1] - before[np.searchsorted(watched[order], times, side="left")]
    left, spread = product_limit(events, at_risk)
    return StepCurve(
        times=times,
        share=1 - left,
        variance=left**2 * spread,
        largest=float(ages.max(initial=0.0)),
    )
