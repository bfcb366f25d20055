"""Policies for rates that follow the calendar, from the literature, and an oracle told the factors.

Their clock is the round, so they play in simulations only. Draws of all arms come from one normal
law, which `refresh` draws: what tells arms apart is in its correlations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits._util.rng import Bits, as_bits, bits_at, gamma, normal
from patientbandits.errors import positive, whole
from patientbandits.policies import Arm, Policy
from patientbandits.policies.base import Chance
from patientbandits.problems import Problem

Numbers = NDArray[np.float64]

MOST_STEPS = 20
SMALL_STEP = 1e-7
LONGEST_STEP = 1.0
"""Newton's steps: at most so many, until one is so small; none changes a log rate by more."""


SHARPNESS = 4.0
"""The oracle's draws have half the spread of its posterior: PatientThompson's are as narrow, and an
oracle with wider ones would lose more by exploring than it gains by knowing."""


class Normal(NamedTuple):
    """A normal law over the arms, with information A = L L'."""

    mean: Numbers
    root: Numbers
    """L, below the diagonal and on it"""
    draw: Numbers
    """arm: the draw of this round"""


def no_normal(arms: int, spread: float) -> Normal:
    """Independent arms of mean 0 and this standard deviation."""
    return Normal(np.zeros(arms), np.eye(arms) / spread, np.zeros(arms))


def set_root(information: Numbers, root: Numbers) -> None:
    """Cholesky's L of the matrix, row by row."""
    for i in range(len(information)):
        for j in range(i + 1):
            rest = information[i, j]
            for k in range(j):
                rest -= root[i, k] * root[j, k]
            if i == j:
                root[i, i] = math.sqrt(rest)
            else:
                root[i, j] = rest / root[j, j]


def solve(root: Numbers, right: Numbers, solution: Numbers) -> None:
    """A x = right, in two triangles."""
    for i in range(len(root)):
        rest = right[i]
        for j in range(i):
            rest -= root[i, j] * solution[j]
        solution[i] = rest / root[i, i]
    solve_upper(root, solution)


def solve_upper(root: Numbers, solution: Numbers) -> None:
    """L' x = what ``solution`` holds, in its place."""
    for i in range(len(root) - 1, -1, -1):
        rest = solution[i]
        for j in range(i + 1, len(root)):
            rest -= root[j, i] * solution[j]
        solution[i] = rest / root[i, i]


def draw_all(law: Normal, chance: Chance, round_: int) -> None:
    """``draw`` = mean + x, L' x = z, with independent standard normal z."""
    for arm in range(len(law.mean)):
        law.draw[arm], _ = normal(bits_at(chance.own, as_bits(round_), chance.streams[arm]))
    solve_upper(law.root, law.draw)
    for arm in range(len(law.mean)):
        law.draw[arm] += law.mean[arm]


class Days(NamedTuple):
    """Complete days, and the law that follows from them."""

    pulls: Numbers
    paid: Numbers
    """(day, arm)"""
    information: Numbers
    score: Numbers
    known: NDArray[np.int64]
    """days that the law is made of"""
    mean: Numbers
    root: Numbers
    draw: Numbers


@dataclass(frozen=True)
class DeconfoundedThompson(Policy):
    """Deconfounded Thompson sampling (Qin & Russo, 2022), the day being the context.

    Rewards are theta_arm + eta_day + noise, with a free effect for every day, so that arms are
    compared within days only. With n_dk pulls and S_dk rewards of arm k on day d, N_d and S_d in
    all, and noise of variance v = p (1 - p),

        A = sum_d (diag n_d - n_d n_d' / N_d) / v + I,
        b = sum_d (S_dk - n_dk S_d / N_d)_k / v,

    and the arm with the largest draw from N(A^-1 b, A^-1) is pulled. A day counts when all its
    pulls are as old as the window: its outcomes are complete then, which is how the paper's delayed
    observations are taken here. Written from the abstract and the model; without its variant that
    looks for the best arm by a second draw.
    """

    window: int
    day: int
    first_pulls: ClassVar[int] = 0

    class Numbers(NamedTuple):
        window: float
        day: float

    def __post_init__(self) -> None:
        whole(self.owner, "window", self.window, 1)
        whole(self.owner, "day", self.day, 1)

    def memory(self, arms: int, capacity: int) -> Days:
        days = capacity // self.day + 2
        return Days(
            pulls=np.zeros((days, arms)),
            paid=np.zeros((days, arms)),
            information=np.zeros((arms, arms)),
            score=np.zeros(arms),
            known=np.zeros(1, np.int64),
            **no_normal(arms, 1.0)._asdict(),
        )

    @staticmethod
    def pulled(self: Numbers, memory: Days, arm: Arm, pull: int) -> None:
        memory.pulls[int((pull - 1) // self.day), arm.number] += 1.0

    @staticmethod
    def arrived(
        self: Numbers, memory: Days, arm: Arm, pull: int, delay: float, reward: float
    ) -> None:
        if delay <= self.window:
            memory.paid[int((pull - 1) // self.day), arm.number] += reward

    @staticmethod
    def refresh(self: Numbers, memory: Days, round: int, chance: Chance) -> None:
        days = int((round - self.window) // self.day)
        if days > memory.known[0]:
            memory.known[0] = days
            compare_within_days(memory, days)
        law = Normal(memory.mean, memory.root, memory.draw)
        draw_all(law, chance, round)

    @staticmethod
    def index(self: Numbers, memory: Days, arm: Arm) -> float:
        return float(memory.draw[arm.number])


def compare_within_days(memory: Days, days: int) -> None:
    """The law from the first ``days`` days."""
    arms = len(memory.mean)
    rate = (memory.paid[:days].sum() + 1.0) / (memory.pulls[:days].sum() + 2.0)
    noise = rate * (1.0 - rate)
    for i in range(arms):
        memory.score[i] = 0.0
        for j in range(arms):
            memory.information[i, j] = int(i == j)
    for day in range(days):
        pulls = memory.pulls[day]
        visitors = max(pulls.sum(), 1.0)
        paid = memory.paid[day].sum()
        for i in range(arms):
            memory.score[i] += (memory.paid[day, i] - pulls[i] * paid / visitors) / noise
            for j in range(arms):
                within = int(i == j) - pulls[j] / visitors
                memory.information[i, j] += pulls[i] * within / noise
    set_root(memory.information, memory.root)
    solve(memory.root, memory.score, memory.mean)


class RiskSets(NamedTuple):
    """Who could have converted when somebody did."""

    waiting: Numbers
    """arm: pulls within the window that have not paid"""
    arm_of: NDArray[np.int32]
    """pull: its arm; -1 once it has left the waiting"""
    oldest: NDArray[np.int64]
    """the last pull that is older than the window"""
    events: NDArray[np.int64]
    """how many there are, and of how many the law is made"""
    at_risk: Numbers
    """(event, arm): those waiting at its time"""
    event_arm: NDArray[np.int32]
    shares: Numbers
    information: Numbers
    score: Numbers
    step: Numbers
    mean: Numbers
    root: Numbers
    draw: Numbers


@dataclass(frozen=True)
class PartialLikelihoodThompson(Policy):
    """Partial likelihood Thompson sampling (Wu & Wager, 2022).

    Given that somebody converts at time t, he has arm k with probability

        m_k(t) exp(beta_k) / sum_l m_l(t) exp(beta_l),

    m_k(t) the pulls of arm k that wait then: Cox's partial likelihood, in which a rate common to
    all arms cancels. With beta ~ N(0, spread^2) the largest draw from the normal law at its maximum
    is pulled. Pulls wait for the window at most. As it compares hazards at the same time, an arm of
    which more pulls are young, or that converts faster, seems better than it is.
    """

    window: int
    spread: float = 1.0
    first_pulls: ClassVar[int] = 0

    class Numbers(NamedTuple):
        window: float
        spread: float

    def __post_init__(self) -> None:
        whole(self.owner, "window", self.window, 1)
        positive(self.owner, "spread", self.spread)

    def memory(self, arms: int, capacity: int) -> RiskSets:
        return RiskSets(
            waiting=np.zeros(arms),
            arm_of=np.full(capacity + 1, -1, np.int32),
            oldest=np.zeros(1, np.int64),
            events=np.zeros(2, np.int64),
            at_risk=np.zeros((capacity + 1, arms)),
            event_arm=np.zeros(capacity + 1, np.int32),
            shares=np.zeros(arms),
            information=np.zeros((arms, arms)),
            score=np.zeros(arms),
            step=np.zeros(arms),
            **no_normal(arms, self.spread)._asdict(),
        )

    @staticmethod
    def pulled(self: Numbers, memory: RiskSets, arm: Arm, pull: int) -> None:
        memory.arm_of[pull] = arm.number
        memory.waiting[arm.number] += 1.0

    @staticmethod
    def arrived(
        self: Numbers, memory: RiskSets, arm: Arm, pull: int, delay: float, time: float
    ) -> None:
        if delay > self.window:
            return
        event = memory.events[0]
        memory.event_arm[event] = arm.number
        # A conversion that is heard of late may be of a pull that waits no longer: it is at risk.
        late = int(memory.arm_of[pull] < 0)
        for k in range(len(memory.waiting)):
            memory.at_risk[event, k] = memory.waiting[k] + late * int(k == arm.number)
        memory.events[0] += 1
        leave(memory, pull)

    @staticmethod
    def refresh(self: Numbers, memory: RiskSets, round: int, chance: Chance) -> None:
        while memory.oldest[0] + 1 + self.window < round:
            memory.oldest[0] += 1
            leave(memory, memory.oldest[0])
        if memory.events[0] > memory.events[1]:
            memory.events[1] = memory.events[0]
            maximise(memory, 1.0 / self.spread**2)
        law = Normal(memory.mean, memory.root, memory.draw)
        draw_all(law, chance, round)

    @staticmethod
    def index(self: Numbers, memory: RiskSets, arm: Arm) -> float:
        return float(memory.draw[arm.number])


def leave(memory: RiskSets, pull: int) -> None:
    """The pull waits no longer."""
    arm = memory.arm_of[pull]
    if arm >= 0:
        memory.waiting[arm] -= 1.0
        memory.arm_of[pull] = -1


def maximise(memory: RiskSets, prior: float) -> None:
    """Newton's steps to the maximum of the partial likelihood times the prior."""
    arms = len(memory.mean)
    for _ in range(MOST_STEPS):
        differentiate(memory, prior)
        set_root(memory.information, memory.root)
        solve(memory.root, memory.score, memory.step)
        longest = 0.0
        for k in range(arms):
            longest = max(longest, abs(memory.step[k]))
        for k in range(arms):
            memory.mean[k] += memory.step[k] / max(longest / LONGEST_STEP, 1.0)
        if longest < SMALL_STEP:
            return


def differentiate(memory: RiskSets, prior: float) -> None:
    """``score`` and ``information`` at the mean."""
    arms = len(memory.mean)
    for i in range(arms):
        memory.score[i] = -prior * memory.mean[i]
        for j in range(arms):
            memory.information[i, j] = prior * int(i == j)
    for event in range(memory.events[0]):
        total = 0.0
        for k in range(arms):
            memory.shares[k] = memory.at_risk[event, k] * math.exp(memory.mean[k])
            total += memory.shares[k]
        for i in range(arms):
            share = memory.shares[i] / total
            memory.score[i] += int(memory.event_arm[event] == i) - share
            for j in range(arms):
                memory.information[i, j] += share * (int(i == j) - memory.shares[j] / total)


class Exposure(NamedTuple):
    """What is known of each arm, in the unit of its rate at the beginning."""

    state: NDArray[np.int32]
    """round: the state of the world"""
    factor: Numbers
    """(state, arm): its rate over the rate at the beginning"""
    arrived: Numbers
    """(state, arm, age): the share of the rewards within the window that have come"""
    arm_of: NDArray[np.int32]
    """pull: its arm"""
    complete: Numbers
    """arm: the sum of the factors of pulls as old as the window"""
    oldest: NDArray[np.int64]
    """the last of them"""
    looked: NDArray[np.int64]
    """the round in which `expected` was last computed"""
    expected: Numbers
    """arm: sum over pulls of factor * share that has come"""
    paid: Numbers


@dataclass(frozen=True)
class CalendarOracle(Policy):
    """Thompson sampling that is told the factors, all laws of delays, and when either changes.

    Of an arm it does not know one number, its rate at the beginning. With pulls of factors f and
    ages x, y conversions are Poisson of mean rate * E, E = sum f F(x): a draw of the rate is one
    from Gamma(4 (1 + y), 4 (1 + E)), which is narrower than the posterior, and the index is the
    draw times the factor of this round. E is renewed every ``step`` rounds. A yardstick.
    """

    problem: Problem
    horizon: int
    step: int = 1
    first_pulls: ClassVar[int] = 0

    class Numbers(NamedTuple):
        horizon: float
        step: float

    def memory(self, arms: int, capacity: int) -> Exposure:
        rounds = max(capacity, self.horizon) + 1
        window = self.problem.window or self.horizon
        phases = self.problem.phases_until(self.horizon)
        states = list({id(phase): phase for _, phase in phases}.values())
        places = {id(state): place for place, state in enumerate(states)}
        state = np.zeros(rounds, np.int32)
        for start, phase in phases:
            state[start:] = places[id(phase)]
        rates = np.array([state.rates for state in states])
        curves: dict[Any, Numbers] = {}
        for law in {law for state in states for law in state.laws_in_time()}:
            curves[law] = np.array([1.0 - law.survival_at(age) for age in range(window + 1)])
        return Exposure(
            state=state,
            factor=rates / np.maximum(phases[0][1].rates, 1e-12),
            arrived=np.array([[curves[law] for law in s.laws_in_time()] for s in states]),
            arm_of=np.zeros(rounds, np.int32),
            complete=np.zeros(arms),
            oldest=np.zeros(1, np.int64),
            looked=np.full(1, -self.step, np.int64),
            expected=np.zeros(arms),
            paid=np.zeros(arms),
        )

    @staticmethod
    def pulled(self: Numbers, memory: Exposure, arm: Arm, pull: int) -> None:
        memory.arm_of[pull] = arm.number

    @staticmethod
    def arrived(self: Numbers, memory: Exposure, arm: Arm) -> None:
        memory.paid[arm.number] += 1.0

    @staticmethod
    def refresh(self: Numbers, memory: Exposure, round: int) -> None:
        if round - memory.looked[0] < self.step:
            return
        memory.looked[0] = round
        expect(memory, round)

    @staticmethod
    def index(self: Numbers, memory: Exposure, arm: Arm, round: int, random: Bits) -> float:
        k = arm.number
        draw, _ = gamma(SHARPNESS * (1.0 + memory.paid[k]), random)
        rate = draw / (SHARPNESS * (1.0 + memory.expected[k]))
        return rate * memory.factor[memory.state[round], k]

    @property
    def label(self) -> str:
        return self.owner


def expect(memory: Exposure, round_: int) -> None:
    """``expected`` at the decision of this round."""
    window = memory.arrived.shape[2] - 1
    while memory.oldest[0] + 1 + window < round_:
        memory.oldest[0] += 1
        pull = memory.oldest[0]
        arm = memory.arm_of[pull]
        memory.complete[arm] += memory.factor[memory.state[pull], arm]
    for arm in range(len(memory.expected)):
        memory.expected[arm] = memory.complete[arm]
    for pull in range(memory.oldest[0] + 1, round_):
        arm = memory.arm_of[pull]
        state = memory.state[pull]
        share = memory.arrived[state, arm, round_ - pull]
        memory.expected[arm] += memory.factor[state, arm] * share
