"""The Kaplan-Meier estimate: which share has converted by an age, from data alone.

With d_j conversions after exactly t_j and n_j decisions that were watched for at least t_j
without an earlier conversion,

    F(t) = 1 - prod over t_j <= t of (1 - d_j / n_j),

and by Greenwood  Var F(t) = (1 - F(t))^2 sum over t_j <= t of d_j / (n_j (n_j - d_j)).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from patientbandits.inference import FloatArray


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
        return self._step(self.variance, times)

    def _step(self, values: FloatArray, times: ArrayLike) -> FloatArray:
        asked = np.asarray(times, dtype=float)
        known = np.concatenate([[0.0], values])
        found = known[np.searchsorted(self.times, asked, side="right")]
        return np.where(asked <= self.largest, found, np.nan)


def product_limit(
    ages: FloatArray, delays: FloatArray, counts: FloatArray | None = None
) -> StepCurve:
    """Of decisions with these ages, converted after these delays (infinity: not yet).

    ``counts``: how many decisions each stands for, if not one.
    """
    weights = np.ones(len(ages)) if counts is None else counts
    converted = np.isfinite(delays)
    times, places = np.unique(delays[converted], return_inverse=True)
    events = np.bincount(places, weights[converted], minlength=len(times))
    watched = np.where(converted, delays, ages)
    order = np.argsort(watched, kind="stable")
    before = np.concatenate([[0.0], np.cumsum(weights[order])])
    at_risk = before[-1] - before[np.searchsorted(watched[order], times, side="left")]
    left: FloatArray = np.cumprod(1 - events / at_risk, dtype=float)
    with np.errstate(divide="ignore"):
        terms = events / (at_risk * (at_risk - events))
    spread: FloatArray = np.where(
        left > 0, np.cumsum(np.where(np.isfinite(terms), terms, 0.0)), 0.0
    )
    return StepCurve(
        times=times,
        share=1 - left,
        variance=left**2 * spread,
        largest=float(ages.max(initial=0.0)),
    )
