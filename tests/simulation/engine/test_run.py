"""Exact identities: two ways to the same numbers, equal to the last bit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import pytest
from cases import PROBLEMS, fit_for, policies, policy_names

import patientbandits as pb

ALL = pytest.mark.parametrize("name", policy_names())

HESITANT = ("SuccessiveElimination", "OptimisticElimination")

HEAVY, MIXED = PROBLEMS["heavy tails"], PROBLEMS["mixed"]


def same(a, b):
    return np.array_equal(a.regret, b.regret) and np.array_equal(a.pulls, b.pulls)


@ALL
def test_no_delay(name):
    """A delay of 0 or 1 cannot be told from none:
    a reward is seen at the next decision at the earliest.
    """
    for policy in policies(name):
        heavy = fit_for(policy, HEAVY)
        oracle = pb.simulate(heavy.without_delays(), policy, 300, 5, seed=1)
        for law in (
            pb.Fixed(0),
            pb.Fixed(1),
            pb.Geometric(1),
            pb.Mixture([pb.NoDelay(), pb.Fixed(1)], [0.5, 0.5]),
        ):
            soon = pb.Problem(HEAVY.means, law, feedback=policy.feedback)
            assert same(oracle, pb.simulate(soon, policy, 300, 5, seed=1)), (policy, law)
        changes = name not in ("Uniform", *HESITANT)  # who eliminate nobody in 300 rounds
        assert same(oracle, pb.simulate(heavy, policy, 300, 5, seed=1)) != changes, policy


@ALL
def test_never_is_no_feedback(name):
    """Rewards that never come, come after the horizon, or are all 0: the same decisions.

    (A report of 0 is one, if it comes.)
    """
    for policy in policies(name):
        silent = pb.Never() if policy.feedback == "reports" else pb.NoDelay()
        pulls = pb.simulate(
            pb.Problem([0.0, 0.0], silent, feedback=policy.feedback), policy, 300, 5, seed=2
        ).pulls
        for law in (pb.Never(), pb.Fixed(300), pb.Fixed(2**62)):
            problem = pb.Problem([0.6, 0.8], law, feedback=policy.feedback)
            np.testing.assert_array_equal(
                pb.simulate(problem, policy, 300, 5, seed=2).pulls, pulls, str(policy)
            )


@ALL
def test_permuting_arms_permutes_pulls(name):
    for title, order in (("mixed", [2, 0, 1]), ("30 arms", [(7 * i) % 30 for i in range(30)])):
        problem = PROBLEMS[title]
        for policy in policies(name):
            if getattr(policy, "mode", None) == "wait":
                continue  # plays the arms in turn at first: their order matters
            told = fit_for(policy, problem)
            straight = pb.simulate(told, policy, 200, 5, seed=3)
            permuted = pb.simulate(told.select(order), policy, 200, 5, seed=3)
            np.testing.assert_array_equal(permuted.pulls, straight.pulls[:, order], str(policy))
            np.testing.assert_allclose(permuted.regret, straight.regret, rtol=1e-12)


@ALL
def test_workers_and_pieces_do_not_matter(name):
    for policy in policies(name)[-1:]:
        problem = fit_for(policy, HEAVY)
        if name in (
            "SuccessiveElimination",
            "OptimisticElimination",
        ):  # a gap that is found in 200 rounds
            problem = pb.Problem([0.0, 1.0], pb.Pareto(0.5), feedback="reports")
        whole = pb.simulate(problem, policy, 200, 20, seed=4, workers=1)
        assert same(whole, pb.simulate(problem, policy, 200, 20, seed=4, workers=2))
        parts = [
            pb.simulate(problem, policy, 200, 10, seed=4, first_run=first) for first in (0, 10)
        ]
        np.testing.assert_array_equal(np.concatenate([part.regret for part in parts]), whole.regret)
        assert not same(whole, pb.simulate(problem, policy, 200, 20, seed=5))
        assert len(np.unique(whole.regret[:, -1])) > 1  # runs differ


@dataclass(frozen=True)
class WidthOnly(pb.Policy):
    """UCB with the paper's width and no bias."""

    def bonus(self, pulls, arms, horizon):
        return math.sqrt(2.0 * math.log(2.0 * arms * horizon**3) / pulls)


def test_tiny_alpha_is_plain_ucb():
    """n^-alpha tends to 1 as alpha tends to 0: the bias is the same for all arms."""
    for problem in (HEAVY, PROBLEMS["30 arms"]):
        ucb = pb.simulate(problem, WidthOnly(), 400, 8)
        assert same(ucb, pb.simulate(problem, pb.PatientBandits(alpha=1e-300), 400, 8))
        assert not same(ucb, pb.simulate(problem, pb.PatientBandits(alpha=0.2), 400, 8))


class Paid(NamedTuple):
    by_pull: np.ndarray


@dataclass(frozen=True)
class Every(pb.Policy):
    """Pulls arm 0 in every ``step``-th round, arm 1 otherwise.

    Records what the pull of each round has paid at its end.
    """

    step: int
    first_pulls: ClassVar[int] = 0

    def memory(self, arms, capacity):
        return Paid(np.zeros(capacity + 2))

    def arrived(self, memory, pull, reward):
        memory.by_pull[pull] = reward

    def index(self, arm, round):
        return 1.0 if (arm.number == 0) == (round % self.step == 0) else 0.0

    def trace(self, memory, round):
        return memory.by_pull[round - 1]


def test_every_policy_meets_the_same_world():
    problem = pb.Problem([0.5, 0.5], rewards=[pb.Beta(), pb.Beta(2)])
    one, three = (
        pb.simulate(problem, Every(step), 90, 3, record=range(1, 91)).trace for step in (1, 3)
    )
    pulled = np.arange(
        90
    )  # column t - 1 shows the pull of round t - 1, of arm 0 in both if 3 divides it
    both = (pulled % 3 == 0) & (pulled > 0)
    np.testing.assert_array_equal(one[:, both], three[:, both])
    assert not np.any(one[:, pulled % 3 != 0] == three[:, pulled % 3 != 0])


ASK_FOR_THE_HORIZON = {
    "PatientBandits",
    "ScheduledPatientBandits",
    "AdaptPatientBandits",
    "MOSS",
    "OTFLinUCB",
    "SuccessiveElimination",
    "PhasedElimination",
    "OptimisticElimination",
}


@ALL
def test_unknown_horizon(name):
    """It matters exactly to those that ask for it.

    Then what happens early does not depend on how long it goes on.
    """
    policy = policies(name)[0]
    problem = fit_for(policy, HEAVY)
    if name in (
        "SuccessiveElimination",
        "OptimisticElimination",
    ):  # a gap that is found in 200 rounds
        problem = pb.Problem([0.0, 1.0], pb.Pareto(0.5), feedback="reports")
    known, unknown = (
        pb.simulate(problem, policy, 200, 5, record=range(1, 201), anytime=anytime)
        for anytime in (False, True)
    )
    assert same(known, unknown) == (name not in ASK_FOR_THE_HORIZON)
    longer = pb.simulate(problem, policy, 300, 5, record=range(1, 301), anytime=True)
    np.testing.assert_array_equal(longer.regret[:, :200], unknown.regret)
