"""What the guaranteed bounds need and give, each with the example that would break it."""

from __future__ import annotations

import inspect
import math
from types import SimpleNamespace

import numpy as np
import pytest

import patientbandits as pb
from patientbandits.policies.guarded import bound_means, region_memory


@pytest.mark.parametrize(("bias", "holds"), [("aged", True), ("sum", False), ("paper", False)])
def test_many_pulls_in_one_unit_of_time(bias, holds):
    """10 000 pulls of an arm that always pays within one unit, decision at the next.

    Nothing can be visible yet. A bias that takes the n-th last pull for n units old puts the upper
    bound at about 0.3, far below the mean of 1: hence its condition, at most one pull per unit.
    """
    pulls = 10_000
    policy = pb.PatientBandits(0.3, width="tight", bias=bias)
    bandit = pb.Bandit(policy, ["late"], horizon=pulls + 1)
    for made in range(pulls):
        bandit.pull(made / pulls)
    bandit._call("refresh", pulls + 1, time=1.0)
    rule = bandit._rule
    if bias == "aged":
        arm = bandit._arm(0)
        upper = rule.formula(
            rule.numbers, bandit._memory, arm, pulls + 1, 1.0, float(pulls + 1), 1, 0
        )
    else:
        upper = rule.formula(
            rule.numbers, bandit._memory, pulls, pulls + 1, 1.0, float(pulls + 1), 1, 0
        )
    assert (upper >= 1) == holds
    words = " ".join(inspect.getdoc(pb.PatientBandits).split())
    assert '"paper" and "sum" need at most one pull per unit of time' in words


RUNS = 500
DECISION = 200
MEANS = (0.05, 0.5, 0.95)
LOOKS = sorted({int(1.2**k) for k in range(4, 29)} | {DECISION - 1})


def misses(c, shrink=1.0):
    """How many of `RUNS` for each mean a bound misses, if whoever pulls stops when it likes.

    (of U, of L): pulls in rounds 1, 2, ..., n, the decision is that of round 200, n is chosen to
    hurt. The delays are those of the envelope. ``shrink``: of the level, as if t were t^shrink.
    """
    random = np.random.default_rng(4)
    ages = DECISION - np.arange(1, DECISION)
    shown = 1 - pb.Pareto(0.3).survival(ages)
    memory = SimpleNamespace(**region_memory(RUNS), weight=np.zeros(RUNS))
    rounds = max(3, int(DECISION**shrink))
    missed = np.zeros(2, int)
    for mean in MEANS:
        paid = random.random((RUNS, DECISION - 1)) < mean
        visible = paid & (random.random(paid.shape) < shown)
        above = np.zeros(RUNS, bool)
        below = np.zeros(RUNS, bool)
        for n in LOOKS:
            memory.made_pulls[:] = n
            memory.arrived_rewards[:] = visible[:, :n].sum(axis=1)
            memory.weight[:] = shown[:n].sum()
            bound_means(SimpleNamespace(c=c), memory, rounds)
            above |= memory.upper < (1 - 1 / DECISION) * mean
            memory.arrived_rewards[:] = paid[:, :n].sum(axis=1)
            bound_means(SimpleNamespace(c=c), memory, rounds)
            below |= 1 - memory.lower < (1 - 1 / DECISION) * (1 - mean)
        missed += above.sum(), below.sum()
    return missed


def test_both_ends_of_the_guards_region():
    """(1 - 1/t) mean <= U and (1 - 1/t)(1 - mean) <= 1 - L, but for the theorem's probability.

    Over 1500 runs that allows 8.7 misses of each; more than 23 have a probability below 1e-4. For
    L every reward is visible at once, which is its worst case. A tenth of the level must fail.
    """
    f = math.log(DECISION) + 3 * math.log(math.log(DECISION))
    allowed = math.e * (f * math.log(2 * DECISION) + 2) * math.exp(-f) * RUNS * len(MEANS)
    limit = allowed + 5 * math.sqrt(allowed)
    assert 8 < allowed < 9
    assert max(misses(c=3.0)) <= limit
    assert min(misses(c=0.0, shrink=0.25)) > limit
