"""Early signals: a cart before the purchase."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import naive
import numpy as np
import pytest

import patientbandits as pb
from patientbandits.policies.registry import problem_from
from patientbandits.problems.drift import Shift
from patientbandits.research.study import read_study
from patientbandits.simulation.engine.episode import KernelPlan
from patientbandits.simulation.engine.run import Job

HORIZON, SEED, FIRST_RUN = 120, 5, 3
TWO = [0.5, 0.75]
LATE = [pb.Geometric(0.05), pb.Lomax(0.7, 10)]
CART = pb.Signal(0.8, 0.25, pb.Geometric(0.4))
CARTS = [CART, pb.Signal(0.5, 0.5, pb.UniformDelay(2, 9))]

WORLDS = {
    "carts": pb.Problem(TWO, LATE, signals=CARTS),
    "values": pb.Problem(TWO, LATE, pb.TwoPoint(0.25, 1.0), signals=CART),
    "window": pb.Problem(TWO, LATE, window=12, signals=CARTS),
    "batches": pb.Problem(TWO, LATE, batch=8, signals=CARTS),
    "drifting": pb.Problem(TWO, LATE, changes=[Shift(40, TWO[::-1])], signals=CARTS),
    "by reward": pb.Problem(TWO, LATE, low_delays=pb.Fixed(3), signals=CARTS),
    "three": pb.Problem([0.25, 0.5, 0.75], pb.Fixed(20), signals=CART),
}
PLAYERS = [
    pb.SignalThompson(window=20, signal_window=4),
    pb.SignalThompson(window=9.5, signal_window=9.5, borrowed=2.5),
    pb.SignalThompson(window=40, signal_window=1, borrowed=3.0),
]


@pytest.mark.parametrize("policy", PLAYERS, ids=lambda policy: policy.label)
def test_compiled_equals_naive(policy):
    for title, problem in WORLDS.items():
        every = range(1, HORIZON + 1)
        result = pb.simulate(
            problem, policy, HORIZON, 3, SEED, record=every, first_run=FIRST_RUN, workers=1
        )
        for run in (0, 2):
            pulls = naive.episode(
                problem.describe(), policy.describe(), HORIZON, SEED, FIRST_RUN + run
            )
            case = f"{policy.label}, {title}, run {run}"
            arms = [sum(p.arm == arm for p in pulls) for arm in range(problem.arms)]
            assert result.pulls[run].tolist() == arms, case
            path = naive.regret(problem.describe(), pulls)
            np.testing.assert_allclose(result.regret[run], path, rtol=1e-12, err_msg=case)
        slowly = pb.simulate(problem, policy, HORIZON, 1, SEED, first_run=FIRST_RUN, debug=True)
        assert np.array_equal(slowly.pulls[0], result.pulls[0])


class Heard(NamedTuple):
    signals: Any
    """(pull, delay, time, pull_time) of each signal, in the order in which they come"""
    count: Any


@dataclass(frozen=True)
class Listener(pb.Policy):
    """Arms in turn; writes down every signal."""

    first_pulls = 0

    def memory(self, arms, capacity):
        return Heard(np.zeros((capacity + 1, 5)), np.zeros(1, np.int64))

    def signalled(self, memory, arm, pull, delay, time, pull_time):
        line = memory.signals[memory.count[0]]
        line[0], line[1], line[2], line[3], line[4] = pull, delay, time, pull_time, arm.number
        memory.count[0] += 1

    def index(self, arm):
        return -float(arm.pulls)

    def trace(self, memory):
        total = 0.0
        for line in range(memory.count[0]):
            total += (line + 1) * memory.signals[line, 0]
        return total


def test_every_signal_is_heard_once_when_it_comes():
    """Of arms in turn, what is heard of is what the definition says, round by round."""
    for title, problem in WORLDS.items():
        result = pb.simulate(problem, Listener(), HORIZON, 1, SEED, record=range(1, HORIZON + 1))
        learner = pb.Bandit(Listener(), range(problem.arms), HORIZON, SEED)
        world = naive.World(problem.describe(), HORIZON, SEED, 0)
        pulls, heard = [], []
        for t in range(1, HORIZON + 1):
            due = [p for p in pulls if p.signal_heard == t]
            for p in reversed(due):
                learner.signal(p.s)
                heard.append(p.s)
            pulls.append(world.pull(t, learner.pull().arm))
            wanted = sum(place * s for place, s in enumerate(heard, 1))
            assert result.trace[0, t - 1] == wanted, (title, t)
        assert len(heard) > HORIZON / 8, title


def test_who_does_not_ask_meets_the_world_without():
    for policy in (pb.Thompson(), pb.PatientBandits(0.5), pb.DTS(batch=20, warmup=10)):
        for problem in WORLDS.values():
            plain = problem.with_signals(None)
            assert plain.signals is None
            with_them = pb.simulate(problem, policy, HORIZON, 4, SEED)
            without = pb.simulate(plain, policy, HORIZON, 4, SEED)
            assert np.array_equal(with_them.regret, without.regret)
            assert plan_of(problem, policy) == plan_of(plain, policy), "the same kernel"


def plan_of(problem: pb.Problem, policy: pb.Policy) -> KernelPlan:
    job = Job(problem, policy, np.array([HORIZON]), range(2), SEED, anytime=False)
    return job.plan


def test_signals_are_as_frequent_as_they_say():
    """8000 pulls of each arm, limits at 4.5 standard errors."""
    problem = pb.Problem([0.5, 0.75], pb.Never(), signals=CARTS)
    world = naive.World(problem.describe(), 60, SEED, 0)
    for arm, signal in enumerate(CARTS):
        for paid, chance in ((True, signal.if_paid), (False, signal.if_not)):
            pulls = [world.pull(t, arm) for t in range(1, 8001)]
            given = [p.signal < np.inf for p in pulls if (p.reward > 0) == paid]
            error = np.sqrt(chance * (1 - chance) / len(given))
            assert abs(np.mean(given) - chance) < 4.5 * error + 0.002
        delays = [p.signal for p in pulls if p.signal < np.inf]
        assert np.mean(delays) == pytest.approx(1 / 0.4 if arm == 0 else 5.5, rel=0.1)


def test_they_help_where_rewards_are_late_and_a_useless_one_does_not():
    """A third of the regret at least; signals that say nothing are no help, and no harm."""
    late = pb.Problem([0.2, 0.3], pb.Fixed(1500))
    told = late.with_signals(pb.Signal(0.9, 0.1, pb.Fixed(5)))
    mute = late.with_signals(pb.Signal(0.5, 0.5, pb.Fixed(5)))
    policy = pb.SignalThompson(window=1500, signal_window=5)
    waits = pb.simulate(late, pb.WindowThompson(1500), 3000, 100, SEED).final.mean()
    assert pb.simulate(told, policy, 3000, 100, SEED).final.mean() < 2 / 3 * waits
    useless = pb.simulate(mute, policy, 3000, 100, SEED).final.mean()
    assert useless == pytest.approx(waits, rel=0.2)


def test_an_arm_whose_signals_are_worth_less_is_found_out():
    """The worse arm gives more signals: whoever took them for rewards would stay with it."""
    signals = [pb.Signal(1.0, 0.6), pb.Signal(0.8, 0.05)]
    problem = pb.Problem([0.2, 0.4], pb.Fixed(50), signals=signals)
    policy = pb.SignalThompson(window=50, signal_window=1)
    result = pb.simulate(problem, policy, 6000, 100, SEED, record=[3000, 6000])
    first, whole = result.mean()
    assert whole - first < 0.1 * 0.2 * 3000, "hardly a pull of the worse arm in the second half"


def test_files_and_selections_bring_them_back(tmp_path):
    for problem in WORLDS.values():
        assert problem_from(problem.describe()) == problem
        turned = list(reversed(range(problem.arms)))
        assert problem.select(turned).signals == tuple(problem.signals[arm] for arm in turned)
    file = tmp_path / "study.toml"
    file.write_text(
        """
horizon = 100
[problems.shop]
means = [0.6, 0.4]
delays = {law = "Fixed", delay = 30}
signals = {if_paid = 0.9, if_not = 0.1, delays = {law = "Geometric", p = 0.5}}
[policies.a]
policy = "SignalThompson"
window = 30
signal_window = 5
"""
    )
    study = read_study(file)
    cart = pb.Signal(0.9, 0.1, pb.Geometric(0.5))
    assert study.problems["shop"] == pb.Problem([0.6, 0.4], pb.Fixed(30), signals=cart)
    assert study.policies["a"] == pb.SignalThompson(30, 5)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pb.Signal(1.5, 0.1), "if_paid must be"),
        (lambda: pb.Signal(0.5, float("nan")), "if_not must be"),
        (lambda: pb.Signal(0.5, 0.1, 3), "delays must be a delay law"),
        (lambda: pb.Problem(TWO, signals=[CART]), "signals must be one"),
        (lambda: pb.Problem(TWO, signals=[CART, 3]), "every one of signals must be a signal law"),
        (lambda: pb.Problem(TWO, rewards=pb.Beta(2), signals=CART), "signals must have rewards of"),
        (lambda: pb.SignalThompson(5, 10), "window must be at least signal_window=10"),
        (lambda: pb.SignalThompson(5, 0), "signal_window must be"),
        (lambda: pb.SignalThompson(5, 1, 0), "borrowed must be"),
        (lambda: pb.QPMD(pb.SignalThompson(5, 1)), "must do without early signals"),
        (lambda: pb.FloorMixture(pb.SignalThompson(5, 1)), "must do without early signals"),
        (
            lambda: pb.Bandit(pb.Thompson(), "ab"[:0] or ["a"]).signal(1),
            "id must be that of a pull",
        ),
    ],
)
def test_what_cannot_be_is_refused(make, message):
    with pytest.raises(pb.InputError, match=message):
        make()


def test_a_signal_is_reported_once():
    learner = pb.Bandit(pb.SignalThompson(5, 1), ["a", "b"])
    pull = learner.pull()
    learner.signal(pull.id)
    with pytest.raises(pb.InputError, match="a pull is signalled once"):
        learner.signal(pull.id)


def test_gymnasium_tells_the_same_signals():
    gym = pytest.importorskip("patientbandits.integrations.gym")
    for problem in WORLDS.values():
        env = gym.DelayedBandit(problem, HORIZON)
        env.reset(seed=SEED)
        world = naive.World(problem.describe(), HORIZON, SEED, 0)
        pulls = []
        for t in range(1, HORIZON):
            pulls.append(world.pull(t, t % problem.arms))
            *_, info = env.step(t % problem.arms)
            told = {(s.round, s.arm, s.delay) for s in info["signals"]}
            assert told == {(p.s, p.arm, p.signal) for p in pulls if p.signal_heard == t + 1}
