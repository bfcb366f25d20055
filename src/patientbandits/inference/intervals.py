"""All intervals: of a mean, for many runs and for few, and of a ratio of means.

normal     mean -+ z sd / sqrt(runs)      fit for 30 runs and more
Student's  mean -+ t sd / sqrt(runs)      right for a few runs as well
ratio      r -+ z sd(a - r b) / (sqrt(runs) mean(b)),  r = mean(a) / mean(b)
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from patientbandits.errors import number, require

FloatArray = NDArray[np.float64]

LEVEL = 0.95
"""of every interval, unless said"""


def normal_quantile(level: float) -> float:
    """The z with P(|X| <= z) = level for the standard normal law."""
    return NormalDist().inv_cdf((1 + level) / 2)


def mean_interval(values: FloatArray, level: float = LEVEL) -> tuple[FloatArray, FloatArray]:
    """The ends of the normal interval of the mean over the first axis; infinite for one run."""
    level = number("interval", "level", level)
    require(0 < level < 1, "interval", "level must be in (0, 1)", level=level)
    mean = values.mean(axis=0)
    if len(values) == 1:
        return np.full_like(mean, -np.inf), np.full_like(mean, np.inf)
    half = normal_quantile(level) * values.std(axis=0, ddof=1) / np.sqrt(len(values))
    return mean - half, mean + half


def student_interval(values: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean over the first axis, and the ends of its interval at `LEVEL` by Student's law."""
    mean = values.mean(axis=0)
    runs = len(values)
    half = student_quantile(runs - 1) * values.std(axis=0, ddof=1) / math.sqrt(runs)
    return mean, mean - half, mean + half


def student_quantile(degrees: int, level: float = LEVEL) -> float:
    """The t with P(|X| <= t) = level."""
    from scipy.special import stdtrit  # here: few that import this module need it

    return float(stdtrit(degrees, (1 + level) / 2))


def ratio_interval(ours: FloatArray, theirs: FloatArray) -> tuple[float, float, float]:
    """mean(ours) / mean(theirs) of paired values, and the ends of its interval at `LEVEL`.

    r -+ z sd(a - r b) / (sqrt(n) mean(b)), by the delta method; never below 0.
    """
    bottom = float(theirs.mean())
    require(bottom > 0, "ratio", "the mean below must be > 0", mean=bottom)
    ratio = float(ours.mean()) / bottom
    spread = float((ours - ratio * theirs).std(ddof=1)) / math.sqrt(len(ours)) / bottom
    half = normal_quantile(LEVEL) * spread
    return ratio, max(0.0, ratio - half), ratio + half
