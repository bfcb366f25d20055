"""The field's policies: what they are told, what they are without delays, and what their parts compute."""

from __future__ import annotations

import math
import pickle
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import naive
import numpy as np
import pytest
from cases import LAW, PROBLEMS, policies

import patientbandits as pb
from patientbandits.engine.steps import (
    CONVERSION,
    DECISION,
    EVENT,
    MICRO,
    UNDECIDED,
    Counts,
    kernel_for_steps,
    policy_keys,
)
from patientbandits.policies import POLICIES
from patientbandits.policies.base import rule_of
from patientbandits.policies.bootstrapped import improve
from patientbandits.policies.fading import RELATIVE
from patientbandits.registry import problem_from
from patientbandits.result import Result
from patientbandits.study import read_study

REPORTS = {title: problem.with_feedback("reports") for title, problem in PROBLEMS.items()}
HEAVY = REPORTS["heavy tails"]


def same(a, b):
    return np.array_equal(a.regret, b.regret) and np.array_equal(a.pulls, b.pulls)


# --- feedback --------------------------------------------------------------------------------------------------------


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
    text = 'horizon = 50\nruns = 2\n[problems.p]\nmeans = [0.5, 0.6]\n{}[policies.d]\npolicy = "QPMD"\nbase = {{policy = "UCB1"}}\n'
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


@pytest.mark.parametrize(
    "policy",
    [pb.BootstrappedThompson(), pb.OTFLinUCB(20), pb.PatientBandits(0.3, bias="aged")],
    ids=lambda policy: policy.label,
)
def test_step_by_step_equals_the_loop(policy):
    """The live kernel, with the random bits that `refresh` asks for."""
    rule, memory, counts = (
        rule_of(policy, 3, horizon_known=False),
        policy.memory(3, 200),
        Counts(*np.zeros((2, 3), np.int64), np.zeros(3)),
    )
    kernel, keys, learner = (
        kernel_for_steps(rule, memory),
        policy_keys(5, 3),
        pb.Bandit(policy, range(3), seed=5),
    )
    generator = np.random.default_rng(2)
    for t in range(1, 151):
        event = np.array([(DECISION, UNDECIDED, t, float(t), 0.0, 0.0, 0, 0.0)], EVENT).view(
            np.recarray
        )
        assert kernel(tuple(rule.numbers), tuple(memory), counts, keys, event, True) == (0, 0)
        pull = learner.pull()
        assert event.arm[0] == pull.arm
        if generator.random() < (0.3, 0.4, 0.6)[pull.arm]:
            event = np.array(
                [(CONVERSION, pull.arm, t, t + 1.0, float(t), 1.0, MICRO, 0.0)], EVENT
            ).view(np.recarray)
            kernel(tuple(rule.numbers), tuple(memory), counts, keys, event, True)
            learner.reward(pull.id, 1.0)
    assert min(learner.pulls.values()) > 0


def test_a_report_of_zero_is_no_conversion():
    learners = [pb.Bandit(pb.DelayedUCB1(), [0, 1]) for _ in range(2)]
    for learner in learners:
        for _ in range(10):
            learner.pull()
        learner.reward(1, 1.0, 11.0)
    learners[0].reward(2, 0.0, 11.0)
    one, other = (learner.posterior(time=12.0) for learner in learners)
    assert str(one) == str(other)  # it holds arrays


# --- without delays --------------------------------------------------------------------------------------------------

BASES = [
    pb.UCB1(),
    pb.KLUCB(),
    pb.Thompson(),
    pb.PatientKL(0.3),
    pb.PatientBandits(0.3, bias="aged"),
    pb.AdaptPatientBandits(
        c=0.7, alpha_floor=0.2, mean_floor=0.6, ratio=0.35, penalty=0.3, width="published"
    ),
    pb.DUCB(LAW, 30, "wait"),
    pb.BootstrappedThompson(),
    pb.QPMD(pb.ArrivedThompson()),
]


@pytest.mark.parametrize(
    ("delayed", "plain"),
    [
        (pb.DelayedUCB1(), pb.UCB1()),
        (pb.ArrivedThompson(), pb.Thompson()),
        *((pb.QPMD(base), base) for base in BASES),
    ],
    ids=lambda policy: policy.label,
)
def test_without_delays_nothing_has_changed(delayed, plain):
    for problem in (REPORTS["no delay"], REPORTS["mixed"].without_delays()):
        one, other = (
            pb.simulate(problem, policy, 300, 6, seed=2, record=range(1, 301))
            for policy in (delayed, plain)
        )
        assert same(one, other)
        assert (one.trace is None) == (other.trace is None)
        assert one.trace is None or np.array_equal(one.trace, other.trace)
    if plain.feedback == "rewards":
        assert not same(pb.simulate(HEAVY, delayed, 300, 6), pb.simulate(HEAVY, plain, 300, 6))


# --- each by itself --------------------------------------------------------------------------------------------------


def test_elimination_equals_naive_and_is_for_ever():
    problem = pb.Problem(
        [0.05, 0.95, 0.85, 0.25],
        [pb.Geometric(0.2), pb.Pareto(0.5), pb.NoDelay(), pb.Fixed(9)],
        feedback="reports",
    )
    policy, horizon = pb.SuccessiveElimination(), 800
    result = pb.simulate(problem, policy, horizon, 3, seed=6, record=range(1, horizon + 1))
    for run in range(3):
        pulls = naive.episode(problem.describe(), policy.describe(), horizon, 6, run)
        assert result.regret[run].tolist() == naive.regret(problem.describe(), pulls)
        last = [max(p.s for p in pulls if p.arm == arm) for arm in range(4)]
        assert last[0] < last[3] < 700 < last[1]  # out one after the other
        for arm in (0, 3):
            before = [sum(p.arm == i and p.s <= last[arm] for p in pulls) for i in range(4)]
            assert max(before) - before[arm] <= 1  # in turn as long as it was in
    assert problem.describe()["feedback"] == "reports"


def test_qpmd_is_content_and_travels(tmp_path):
    policy = pb.QPMD(pb.DUCB(LAW, 20))
    assert pickle.loads(pickle.dumps(policy)) == policy
    assert policy.label == f"QPMD({policy.base.label})"
    result = pb.simulate(HEAVY, policy, 50, 2)
    result.save(tmp_path / "r.npz")
    assert Result.load(tmp_path / "r.npz").policy == policy
    kinds = [pb.QPMD(base) for base in (pb.UCB1(), pb.MOSS(), pb.KLUCB(), pb.KLUCB(1.0))]
    addresses = [pb.Simulation(HEAVY, kind, 50).piece_name(0, 5) for kind in kinds]
    assert len(set(addresses)) == 4
    assert addresses == [pb.Simulation(HEAVY, kind, 50).piece_name(0, 5) for kind in kinds]
    assert (
        rule_of(pb.QPMD(pb.KLUCB()), 2, True).hooks
        == rule_of(pb.QPMD(pb.KLUCB(1.0)), 2, True).hooks
    )  # one kernel


def test_qpmd_loses_little_to_delays_where_waiting_costs():
    """Joulani's bound: the base's regret plus gap times the pulls under way, here at most 40 of each arm."""
    late = pb.Problem([0.3, 0.7], pb.Fixed(40), feedback="reports")
    base = pb.simulate(late.without_delays(), pb.UCB1(), 2000, 100, seed=1)
    queued = pb.simulate(late, pb.QPMD(pb.UCB1()), 2000, 100, seed=1)
    assert 0 < queued.mean()[-1] - base.mean()[-1] <= 0.4 * 40


def test_queues_are_in_order_of_arrival_then_of_pull():
    memory = pb.QPMD(pb.UCB1()).memory(2, 50)
    from patientbandits.policies.queued import enqueue

    generator = np.random.default_rng(1)
    waiting, time = [], 0.0
    for pull in generator.permutation(50) + 1:
        time += float(generator.random() < 0.3)
        memory.arrived_at[pull] = time
        enqueue(memory, 1, int(pull))
        waiting.append((time, int(pull)))
    listed, pull = [], memory.first[1]
    while pull:
        listed.append(int(pull))
        pull = memory.after[pull]
    assert listed == [pull for _, pull in sorted(waiting)]
    assert memory.last[1] == listed[-1]
    assert memory.first[0] == memory.last[0] == 0


def test_otf_knows_which_pulls_are_undecided():
    """Those of the last m units of time, on the user's clock, and rewards that came within m."""
    bandit = pb.Bandit(pb.OTFLinUCB(window=10), ["a", "b"], horizon=100)
    for time in [1.0, 2.5, 4.0, 11.0, 11.5]:
        bandit.pull(time)
    bandit.reward(1, 1.0, 12.0)  # after 11: too late
    bandit.reward(2, 1.0, 12.5)  # after 10
    bandit.pull(12.5)
    assert bandit._memory.recent.sum() == 5  # without the first
    assert bandit._memory.early.sum() == 1.0
    bandit.pull(1000.0)
    assert bandit._memory.recent.sum() == 1


@pytest.mark.parametrize(
    "times",
    [[float(t) for t in range(1, 400)], [1.7e9 + 0.3 * t + 500 * (t // 150) for t in range(400)]],
)
def test_bias_of_the_ages(times):
    """Not below (1/n) sum of (age v 1)^-alpha, and at most 0.1 % above it; never above the bias "sum", which assumes the worst."""
    policy = pb.PatientBandits(0.3, bias="aged")
    bandit, made = pb.Bandit(policy, [0, 1], horizon=len(times)), []
    for time in times:
        ages = [[math.floor(time) - math.floor(s) for s, arm in made if arm == i] for i in range(2)]
        made.append((time, bandit.pull(time).arm))
        for i, weight in enumerate(bandit._memory.weight):
            literal = sum(max(age, 1) ** -0.3 for age in ages[i])
            assert literal - 1e-9 <= len(ages[i]) - weight <= literal * (1 + RELATIVE) + 1e-9
            if times[0] == 1.0:
                assert literal <= sum(v**-0.3 for v in range(1, len(ages[i]) + 1)) + 1e-9


def test_only_aged_has_a_memory():
    """The other biases keep their short way: a bonus of the pulls alone, tabulated."""
    for bias in ("paper", "sum", "published"):
        policy = pb.PatientBandits(0.3, bias=bias)
        rule = rule_of(policy, 2, horizon_known=True)
        assert rule.from_bonus
        assert rule.lasting
        assert not policy.memory(2, 10)
        assert set(rule.hooks) == {"bonus"}
    aged = rule_of(pb.PatientBandits(0.3, bias="aged"), 2, horizon_known=True)
    assert not aged.lasting
    assert set(aged.hooks) == {"pulled", "refresh", "index"}


def test_aged_beats_sum():
    """The same guarantee with a smaller bias: in trials 0.59 of the regret, standard error 0.024: the bar is six of them away."""
    regrets = [
        pb.simulate(
            PROBLEMS["heavy tails"], pb.PatientBandits(0.3, "tight", bias), 3000, 100, seed=1
        ).mean()[-1]
        for bias in ("aged", "sum")
    ]
    assert regrets[0] <= 0.75 * regrets[1]


def test_em_finds_the_truth():
    """Fed with expected counts, pulls of all ages, EM ends at the true rates and the true law of delays."""
    rates, law, pulls = [0.3, 0.8], np.array([0.5, 0.0, 0.2, 0.2, 0.1]), 100.0  # delays 1..5
    memory = pb.BootstrappedThompson(replicates=1).memory(2, 1)
    tau = np.append(np.cumsum(law), [1.0, 1.0])
    memory.rate[:] = 0.5
    for arm, p in enumerate(rates):
        for age in range(1, 8):  # bins 0..6 hold one age each
            memory.waiting[arm, age - 1, 0] = pulls * (1 - p * tau[age - 1])
            for delay in range(1, min(age, 5) + 1):
                memory.converted[delay - 1, 0] += pulls * p * law[delay - 1]
            memory.conversions[arm, 0] += pulls * p * tau[age - 1]
            memory.pulls[arm, 0] += pulls
    assert np.all(
        np.abs(memory.conversions[:, 0] / memory.pulls[:, 0] - rates) > 0.04
    )  # zeros at face value: far off
    for _ in range(300):
        improve(memory, 0, 6)
    np.testing.assert_allclose(memory.rate[:, 0], rates, rtol=1e-6)
    np.testing.assert_allclose(memory.survival[:7, 0], 1 - tau, atol=1e-6)


def test_bootstrapped_thompson_at_the_extremes():
    for means, delays in (
        ([0.5, 0.5], pb.Never()),
        ([1.0, 1.0], pb.NoDelay()),
        ([0.0, 0.0], pb.NoDelay()),
    ):
        result = pb.simulate(pb.Problem(means, delays), pb.BootstrappedThompson(), 1000, 4, seed=1)
        assert np.all(result.pulls >= 1)
        assert np.all(result.pulls.sum(axis=1) == 1000)
