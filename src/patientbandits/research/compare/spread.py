"""How far means over problems can be trusted: problems are the sample, not the runs on them.

Had other problems been chosen, or drawn, the means would be others. A problem and its mirror stay
together: they share everything but who is slow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from patientbandits.inference import LEVEL, FloatArray

RESAMPLES = 4000
SEED = 75
LEAST_FAMILIES = 6
"""Fewer are too few to resample."""

MIRRORS = ("_mirrored", "_slow_best", "_slow_worst")
TWINS = {"slow_is_worst": "heterogeneous", "theorem4_b": "theorem4_a"}
"""problem -> the other of the pair, where the name does not say so"""

Logs = Mapping[str, float]
"""problem -> log of a ratio of regrets"""


def family(problem: str) -> str:
    """The name that a problem shares with its mirror."""
    name = problem
    for mirror in MIRRORS:
        name = name.removesuffix(mirror)
    return TWINS.get(name, name)


def draws(problems: Sequence[str]) -> FloatArray | None:
    """(resamples, problems): how often each was drawn; None if there are too few families.

    Of n families n - 1 are drawn, with replacement: that makes the variance unbiased.
    """
    families = list(dict.fromkeys(map(family, problems)))
    count = len(families)
    if count < LEAST_FAMILIES:
        return None
    drawn = np.random.default_rng(SEED).integers(count, size=(RESAMPLES, count - 1))
    times = (drawn[:, :, None] == np.arange(count)).sum(axis=1).astype(float)
    return times[:, [families.index(family(problem)) for problem in problems]]


def interval(logs: Logs) -> tuple[float, float] | None:
    """The 95 % interval of a geometric mean over problems; None if there are too few."""
    weights = draws(list(logs))
    if weights is None:
        return None
    means = (weights * np.array(list(logs.values()))).sum(axis=1) / weights.sum(axis=1)
    low, high = np.exp(np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]))
    return float(low), float(high)


def told_apart(worse: Logs, better: Logs) -> bool | None:
    """True if the interval of the ratio of their means is above 1; None if nobody can say."""
    both = interval({problem: log - better[problem] for problem, log in worse.items()})
    return None if both is None else both[0] > 1
