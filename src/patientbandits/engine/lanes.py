"""Many runs of a policy without memory, side by side and stage by stage.

Every stage is a loop over runs, the lanes, on arrays whose last axis is the lane: what has arrived,
what each arm is worth, the best arm, what its pull draws, when that arrives. The compiler turns
such loops into vector instructions, and no run waits for another's memory or division. The rules
are those of `policies.choice` and `worlds`, the numbers to the last bit those of `episode`, which
plays run after run.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits.engine.calendar import (
    MOST_WAITING,
    RING,
    RING_BITS,
    Calendar,
    begin_turn,
    calendar_for,
    ring_row,
    wait,
)
from patientbandits.engine.choosers import scan, tabulated_bonus
from patientbandits.engine.compile import cached
from patientbandits.engine.delay_tables import cell_of, guess, search
from patientbandits.engine.episode import KernelPlan, decision_function
from patientbandits.engine.records import wrapper
from patientbandits.engine.scratch import Output, Task, bonus_table
from patientbandits.engine.worlds import World
from patientbandits.policies.base import Arm, Chance
from patientbandits.policies.choice import DecisionPoint, index_function
from patientbandits.policies.rule import Rule
from patientbandits.rng import DELAY_SALT, as_bits, bits_at, following, mix, run_key, unit

MOST_LANES = 32


class Lanes(NamedTuple):
    """Working space of one thread; the last axis is the lane."""

    calendar: Calendar
    world_key: NDArray[np.uint64]
    tie_key: NDArray[np.uint64]
    own_key: NDArray[np.uint64]
    """of the world, of ties, of the policy's randomness"""
    pulls: NDArray[np.int64]
    rewards: NDArray[np.float64]
    bonus: NDArray[np.float64]
    worth: NDArray[np.float64]
    """(arm, lane)"""
    best: NDArray[np.int64]
    """the arm to pull"""
    highest: NDArray[np.float64]
    """its index"""
    pays: NDArray[np.bool_]
    """whether its reward is the higher one"""
    late: NDArray[np.float64]
    """the u that its delay is drawn with"""
    delay: NDArray[np.int64]
    row: NDArray[np.int64]
    """where in ``due`` its reward goes"""
    table: NDArray[np.float64]
    """bonus by number of pulls, as far as it goes; NaN: not yet computed"""


def lanes_for(horizon: int, runs: int) -> int:
    """How many runs go side by side."""
    return max(min(runs, MOST_LANES, MOST_WAITING // horizon), 1)


def lanes_space(world: World, rule: Rule, horizon: int, lanes: int) -> Lanes:
    """Empty."""
    arms = len(world.streams)
    by_arm = (arms, lanes)
    return Lanes(
        calendar=calendar_for(arms, horizon, lanes),
        world_key=np.zeros(lanes, np.uint64),
        tie_key=np.zeros(lanes, np.uint64),
        own_key=np.zeros(lanes, np.uint64),
        pulls=np.zeros(by_arm, np.int64),
        rewards=np.zeros(by_arm),
        bonus=np.zeros(by_arm),
        worth=np.zeros(by_arm),
        best=np.zeros(lanes, np.int64),
        highest=np.zeros(lanes),
        pays=np.zeros(lanes, np.bool_),
        late=np.zeros(lanes),
        delay=np.zeros(lanes, np.int64),
        row=np.zeros(lanes, np.int64),
        table=bonus_table(rule, horizon),
    )


def begin(space: Lanes, lanes: int, first_run: int, task: Task) -> None:
    """All lanes before the first round of the runs from ``first_run`` on."""
    arms = len(space.pulls)
    for lane in range(lanes):
        run = as_bits(first_run + lane)
        space.world_key[lane] = run_key(task.world_key, run)
        space.tie_key[lane] = run_key(task.policy_key, run)
        space.own_key[lane] = following(space.tie_key[lane])
        for arm in range(arms):
            space.pulls[arm, lane] = 0
            space.rewards[arm, lane] = 0.0
            space.bonus[arm, lane] = np.inf


def receive(space: Lanes, lanes: int, world: World, round_: int) -> None:
    """What arrives before the decision of this round."""
    arms = len(space.pulls)
    if round_ & (RING - 1) == 0:
        begin_turn(space.calendar, round_ >> RING_BITS)
    for arm in range(arms):
        due = space.calendar.due[ring_row(round_, arms) + arm]
        rewards = space.rewards[arm]
        value = world.values[arm, 1]
        for lane in range(lanes):
            rewards[lane] += due[lane] * value
        for lane in range(lanes):
            due[lane] = 0


def find_best(space: Lanes, lanes: int, world: World) -> bool:
    """``best``, by the largest ``worth``; False if one is not a number."""
    arms = len(space.pulls)
    tied = False
    broken = False
    best = space.best
    highest = space.highest
    for lane in range(lanes):
        worth = space.worth[0, lane]
        best[lane] = 0
        highest[lane] = worth
        broken |= worth != worth
    for arm in range(1, arms):
        worths = space.worth[arm]
        for lane in range(lanes):
            worth = worths[lane]
            top = highest[lane]
            broken |= worth != worth
            tied |= worth == top
            best[lane] = arm if worth > top else best[lane]
            highest[lane] = worth if worth > top else top
    if tied:
        for lane in range(lanes):
            chance = Chance(space.tie_key[lane], space.own_key[lane], world.streams)
            space.best[lane] = scan(space.pulls[:, lane], space.worth[:, lane], chance).arm
    return not broken


def draw_rewards(space: Lanes, lanes: int, world: World, round_: int) -> None:
    """``pays`` and ``late`` of the pulls of ``best``: the draws of `worlds.arrival`."""
    for lane in range(lanes):
        arm = space.best[lane]
        bits = bits_at(space.world_key[lane], as_bits(round_), world.streams[arm])
        space.pays[lane] = unit(bits) < world.chance_of_high[arm]
        space.late[lane] = unit(mix(bits ^ DELAY_SALT))
    for lane in range(lanes):
        law = world.law[space.best[lane]]
        cell = cell_of(space.late[lane])
        space.delay[lane] = world.delays.guide[law, cell + 1]
        space.row[lane] = world.delays.guide[law, cell]


def send_rewards(space: Lanes, lanes: int, world: World, round_: int, left: int) -> None:
    """The rewards of these pulls on their way; those that never come, to a row of their own."""
    arms = len(space.pulls)
    never = RING * arms
    last = min(left, world.delays.last)
    near = min(last, RING - 1)
    far = False
    for lane in range(lanes):
        low = space.delay[lane]
        high = space.row[lane]
        if low < high and space.pays[lane]:
            law = world.law[space.best[lane]]
            u = space.late[lane]
            space.delay[lane] = search(low, high, guess(low, high, u), world.delays, law, u)
    for lane in range(lanes):
        delay = max(space.delay[lane], 1)
        far |= delay > near
        arrives = space.pays[lane] & (delay <= near)
        row = ring_row(round_ + delay, arms) if arrives else never
        space.row[lane] = row + space.best[lane]
    for lane in range(lanes):
        space.calendar.due[space.row[lane], lane] += 1
    if far and last >= RING:
        send_far(space, lanes, round_, last)


def send_far(space: Lanes, lanes: int, round_: int, last: int) -> None:
    """`send_rewards` for the rewards that come after the ring's end."""
    arms = len(space.pulls)
    for lane in range(lanes):
        delay = space.delay[lane]
        if space.pays[lane] and RING <= delay <= last:
            wait(space.calendar, round_ + delay, arms, space.best[lane], lane)


def record(space: Lanes, lanes: int, world: World, regret: Any) -> None:
    """regret = sum over arms of gap * pulls"""
    arms = len(space.pulls)
    for lane in range(lanes):
        total = 0.0
        for arm in range(arms):
            total += world.gaps[arm] * space.pulls[arm, lane]
        regret[lane] = total


def worth_function(plan: KernelPlan) -> Callable[..., None]:
    """weigh(self, memory, space, lanes, world, decision): ``worth`` of every arm."""
    index_of = index_function(plan.rule)
    kept_bonus = plan.from_bonus and plan.lasting

    def weigh(
        self: Any, memory: Any, space: Lanes, lanes: int, world: World, decision: DecisionPoint
    ) -> None:
        round_ = as_bits(decision.round)
        for arm in range(decision.arms):
            worth = space.worth[arm]
            pulls = space.pulls[arm]
            rewards = space.rewards[arm]
            bonus = space.bonus[arm]
            stream = world.streams[arm]
            for lane in range(lanes):
                if kept_bonus:
                    worth[lane] = rewards[lane] / max(pulls[lane], 1) + bonus[lane]
                else:
                    known = Arm(arm, int(pulls[lane]), rewards[lane])
                    random = bits_at(space.own_key[lane], round_, stream)
                    worth[lane] = index_of(self, memory, known, decision, random)

    return weigh


def count_function(plan: KernelPlan) -> Callable[..., None]:
    """count(self, memory, space, lanes, decision): pulls of ``best``, and its bonus if kept."""
    kept_bonus = plan.from_bonus and plan.lasting
    bonus_of = tabulated_bonus(plan.rule)

    def count(self: Any, memory: Any, space: Lanes, lanes: int, decision: DecisionPoint) -> None:
        for lane in range(lanes):
            arm = space.best[lane]
            space.pulls[arm, lane] += 1
            if kept_bonus:
                pulls = int(space.pulls[arm, lane])
                bonus = bonus_of(self, memory, pulls, space.table, decision)
                space.bonus[arm, lane] = bonus

    return count


@cache
def lanes_kernel(plan: KernelPlan) -> Any:
    """The compiled kernel."""
    return cached(plain_lanes_kernel(plan), "lanes")


@cache
def plain_lanes_kernel(plan: KernelPlan) -> Callable[..., None]:
    """The kernel as a plain function."""
    decision_at = decision_function(plan.anytime)
    numbers_of = wrapper(plan.numbers_kind)
    memory_of = wrapper(plan.memory_kind)
    weigh = worth_function(plan)
    count = count_function(plan)

    def kernel(world: World, task: Task, space: Lanes, numbers: Any, out: Output) -> None:
        self = numbers_of(numbers)
        memory = memory_of(())
        arms, most = space.pulls.shape
        for first_run in range(task.first_run, task.last_run, most):
            lanes = min(most, task.last_run - first_run)
            row = first_run - task.first_run
            column = 0
            out.at_run[0] = first_run
            begin(space, lanes, first_run, task)
            for t in range(1, task.horizon + 1):
                decision = decision_at(t, task, arms)
                receive(space, lanes, world, t)
                weigh(self, memory, space, lanes, world, decision)
                if not find_best(space, lanes, world):
                    out.bad_round[0] = t
                    return
                draw_rewards(space, lanes, world, t)
                send_rewards(space, lanes, world, t, task.horizon - t)
                count(self, memory, space, lanes, decision)
                if t == out.rounds[column]:
                    record(space, lanes, world, out.regret[row : row + lanes, column])
                    column += 1
            for arm in range(arms):
                for lane in range(lanes):
                    out.pulls[row + lane, arm] = space.pulls[arm, lane]

    return kernel
