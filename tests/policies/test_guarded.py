"""GuardedThompson: its region on every round, and what the guard is worth."""

from __future__ import annotations

import math

import naive
import pytest
from cases import ratio

import patientbandits as pb
from patientbandits.problems import catalogue as problems

pytestmark = pytest.mark.slow

OFF_FAMILY = pb.Problem([0.6, 0.8], [pb.Fixed(500), pb.Fixed(1)])
"""The worse arm pays after exactly 500 rounds."""


def test_the_guard_costs_little():
    guarded = pb.GuardedThompson(guard=pb.PatientKL(0.3, 10.0, c=3.0))
    assert (
        ratio(problems.heterogeneous("published"), guarded, pb.PatientThompson(), 5000, 100) <= 1.25
    )


STEPPED = pb.PatientKL(envelope=pb.Mixture([pb.Geometric(0.3), pb.Fixed(50)], [0.5, 0.5]), c=3.0)

MISLED = pb.Problem([0.2, 0.9], [pb.NoDelay(), pb.Fixed(10)])
"""Told that nothing counts after 5 rounds, the model takes the better arm for worthless."""


def rounds_of(problem, policy, rounds):
    """(chosen arm, arms that may be pulled, the model's probability of choosing one of these)

    Round by round; the second from exact sums over all pulls.
    """
    twin = naive.GuardedThompson()
    parameters = policy.describe()
    bandit = pb.Bandit(policy, range(problem.arms), rounds)
    world = naive.World(problem.describe(), rounds, 0, 0)
    pulls, due = [], {}
    for t in range(1, rounds + 1):
        for id in due.pop(t, []):
            bandit.reward(id, 1.0)
        view = naive.View(t, rounds, problem.arms, pulls, [], 0, 0, [])
        chosen = bandit.pull().arm
        allowed = twin.allowed(view, parameters["guard"], parameters["slack"])
        yield chosen, allowed, sum(float(bandit._memory.chances[arm]) for arm in allowed)
        pulls.append(world.pull(t, chosen))
        if pulls[-1].reward and pulls[-1].delay < math.inf:
            due.setdefault(t + max(pulls[-1].delay, 1), []).append(t)


@pytest.mark.parametrize(
    ("problem", "slack"),
    [
        (OFF_FAMILY, 0.5),
        (pb.Problem([0.3, 0.8, 0.75], [pb.Fixed(40), pb.Pareto(1.5), pb.Geometric(0.05)]), 0.0),
    ],
)
def test_the_guards_region_on_every_round(problem, slack):
    """The arm is one that may be pulled, by exact sums."""
    for chosen, allowed, _ in rounds_of(
        problem, pb.GuardedThompson(guard=STEPPED, slack=slack), 300
    ):
        assert chosen in allowed


def test_the_guard_overrules_the_model():
    """Where the model is misled: it wants the worse arm nearly always, and may not have it."""
    policy = pb.GuardedThompson(window=5, guard=STEPPED, slack=0.5)
    overruled = 0
    wanted = []
    for chosen, allowed, willing in rounds_of(MISLED, policy, 400):
        assert chosen in allowed
        overruled += willing < 0.1
        wanted.append(chosen)
    assert overruled > 150
    assert wanted[200:].count(1) > 150


def test_without_the_guard_it_is_lost():
    misled = pb.PatientThompson(window=5)
    guarded = pb.GuardedThompson(window=5, guard=STEPPED, slack=0.5)
    assert ratio(MISLED, guarded, misled, 2000, 20) < 0.2
