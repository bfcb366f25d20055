"""PatientThompson: its regret, its counts of ages, the extremes."""

from __future__ import annotations

import random

import numpy as np
import pytest
from cases import ratio

import patientbandits as pb
from patientbandits.inference.posterior.grid import bin_at, bin_edges
from patientbandits.policies.parts.late_counts import grow_older
from patientbandits.problems import catalogue as problems

pytestmark = pytest.mark.slow

BARS = {
    "heterogeneous": (problems.heterogeneous, 5000, (0.1, 0.5), 0.25),
    "homogeneous": (problems.homogeneous, 5000, (0.1, 0.5), 0.5),
    "alpha_sweep": (problems.alpha_sweep, 3000, (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5), 0.75),
}
"""problem, horizon, PatientBandits' alphas,
and PatientThompson's largest share of the regret of the best of them.
"""


@pytest.mark.parametrize("name", BARS)
def test_patient_thompson_on_the_papers_problems(name):
    """The bars, with 200 runs."""
    problem, horizon, alphas, bar = BARS[name]

    def final(policy):
        result = pb.simulate(problem("published"), policy, horizon, 200, seed=2020)
        return result.final.mean()

    best = min(
        final(pb.PatientBandits(alpha, width="published", bias="published")) for alpha in alphas
    )
    assert final(pb.PatientThompson()) <= bar * best


def test_patient_thompson_without_delays():
    assert ratio(pb.Problem([0.6, 0.8]), pb.PatientThompson(), pb.KLUCB(), 5000, 100) <= 1.2


BOUNDED = {
    "fixed": pb.Fixed(300),
    "uniform": pb.UniformDelay(100, 500),
    "two modes": pb.Mixture([pb.Geometric(0.2), pb.UniformDelay(400, 600)], [0.3, 0.7]),
}


@pytest.mark.parametrize("law", BOUNDED)
def test_bounded_delays_on_the_worse_arm(law):
    """The regret comes to rest: in the second half it is a twentieth of staying with that arm.

    A heavy tail for every arm extrapolates for ever: linear, worse than playing at random.
    """
    problem = pb.Problem([0.4, 0.5], [BOUNDED[law], pb.Geometric(0.2)])
    result = pb.simulate(problem, pb.PatientThompson(), 8000, 12, seed=7, record=[4000, 8000])
    later = result.regret[:, 1] - result.regret[:, 0]
    assert later.mean() < 0.1 * 4000 / 20


def test_patient_thompson_when_nothing_or_everything_arrives():
    for means, delays in (
        ([0.5, 0.5], pb.Never()),
        ([1.0, 1.0], pb.NoDelay()),
        ([0.0, 0.0], pb.NoDelay()),
    ):
        result = pb.simulate(pb.Problem(means, delays), pb.PatientThompson(), 2000, 4, seed=1)
        assert np.all(result.pulls >= 5)  # no arm is lost
        assert np.all(result.pulls.sum(axis=1) == 2000)


def clock_of_seconds(events):
    """Times that stand still, run and pause for an hour or a year."""
    pick, now = random.Random(5), 1.7e9
    for _ in range(events):
        now += pick.choice(
            [0.0, 0.0, 0.01, 0.4, 1.0, 7.3, 90.0, 3600.0] + [3.2e7] * (pick.random() < 0.1)
        )
        yield now


def counted(memory, made, paid, now):
    """Whether the counts are those of the definition:
    waiting by age at ``now``, converted by delay.
    """
    waiting, converted = np.zeros_like(memory.waiting), np.zeros_like(memory.converted)
    for pull, (arm, when) in made.items():
        if pull in paid:
            converted[arm, bin_at(bin_edges(), paid[pull])] += 1
        else:
            waiting[arm, bin_at(bin_edges(), now - when)] += 1
    return np.array_equal(memory.waiting, waiting) and np.array_equal(memory.converted, converted)


def test_ages_are_exact_at_every_decision():
    """On a clock of seconds, with rewards reported late and some taken back.

    Against counts from the whole history.
    """
    policy, pick = pb.PatientThompson(), random.Random(1)
    memory, numbers, made, paid = policy.memory(3, 800), policy.numbers(3), {}, {}
    kind, taken_back = type(policy), 0
    for pull, now in enumerate(clock_of_seconds(800), 1):
        for id in pick.sample(sorted(made), min(len(made), 2)):
            arm, when = made[id]
            if id not in paid and pick.random() < 0.4:
                paid[id] = pick.random() * (now - when)  # it happened earlier than it is reported
                kind.arrived(numbers, memory, pb.Arm(arm, 1, 1.0), id, paid[id], 1.0)
            elif id in paid and pick.random() < 0.3:
                kind.retracted(numbers, memory, pb.Arm(arm, 1, 1.0), id, paid.pop(id), 1.0)
                taken_back += 1
        grow_older(memory, now)
        assert counted(memory, made, paid, now), pull
        assert memory.conversions_of.sum() == memory.paid.sum() == len(paid)
        assert np.all(memory.waiting[:, memory.marks[1] :] == 0)
        assert np.all(memory.converted[:, memory.marks[1] :] == 0)
        made[pull] = (pick.randrange(3), now)
        kind.pulled(numbers, memory, pb.Arm(made[pull][0], 1, 0.0), pull, now)
    assert taken_back > 50
    assert memory.waiting[:, 40:].sum() > 0  # very old ones too


@pytest.mark.parametrize(
    "policy",
    [pb.PatientThompson(), pb.GuardedThompson(guard=pb.PatientKL(0.3, c=3.0))],
    ids=["free", "guarded"],
)
def test_what_is_taken_back_was_never_there(policy):
    def counts(returns):
        bandit = pb.Bandit(policy, ["a", "b"], horizon=60)
        for time in range(1, 41):
            bandit.pull(float(time))
        memory, known = (
            bandit._memory,
            {
                "arm": pb.Arm(bandit._made[9][0], 0, 0.0),
                "pull": 10,
                "reward": 1.0,
                "time": 40.0,
                "pull_time": 10.0,
            },
        )
        for hook in ("arrived", "retracted") if returns else ():
            bandit._call(hook, 0, delay=23.5, **known)
            bandit._call("refresh", 41, time=50.0 if hook == "arrived" else 55.0)
        bandit._call("refresh", 41, time=60.0)
        grow_older(memory, 60.0)
        return [
            getattr(memory, name).tolist()
            for name in ("waiting", "converted", "conversions_of", "paid", "waits_on", "crossed")
        ]

    assert counts(True) == counts(False)
