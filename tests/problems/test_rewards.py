"""What a learner is told: rewards other than 0, or a report of every pull."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import naive
import numpy as np
import pytest
from cases import PROBLEMS, policies

import patientbandits as pb
from patientbandits.policies import POLICIES
from patientbandits.policies.registry import problem_from
from patientbandits.research.study import read_study

pytestmark = pytest.mark.slow

REPORTS = {title: problem.with_feedback("reports") for title, problem in PROBLEMS.items()}
HEAVY = REPORTS["heavy tails"]


def same(a, b):
    return np.array_equal(a.regret, b.regret) and np.array_equal(a.pulls, b.pulls)


@pytest.mark.parametrize(
    "name", [name for name, kind in POLICIES.items() if kind.feedback == "rewards"]
)
def test_a_policy_that_needs_rewards_is_not_told_of_zeros(name):
    for policy in policies(name)[:1]:
        for title in ("heavy tails", "mixed"):
            assert same(
                pb.simulate(PROBLEMS[title], policy, 150, 4),
                pb.simulate(REPORTS[title], policy, 150, 4),
            ), (policy, title)


class Heard(NamedTuple):
    count: np.ndarray


@dataclass(frozen=True)
class Listener(pb.Policy):
    """Pulls at random and counts what it is told of."""

    feedback: ClassVar[str] = "reports"
    first_pulls: ClassVar[int] = 0

    def memory(self, arms, capacity):
        return Heard(np.zeros(2))

    def arrived(self, memory, delay, reward):
        memory.count[0] += 1.0
        memory.count[1] += 1000.0 * reward + delay

    def index(self, memory, random):
        return (random >> 11) * 1.0

    def trace(self, memory):
        return memory.count[0] + 1e-9 * memory.count[1]


@dataclass(frozen=True)
class RewardListener(Listener):
    feedback: ClassVar[str] = "rewards"


@pytest.mark.parametrize("kind", [Listener, RewardListener])
def test_what_is_announced(kind):
    """Every pull whose delay has passed, zeros only as reports; against the naive world."""
    horizon = 120
    for problem in (HEAVY, REPORTS["mixed"]):
        result = pb.simulate(problem, kind(), horizon, 1, seed=3, record=range(1, horizon + 1))
        pulls = naive.episode(problem.describe(), {"policy": "Uniform"}, horizon, seed=3)
        assert result.regret[0].tolist() == naive.regret(problem.describe(), pulls)
        heard = []
        for t in range(1, horizon + 1):
            told = [
                p
                for p in pulls
                if p.s < t and p.delay <= t - p.s and (kind is Listener or p.reward > 0)
            ]
            heard.append(len(told) + 1e-9 * sum(1000.0 * p.reward + p.delay for p in told))
        np.testing.assert_allclose(result.trace[0], heard, rtol=1e-12)


def test_a_loop_passes_reports_on():
    for kind, told in ((Listener, 2), (RewardListener, 1)):
        learner = pb.Bandit(kind(), ["a", "b"])
        for _ in range(3):
            learner.pull()
        learner.reward(1, 0.0)
        learner.reward(2, 1.0)
        assert learner._memory.count[0] == told


def test_reports_are_refused_where_there_are_none(tmp_path):
    text = """
horizon = 50
runs = 2
[problems.p]
means = [0.5, 0.6]
{}[policies.d]
policy = "QPMD"
base = {{policy = "UCB1"}}
"""
    file = tmp_path / "study.toml"
    file.write_text(text.format(""))
    message = r"^(simulate|Simulation): \w+ must be told of every pull.*; got feedback='rewards'\.$"
    for call in (
        lambda: pb.simulate(PROBLEMS["mixed"], pb.DelayedUCB1(), 50),
        lambda: pb.Simulation(PROBLEMS["mixed"], pb.SuccessiveElimination(), 50),
        lambda: read_study(file).simulations(),
    ):
        with pytest.raises(pb.InputError, match=message):
            call()
    file.write_text(text.format('feedback = "reports"\n'))
    (simulation,) = read_study(file).simulations().values()
    assert simulation.problem.feedback == "reports"
    assert simulation.policy == pb.QPMD(pb.UCB1())
    file.write_text(
        text.replace("means = [0.5, 0.6]", 'name = "homogeneous"').format('feedback = "report"\n')
    )
    with pytest.raises(
        pb.InputError,
        match=r"^problems\.p: .*feedback must be one of rewards, reports; got feedback='report'",
    ):
        read_study(file)


def test_feedback_is_carried():
    assert HEAVY.select([1, 0]).feedback == HEAVY.without_delays().feedback == "reports"
    assert problem_from(HEAVY.describe()) == HEAVY != PROBLEMS["heavy tails"]
    assert (
        "feedback" not in PROBLEMS["heavy tails"].describe()
    )  # as in files written before there was a choice
    assert problem_from(PROBLEMS["heavy tails"].describe()).feedback == "rewards"
    addresses = {
        pb.Simulation(problem, pb.UCB1(), 50).piece_name(0, 5)
        for problem in (HEAVY, PROBLEMS["heavy tails"])
    }
    assert len(addresses) == 2


@dataclass(frozen=True)
class Rumours(pb.Policy):
    feedback: ClassVar[str] = "rumours"

    def index(self, arm):
        return arm.rewards


def test_unknown_feedback_of_a_policy():
    with pytest.raises(
        pb.InputError,
        match=r"^Rumours: feedback must be one of rewards, reports; got feedback='rumours'",
    ):
        pb.Bandit(Rumours(), [0, 1])


def test_a_report_of_zero_is_no_conversion():
    learners = [pb.Bandit(pb.DelayedUCB1(), [0, 1]) for _ in range(2)]
    for learner in learners:
        for _ in range(10):
            learner.pull()
        learner.reward(1, 1.0, 11.0)
    learners[0].reward(2, 0.0, 11.0)
    one, other = (learner.posterior(time=12.0) for learner in learners)
    assert str(one) == str(other)  # it holds arrays
