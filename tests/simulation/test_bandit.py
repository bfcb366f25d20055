"""A policy in the user's own loop decides as in a simulation,
and Theorem 4's two problems look the same to it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import naive
import numpy as np
import pytest
from cases import PROBLEMS, fit_for, policies, policy_names, regret

import patientbandits as pb
from patientbandits.policies import POLICIES
from patientbandits.simulation import bandit

ALL = pytest.mark.parametrize("name", policy_names())


def loop(policy, problem, rounds, seed=0, run=0, horizon=None):
    """The arms that `Bandit` chooses, round by round, in the naive world."""
    learner = pb.Bandit(policy, range(problem.arms), horizon, seed, run)
    world, due, arms = naive.World(problem.describe(), rounds, seed, run), {}, []
    for t in range(1, rounds + 1):
        for id, value in due.pop(t, []):
            learner.reward(id, value)
        pull = learner.pull()
        outcome = world.pull(t, pull.arm)
        if outcome.reward > 0 or problem.feedback == "reports":
            due.setdefault(t + max(outcome.delay, 1), []).append((pull.id, outcome.reward))
        arms.append(pull.arm)
    return arms


@pytest.mark.parametrize("name", policy_names("PatientThompson"))
def test_loop_equals_simulation(name):
    for policy in policies(name):
        for title in ("mixed", "30 arms"):
            problem = fit_for(policy, PROBLEMS[title])
            result = pb.simulate(problem, policy, 120, 1, seed=8, first_run=2, record=range(1, 121))
            assert (
                regret(problem, loop(policy, problem, 120, 8, 2, 120)) == result.regret[0].tolist()
            ), (policy, title)


@ALL
@pytest.mark.parametrize(
    ("room", "rounds"), [pytest.param(1024, 1100, marks=pytest.mark.slow), (4, 200)]
)
def test_loop_without_horizon_equals_simulation(monkeypatch, name, room, rounds):
    """When its room is used up the bandit makes more and plays its log again.

    (D-UCB "uncensored" then fits its tail anew.)
    """
    assert bandit.FIRST_CAPACITY == 1024
    monkeypatch.setattr(bandit, "FIRST_CAPACITY", room)
    chosen = [policy for policy in policies(name) if getattr(policy, "mode", None) != "uncensored"]
    for policy in chosen[1:] or chosen:
        problem = fit_for(policy, PROBLEMS["heavy tails"])
        result = pb.simulate(
            problem, policy, rounds, 1, seed=9, record=range(1, rounds + 1), anytime=True
        )
        assert regret(problem, loop(policy, problem, rounds, 9)) == result.regret[0].tolist(), (
            policy
        )


def test_what_is_counted():
    learner = pb.Bandit(pb.UCB1(), ["a", "b"])
    pulls = [learner.pull() for _ in range(20)]
    for pull in pulls[::2]:
        learner.reward(pull.id, 0.5)
    assert [pull.id for pull in pulls] == list(range(1, 21))
    assert [pull.time for pull in pulls] == list(range(1, 21))
    for arm in "ab":
        assert learner.pulls[arm] == sum(pull.arm == arm for pull in pulls)
        assert learner.rewards[arm] == sum(0.5 for pull in pulls[::2] if pull.arm == arm)


class Pair:
    """Theorem 4's problems on one probability space:
    B is drawn from (w, v), A from the u that they determine.
    """

    def __init__(self, horizon, alpha, seed):
        self.a, self.b = pb.problems.indistinguishable_pair(horizon, alpha)
        self.p, self.horizon = horizon**-alpha, horizon
        self.w, self.v, self.first = np.random.default_rng(seed).random((3, horizon))

    def visible_in_a(self, t, arm):
        """u = (1 - p) w where v >= p, else 1 - p + v, is uniform if w and v are."""
        w, v, p = self.w[t], self.v[t], self.p
        assert self.a.delays[arm].inverse(v) == 0
        u = self.first[t] if arm == 0 else (1 - p) * w if v >= p else 1 - p + v
        return float(u < self.a.means[arm])

    def visible_in_b(self, t, arm):
        late = self.b.delays[arm].inverse(self.v[t])
        assert late in (0, self.horizon)
        return float((self.first[t] if arm == 0 else self.w[t]) < self.b.means[arm] and late == 0)


def decisions(policy, horizon, visible):
    """The arms chosen, and what was seen of them."""
    learner, seen = pb.Bandit(policy, [0, 1], horizon), []
    for t in range(horizon):
        pull = learner.pull()
        seen.append((pull.arm, visible(t, pull.arm)))
        learner.reward(pull.id, seen[-1][1])
    return seen


@pytest.mark.parametrize(
    "name", policy_names(names=[n for n, kind in POLICIES.items() if kind.feedback == "rewards"])
)
def test_theorem_4_pair_cannot_be_told_apart(name):
    """(Where every pull reports they can be: the late reports of B are missing.)"""
    horizon, alpha = 150, 0.3
    pair = Pair(horizon, alpha, seed=1)
    policy = policies(name)[0]
    in_a, in_b = (
        decisions(policy, horizon, pair.visible_in_a),
        decisions(policy, horizon, pair.visible_in_b),
    )
    assert in_a == in_b
    arms = [arm for arm, _ in in_a]
    regrets = [regret(problem, arms)[-1] for problem in (pair.a, pair.b)]
    assert max(regrets) >= pb.theory.lower_bound(horizon, alpha, "printed")


@pytest.mark.parametrize("horizon", [2, 10, 1000, 10**6])
@pytest.mark.parametrize("alpha", [0.01, 0.3, 0.5, 1.0, 1.5])
def test_theorem_4_pair(horizon, alpha):
    a, b = pb.problems.indistinguishable_pair(horizon, alpha)
    p = b.delays[1].survival(0)
    assert b.delays[1].survival(horizon - 1) == p == pytest.approx(horizon**-alpha, rel=1e-15)
    assert b.delays[1].survival(horizon) == 0
    assert b.means[1] * (1 - p) == pytest.approx(a.means[1], rel=1e-15)
    assert a.means[0] == b.means[0] == 0.5
    assert a.means[1] < 0.5 < b.means[1]
    assert b.max_alpha() >= alpha * (1 - 1e-12)
    coupled = Pair(min(horizon, 1000), alpha, seed=2)
    assert all(
        coupled.visible_in_a(t, arm) == coupled.visible_in_b(t, arm)
        for t in range(coupled.horizon)
        for arm in (0, 1)
    )


REFUSED = [
    lambda b: b.reward(0, 1.0),
    lambda b: b.reward(99, 1.0),
    lambda b: b.reward("1", 1.0),
    lambda b: b.reward(None, 1.0),
    lambda b: b.reward(1.5, 1.0),
    lambda b: b.reward(1, 1.0),  # rewarded already
    lambda b: b.reward(2, 0.0),  # likewise, with nothing
    lambda b: b.reward(3, -0.1),
    lambda b: b.reward(3, 1.1),
    lambda b: b.reward(3, float("nan")),
    lambda b: b.reward(3, "1"),
    lambda b: b.reward(3, True),
    lambda b: b.reward(3, None),
    lambda b: b.reward(3, 1.0, time=9.0),
    lambda b: b.reward(3, 1.0, time=float("nan")),
    lambda b: b.pull(time=9.9),
    lambda b: b.pull(time=float("inf")),
    lambda b: b.pull(time="soon"),
]


@ALL
def test_a_refused_call_changes_nothing(name):
    def prepared():
        learner = pb.Bandit(policies(name)[0], ["a", "b"], horizon=40, seed=3)
        for time in range(1, 11):
            learner.pull(float(time))
        learner.reward(1, 1.0, 10.0)
        learner.reward(2, 0.0, 10.0)
        return learner

    def goes_on(learner):
        learner.reward(3, 0.5, 11.0)
        return [learner.pull(float(time)) for time in range(11, 41)], learner.pulls, learner.rewards

    tried, other = prepared(), prepared()
    for call in REFUSED:
        with pytest.raises(pb.InputError, match=r"^Bandit\.(pull|reward): [^\n]+; got [^\n]+\.$"):
            call(tried)
    assert goes_on(tried) == goes_on(other)
    with pytest.raises(pb.InputError, match=r"^Bandit\.pull: at most horizon=40 pulls"):
        tried.pull(41.0)


@dataclass(frozen=True)
class NotANumber(pb.Policy):
    """The index of one arm is not a number."""

    arm: int

    def index(self, arm, round):
        return math.nan if arm.number == self.arm else 1.0


@pytest.mark.parametrize("arm", [0, 1, 2])
def test_an_index_must_be_a_number(arm):
    """Found at the first decision after the arm's first pull, in a simulation and in a loop."""
    learner, messages = pb.Bandit(NotANumber(arm), range(3), horizon=20), []
    for play in (
        lambda: pb.simulate(pb.Problem([0.5, 0.6, 0.7]), NotANumber(arm), 20, 1),
        lambda: [learner.pull() for _ in range(20)],
    ):
        with pytest.raises(
            pb.InputError,
            match=r"^NotANumber: an index must be a number; got NaN in round [234]\.$",
        ) as refusal:
            play()
        messages.append(str(refusal.value))
    assert messages[0] == messages[1]
