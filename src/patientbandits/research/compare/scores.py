"""Results -> numbers: regret with its interval, and against the best in the same worlds."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from patientbandits._util.arithmetic import plain_sum
from patientbandits.inference import (
    LEVEL,
    FloatArray,
    mean_interval,
    normal_quantile,
    ratio_interval,
)
from patientbandits.research.compare.cases import DIRECTIONS, Case, kinds_of
from patientbandits.research.compare.contenders import CALENDAR_ORACLE, NOT_COUNTED
from patientbandits.research.compare.spread import interval, told_apart
from patientbandits.simulation import Result

ORACLES = (CALENDAR_ORACLE, "OracleThompson")
"""Told the law of every arm's delays, and the factors of every round where those change: what is
lost beyond an oracle's regret is the price of not knowing. The first that takes part is it."""

LEAST_RATIO = 1e-3
"""Ratios below count as this, so that the geometric mean is not 0."""


@dataclass(frozen=True)
class Score:
    """One policy on one problem.

    All intervals at 95 %, those of differences and ratios paired run by run.
    """

    problem: str
    policy: str
    group: str
    runs: int
    regret: float
    low: float
    high: float
    per_1000: float
    """regret per 1000 rounds"""
    best: bool
    """least mean regret of those that are counted"""
    tied: bool
    """sees only rewards and is not significantly worse than the best: the interval of the
    difference holds 0"""
    ratio: float | None
    """to the best; None if that has no regret"""
    ratio_low: float | None
    ratio_high: float | None
    to_oracle: float | None
    """ratio to the oracle; None if none takes part, or has no regret"""
    to_oracle_low: float | None
    to_oracle_high: float | None
    difference: float
    difference_low: float
    difference_high: float
    shares: tuple[float, ...]
    """of the pulls, arm by arm"""
    best_arm_share: float | None
    """None where the best arm is not always the same"""


@dataclass(frozen=True)
class Standing:
    """A policy over all problems that count."""

    policy: str
    group: str
    problems: int
    per_1000: float
    """regret per 1000 rounds, mean over the problems"""
    typical: float
    """geometric mean of its ratios to the best"""
    to_oracle: float | None
    """the same of its ratios to the oracle"""
    worst: float
    worst_problem: str
    good: int
    """on how many it is the best or not significantly worse"""
    low: float | None = None
    """of the 95 % interval of ``typical``, with the problems as the sample; None if too few"""
    high: float | None = None
    level: bool = False
    """is counted and not told apart from the best of these problems"""


def scores(
    case: Case,
    results: Mapping[str, Result],
    groups: Mapping[str, str],
    beside: Collection[str] = (),
) -> list[Score]:
    """The scores of all policies on one problem.

    ``groups``: what each has to go on; ``beside``: who is shown, but not counted among the best.
    """
    # If everybody sees reports there is nobody else to compare with.
    only_rewards = [name for name in results if groups[name] != "reports"] or list(results)
    counted = [name for name in only_rewards if groups[name] != "tuned" and name not in beside]
    candidates = counted or only_rewards
    best = min(candidates, key=lambda name: float(results[name].final.mean()))
    least = results[best].final
    oracle = next((results[name].final for name in ORACLES if name in results), None)
    best_arms = np.array(case.problem.gaps) == 0
    # Where the best arm changes, a share of pulls on "the best arm" would mean nothing.
    phases = case.problem.phases_until(case.horizon)
    lasting = all(np.array_equal(np.array(phase.gaps) == 0, best_arms) for _, phase in phases)
    rows = []
    for name, result in results.items():
        difference = result.final - least
        low, high = mean_interval(result.final)
        less, more = mean_interval(difference)
        ratio = _ratio_to(least, result.final, case)
        to_oracle = _ratio_to(oracle, result.final, case)
        shares = result.pulls.sum(axis=0) / result.pulls.sum()
        best_arm_share = None
        if lasting:
            best_arm_share = float(shares[best_arms].sum())
        row = Score(
            problem=case.name,
            policy=name,
            group=groups[name],
            runs=len(result.final),
            regret=float(result.final.mean()),
            low=float(low),
            high=float(high),
            per_1000=1000.0 * float(result.final.mean()) / case.horizon,
            best=name == best,
            tied=name in only_rewards and float(less) <= 0,
            ratio=ratio[0],
            ratio_low=ratio[1],
            ratio_high=ratio[2],
            to_oracle=to_oracle[0],
            to_oracle_low=to_oracle[1],
            to_oracle_high=to_oracle[2],
            difference=float(difference.mean()),
            difference_low=float(less),
            difference_high=float(more),
            shares=tuple(float(share) for share in shares),
            best_arm_share=best_arm_share,
        )
        rows.append(row)
    return rows


def _ratio_to(
    others: FloatArray | None, regret: FloatArray, case: Case
) -> tuple[float | None, float | None, float | None]:
    """The ratio to the others' regret with its interval, if there is one."""
    if others is None or not case.counted or others.mean() <= 0:
        return None, None, None
    return ratio_interval(regret, others)


def standings(rows: Sequence[Score]) -> list[Standing]:
    """Standings of all policies, the best first."""
    by_policy: dict[str, list[Score]] = {}
    for row in rows:
        if row.ratio is not None:
            by_policy.setdefault(row.policy, []).append(row)
    unordered = [_standing(own) for own in by_policy.values()]
    order = sorted(unordered, key=lambda standing: standing.typical)
    counted = [standing for standing in order if standing.group not in NOT_COUNTED]
    if not counted:
        return order
    best = by_policy[counted[0].policy]
    level = {one.policy for one in counted if is_level(by_policy[one.policy], best)}
    return [replace(one, level=one.policy in level) for one in order]


def is_level(own: Sequence[Score], best: Sequence[Score]) -> bool:
    """True if a policy is not told apart from the best on these problems.

    If they are too few to be a sample the runs on them are, and nothing is said of others.
    """
    if own[0].policy == best[0].policy:
        return True
    apart = told_apart(_logs(own), _logs(best))
    if apart is None:
        worse = plain_sum(_logs(own).values()) - plain_sum(_logs(best).values())
        error = math.sqrt(plain_sum(_variance(row) for row in (*own, *best)))
        apart = worse > normal_quantile(LEVEL) * error
    return not apart


def _variance(row: Score) -> float:
    """Of the log of the ratio, over the runs."""
    if not row.ratio or row.ratio_low is None or row.ratio_high is None:
        return 0.0
    half = (row.ratio_high - row.ratio_low) / 2
    return (half / row.ratio / normal_quantile(LEVEL)) ** 2


def _logs(rows: Sequence[Score]) -> dict[str, float]:
    """problem -> log of the ratio to the best"""
    return {row.problem: math.log(max(row.ratio or 0.0, LEAST_RATIO)) for row in rows}


def standings_by_kind(cases: Sequence[Case], rows: Sequence[Score]) -> dict[str, list[Standing]]:
    """kind of problem -> `standings` on the problems of that kind; the two directions first."""
    by_kind = {}
    for kind in sorted(kinds_of(cases), key=lambda kind: kind not in DIRECTIONS):
        names = {case.name for case in cases if kind in case.kinds}
        by_kind[kind] = standings([row for row in rows if row.problem in names])
    return by_kind


def _geometric_mean(ratios: Sequence[float]) -> float:
    return math.exp(plain_sum(map(math.log, ratios)) / len(ratios))


def _standing(own: Sequence[Score]) -> Standing:
    """The standing of one policy, from its scores."""
    ratios = [max(row.ratio or 0.0, LEAST_RATIO) for row in own]
    to_oracle = [max(row.to_oracle, LEAST_RATIO) for row in own if row.to_oracle is not None]
    worst = max(range(len(own)), key=ratios.__getitem__)
    ends = interval(_logs(own))
    return Standing(
        policy=own[0].policy,
        group=own[0].group,
        problems=len(own),
        per_1000=plain_sum(row.per_1000 for row in own) / len(own),
        typical=_geometric_mean(ratios),
        to_oracle=_geometric_mean(to_oracle) if to_oracle else None,
        worst=ratios[worst],
        worst_problem=own[worst].problem,
        good=sum(row.tied for row in own),
        low=ends and ends[0],
        high=ends and ends[1],
    )
