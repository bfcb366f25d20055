"""What a conversion pays, with its uncertainty, from sums that any store can keep.

    cv^2 = max(sum_i sum (v - v_i)^2 / v_i^2 / (C - K),  e^(sigma^2) / q - 1)                (1)

pooled over the arms: v_i is arm i's mean, C the conversions, K the arms with any, sigma^2 the
pooled variance of log v within arms, q the share of conversions that paid. The second form is what
a log-normal law would have: large values are rare, and until they have been seen the first form
claims too much. The logarithm of an arm's mean value is known to t(C - K) / z cv / sqrt(c_i).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from patientbandits.inference.intervals import LEVEL, FloatArray, normal_quantile, student_quantile

CAP_MEDIANS = 10.0
"""Values above this many medians count as this many, unless said."""
CAP_VALUES = 100
"""The median is that of the first of these, so that the cap does not move with the data."""
FEWEST_FOR_CAP = 20
FEWEST_VALUES = 2
"""conversions; an arm with fewer borrows the mean of all arms"""


class ValueSums(NamedTuple):
    """Sums of what conversions paid, arm by arm."""

    conversions: FloatArray
    paying: FloatArray
    """conversions with a value above 0"""
    total: FloatArray
    squares: FloatArray
    logs: FloatArray
    log_squares: FloatArray

    @classmethod
    def of(
        cls, values: Sequence[ArrayLike], counts: Sequence[ArrayLike] | None = None
    ) -> ValueSums:
        """Sum each arm's values, one for each conversion, or for as many as ``counts`` says."""
        rows = []
        for arm, own in enumerate(values):
            value = np.asarray(own, float)
            weight = np.ones(len(value)) if counts is None else np.asarray(counts[arm], float)
            paid = value > 0
            log = np.log(np.where(paid, value, 1.0))
            rows.append(
                [
                    weight.sum(),
                    weight[paid].sum(),
                    weight @ value,
                    weight @ value**2,
                    weight @ log,
                    weight @ log**2,
                ]
            )
        return cls(*np.array(rows, float).reshape(-1, 6).T)

    @property
    def degrees(self) -> float:
        """C - K, at least 1."""
        return max(float(self.conversions.sum()) - int((self.conversions > 0).sum()), 1.0)

    @property
    def means(self) -> FloatArray:
        """What a conversion pays in the mean; arms with hardly any borrow the mean of all."""
        everything = float(self.total.sum()) / max(float(self.conversions.sum()), 1.0)
        own = self.total / np.maximum(self.conversions, 1.0)
        usable = (self.conversions >= FEWEST_VALUES) & (own > 0)
        return np.where(usable, own, everything)

    @property
    def variation(self) -> float:
        """The pooled coefficient of variation (1)."""
        paid = self.total > 0
        if not paid.any():
            return 1.0
        conversions, total = self.conversions[paid], self.total[paid]
        scatter = self.squares[paid] * conversions / total**2 - 1.0
        direct = float((conversions * np.maximum(scatter, 0.0)).sum()) / self.degrees
        paying = self.paying[paid]
        misses = self.log_squares[paid] - self.logs[paid] ** 2 / paying
        degrees = max(float(paying.sum()) - int(paid.sum()), 1.0)
        sigma2 = min(max(float(misses.sum()), 0.0) / degrees, 20.0)
        share = float(paying.sum() / conversions.sum())
        return math.sqrt(max(direct, math.exp(sigma2) / share - 1.0))

    def log_variances(self) -> FloatArray:
        """The variance of the logarithm of each arm's mean value."""
        stretch = student_quantile(round(self.degrees)) / normal_quantile(LEVEL)
        return (stretch * self.variation) ** 2 / np.maximum(self.conversions, 1.0)


def value_cap(first_values: ArrayLike) -> float | None:
    """Return ten medians of the first paying conversions; None while there are too few."""
    paying = np.asarray(first_values, float)
    paying = paying[paying > 0][:CAP_VALUES]
    if len(paying) < FEWEST_FOR_CAP:
        return None
    return CAP_MEDIANS * float(np.median(paying))
