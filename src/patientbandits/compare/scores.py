"""Results -> numbers: regret with its interval, and against the best in the same worlds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from patientbandits.compare.suite import Case
from patientbandits.errors import require
from patientbandits.result import Array, Result, mean_interval

LEVEL = 0.95


@dataclass(frozen=True)
class Score:
    """One policy on one problem; all intervals at 95 %, those of differences and ratios paired run by run."""

    problem: str
    policy: str
    group: str
    runs: int
    regret: float
    low: float
    high: float
    best: bool
    """least mean regret of those that see only rewards"""
    tied: bool
    """sees only rewards and is not significantly worse than the best: the interval of the difference holds 0"""
    ratio: float | None
    """to the best; None if that has no regret"""
    ratio_low: float | None
    ratio_high: float | None
    difference: float
    difference_low: float
    difference_high: float
    shares: tuple[float, ...]
    """of the pulls, arm by arm"""
    best_arm_share: float


def ratio_interval(ours: Array, theirs: Array) -> tuple[float, float, float]:
    """r = mean(a) / mean(b) of paired values, with r -+ z sd(a - r b) / (sqrt(n) mean(b)), the delta method's interval."""
    bottom = float(theirs.mean())
    require(bottom > 0, "ratio", "the mean below must be > 0", mean=bottom)
    ratio = float(ours.mean()) / bottom
    spread = float((ours - ratio * theirs).std(ddof=1)) / math.sqrt(len(ours)) / bottom
    half = NormalDist().inv_cdf((1 + LEVEL) / 2) * spread
    return ratio, max(0.0, ratio - half), ratio + half


def scores(case: Case, results: Mapping[str, Result], groups: Mapping[str, str]) -> list[Score]:
    """The scores of all policies on one problem; ``groups``: what each has to go on."""
    candidates = [name for name in results if groups[name] != "reports"] or list(results)
    best = min(candidates, key=lambda name: float(results[name].final.mean()))
    comparable = case.counted and results[best].final.mean() > 0
    gaps = np.array(case.problem.gaps)
    rows = []
    for name, result in results.items():
        difference = result.final - results[best].final
        low, high = (float(end) for end in mean_interval(result.final, LEVEL))
        less, more = (float(end) for end in mean_interval(difference, LEVEL))
        ratio, ratio_low, ratio_high = (
            ratio_interval(result.final, results[best].final) if comparable else (None, None, None)
        )
        shares = result.pulls.sum(axis=0) / result.pulls.sum()
        rows.append(
            Score(
                case.name,
                name,
                groups[name],
                len(result.final),
                float(result.final.mean()),
                low,
                high,
                name == best,
                name in candidates and less <= 0,
                ratio,
                ratio_low,
                ratio_high,
                float(difference.mean()),
                less,
                more,
                tuple(float(share) for share in shares),
                float(shares[gaps == 0].sum()),
            )
        )
    return rows


@dataclass(frozen=True)
class Standing:
    """A policy over all problems that count."""

    policy: str
    group: str
    problems: int
    typical: float
    """geometric mean of its ratios to the best"""
    worst: float
    worst_problem: str
    good: int
    """on how many it is the best or not significantly worse"""


def standings(rows: Sequence[Score]) -> list[Standing]:
    """Every policy's standing, the best first."""
    by_policy: dict[str, list[Score]] = {}
    for row in rows:
        if row.ratio is not None:
            by_policy.setdefault(row.policy, []).append(row)
    found = []
    for policy, own in by_policy.items():
        ratios = [max(row.ratio or 0.0, 1e-3) for row in own]
        worst = max(range(len(own)), key=ratios.__getitem__)
        typical = math.exp(sum(map(math.log, ratios)) / len(ratios))
        found.append(
            Standing(
                policy,
                own[0].group,
                len(own),
                typical,
                ratios[worst],
                own[worst].problem,
                sum(row.tied for row in own),
            )
        )
    return sorted(found, key=lambda standing: standing.typical)
