"""GuardedThompson: its region on every round, and what the guard is worth."""

from __future__ import annotations

import math

import naive
from cases import ratio

import patientbandits as pb
from patientbandits import problems

OFF_FAMILY = pb.Problem([0.6, 0.8], [pb.Fixed(500), pb.Fixed(1)])
"""The worse arm pays after exactly 500 rounds: no Lomax law is like that."""


def test_the_guard_costs_little():
    guarded = pb.GuardedThompson(guard=pb.PatientKL(0.3, 10.0, c=3.0))
    assert (
        ratio(problems.heterogeneous("published"), guarded, pb.PatientThompson(), 5000, 100) <= 1.25
    )


def test_the_guards_region_on_every_round():
    """The arm is one that may be pulled, by exact sums; and the guard does have to intervene."""
    excluded = 0
    for problem, slack in (
        (OFF_FAMILY, 0.5),
        (pb.Problem([0.3, 0.8, 0.75], [pb.Fixed(40), pb.Pareto(1.5), pb.Geometric(0.05)]), 0.0),
    ):
        policy = pb.GuardedThompson(
            guard=pb.PatientKL(
                envelope=pb.Mixture([pb.Geometric(0.3), pb.Fixed(50)], [0.5, 0.5]), c=3.0
            ),
            slack=slack,
        )
        twin, parameters = naive.GuardedThompson(), policy.describe()
        bandit, world, due = (
            pb.Bandit(policy, range(problem.arms), 400),
            naive.World(problem.describe(), 400, 0, 0),
            {},
        )
        pulls = []
        for t in range(1, 401):
            for id in due.pop(t, []):
                bandit.reward(id, 1.0)
            view = naive.View(t, 400, problem.arms, pulls, [], 0, 0, [])
            chosen = bandit.pull().arm
            allowed = twin.allowed(view, parameters["guard"], parameters["slack"])
            assert chosen in allowed
            excluded += len(allowed) < problem.arms
            pulls.append(world.pull(t, chosen))
            if pulls[-1].reward and pulls[-1].delay < math.inf:
                due.setdefault(t + max(pulls[-1].delay, 1), []).append(t)
    assert excluded > 100
