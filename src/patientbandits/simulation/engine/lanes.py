"""Many runs of a policy without memory, side by side and stage by stage.

Every stage is a loop over runs, the lanes, on arrays whose last axis is the lane: what has arrived,
what each arm is worth, the best arm, what its pull draws, when that arrives. The compiler turns
such loops into vector instructions, where both sides of a condition are loaded before it, and no
run waits for another's memory or division. The rules are those of `policies.choice` and `worlds`,
the numbers to the last bit those of `episode`, which plays run after run.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits._util.rng import DELAY_SALT, as_bits, bits_at, following, mix, run_key, unit
from patientbandits.policies.base import Arm, Chance
from patientbandits.policies.choice import DecisionPoint, index_function
from patientbandits.policies.parts.records import zeros
from patientbandits.policies.rule import Rule
from patientbandits.simulation.engine.arrivals import (
    MOST_LANES,
    MOST_WAITING,
    RING,
    RING_BITS,
    CalendarQueue,
    begin_turn,
    calendar_sizes,
    ring_row,
    wait,
)
from patientbandits.simulation.engine.choosers import scan, tabulated_bonus
from patientbandits.simulation.engine.compile import cached, no_alias
from patientbandits.simulation.engine.delay_tables import (
    NEVER_CELL,
    WORD,
    DelayTables,
    cell_of,
    delay_of,
    is_sure,
    line_at,
)
from patientbandits.simulation.engine.episode import KernelPlan, decision_function
from patientbandits.simulation.engine.scratch import Block, bonus_table, wrapper
from patientbandits.simulation.engine.worlds import World

LaneBits = Annotated[NDArray[np.uint64], "lane"]
LaneInts = Annotated[NDArray[np.int64], "lane"]
LaneFloats = Annotated[NDArray[np.float64], "lane"]
ArmLaneFloats = Annotated[NDArray[np.float64], "arm", "lane"]


class Lanes(NamedTuple):
    """Working space of one thread; the last axis is the lane."""

    calendar: CalendarQueue
    world_key: LaneBits
    tie_key: LaneBits
    own_key: LaneBits
    """of the world, of ties, of the policy's randomness"""
    pulls: Annotated[NDArray[np.int64], "arm", "lane"]
    rewards: ArmLaneFloats
    bonus: ArmLaneFloats
    worth: ArmLaneFloats
    """(arm, lane)"""
    best: LaneInts
    """the arm to pull"""
    newest: LaneBits
    """the pulls of the arm pulled"""
    highest: LaneFloats
    """its index"""
    stream: LaneBits
    chance: LaneFloats
    law: LaneBits
    """its random stream, its probability of the higher reward, and the place of its law"""
    late: LaneFloats
    """the u that its delay is drawn with"""
    cell: LaneBits
    """the place of that in the guide; `NEVER_CELL` if the reward is not the higher one"""
    delay: LaneInts
    row: Annotated[NDArray[np.uint32], "lane"]
    """where in ``due`` its reward goes"""
    table: NDArray[np.float64]
    """bonus by number of pulls, as far as it goes; NaN: not yet computed"""


def lanes_for(horizon: int, runs: int) -> int:
    """The number of runs that go side by side."""
    return max(min(runs, MOST_LANES, MOST_WAITING // horizon), 1)


def lanes_space(world: World, rule: Rule, horizon: int, lanes: int) -> Lanes:
    """Working space in which nothing is under way."""
    sizes = calendar_sizes(len(world.streams), horizon, lanes)
    return zeros(Lanes, **sizes)._replace(table=bonus_table(rule, horizon))


def begin(space: Lanes, lanes: int, first_run: int, block: Block) -> None:
    """All lanes before the first round of the runs from ``first_run`` on."""
    arms = len(space.pulls)
    for lane in range(lanes):
        run = as_bits(first_run + lane)
        space.world_key[lane] = run_key(block.world_key, run)
        space.tie_key[lane] = run_key(block.policy_key, run)
        space.own_key[lane] = following(space.tie_key[lane])
        for arm in range(arms):
            space.pulls[arm, lane] = 0
            space.rewards[arm, lane] = 0.0
            space.bonus[arm, lane] = np.inf


def receive(space: Lanes, lanes: int, values: NDArray[np.float64], round_: int) -> None:
    """Add what arrives before the decision of this round to ``rewards``."""
    arms = len(space.pulls)
    if round_ & (RING - 1) == 0:
        begin_turn(space.calendar, round_ >> RING_BITS)
    for arm in range(arms):
        due = space.calendar.due[ring_row(round_, arms) + arm]
        rewards = space.rewards[arm]
        value = values[arm, 1]
        for lane in range(lanes):
            rewards[lane] += due[lane] * value
        for lane in range(lanes):
            due[lane] = 0


def find_best(space: Lanes, lanes: int, streams: NDArray[np.uint64]) -> bool:
    """``best``, by the largest ``worth``; False if one is not a number."""
    arms = len(space.pulls)
    # Conditions are taken as numbers, not as branches, or the loops would not become vector
    # instructions. Ties are rare: they are only noticed here, and settled by `scan` below, which
    # draws the same bits as in an episode.
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
            chance = Chance(space.tie_key[lane], space.own_key[lane], streams)
            space.best[lane] = scan(space.pulls[:, lane], space.worth[:, lane], chance).arm
    return not broken


def of_best(
    by_arm: NDArray[Any], best: NDArray[np.int64], picked: NDArray[Any], lanes: int
) -> None:
    """picked[lane] = by_arm[best[lane]], in a form that becomes vector instructions."""
    first = by_arm[0]
    for lane in range(lanes):
        picked[lane] = first
    for arm in range(1, len(by_arm)):
        value = by_arm[arm]
        for lane in range(lanes):
            picked[lane] = value if best[lane] == arm else picked[lane]


def draw_rewards(space: Lanes, lanes: int, round_: int) -> None:
    """``late`` and ``cell`` of the pulls of ``best``: the draws of `worlds.arrival`."""
    t = as_bits(round_)
    for lane in range(lanes):
        bits = bits_at(space.world_key[lane], t, space.stream[lane])
        late = unit(mix(bits ^ DELAY_SALT))
        space.late[lane] = late
        space.cell[lane] = cell_of(late) if unit(bits) < space.chance[lane] else NEVER_CELL


def draw_delays(space: Lanes, lanes: int, delays: DelayTables) -> None:
    """``delay`` of these pulls, by `delay_tables.delay_of`."""
    # All lanes by their lines; if one of them cannot be trusted, which is rare, all of them again.
    unsure = False
    for lane in range(lanes):
        line = delays.lines[space.law[lane], space.cell[lane]]
        place = line_at(line, space.late[lane])
        space.delay[lane] = place >> WORD
        unsure |= not is_sure(line, place)
    if unsure:
        for lane in range(lanes):
            if space.cell[lane] != NEVER_CELL:
                law = space.law[lane]
                space.delay[lane] = delay_of(delays, law, space.late[lane], delays.last)


def send_rewards(space: Lanes, lanes: int, round_: int, last: int) -> None:
    """Send the rewards of these pulls; those later than ``last``, to a row of their own."""
    arms = len(space.pulls)
    # What never comes in time has a row too, so that every lane does the same; the few that come
    # beyond the ring are looked for only if there are some.
    near = min(last, RING - 1)
    beyond = 0
    for lane in range(lanes):
        delay = max(space.delay[lane], 1)
        row = ring_row(round_ + delay, arms) if delay <= near else RING * arms
        space.row[lane] = row + space.best[lane]
        beyond += RING <= delay <= last
    for lane in range(lanes):
        space.calendar.due[space.row[lane], lane] += 1
    if beyond > 0:
        for lane in range(lanes):
            delay = space.delay[lane]
            if RING <= delay <= last:
                wait(space.calendar, round_ + delay, arms, space.best[lane], lane)


def record(space: Lanes, lanes: int, gaps: NDArray[np.float64], regret: Any) -> None:
    """regret = sum over arms of gap * pulls"""
    arms = len(space.pulls)
    for lane in range(lanes):
        total = 0.0
        for arm in range(arms):
            total += gaps[arm] * space.pulls[arm, lane]
        regret[lane] = total


def worth_function(plan: KernelPlan) -> Callable[..., None]:
    """weigh(self, memory, space, lanes, streams, decision): ``worth`` of every arm."""
    index_of = index_function(plan.rule)
    lasting_bonus = plan.rule.from_bonus and plan.rule.lasting

    def weigh(
        self: Any, memory: Any, space: Lanes, lanes: int, streams: Any, decision: DecisionPoint
    ) -> None:
        round_ = as_bits(decision.round)
        for arm in range(decision.arms):
            worth = space.worth[arm]
            pulls = space.pulls[arm]
            rewards = space.rewards[arm]
            bonus = space.bonus[arm]
            stream = streams[arm]
            for lane in range(lanes):
                if lasting_bonus:
                    worth[lane] = rewards[lane] / max(pulls[lane], 1) + bonus[lane]
                else:
                    arm_now = Arm(arm, int(pulls[lane]), rewards[lane])
                    random = bits_at(space.own_key[lane], round_, stream)
                    worth[lane] = index_of(self, memory, arm_now, decision, random)

    return weigh


def count_function(plan: KernelPlan) -> Callable[..., None]:
    """count(self, memory, space, lanes, decision): pulls of ``best``, and its bonus if kept."""
    lasting_bonus = plan.rule.from_bonus and plan.rule.lasting
    bonus_of = tabulated_bonus(plan.rule)

    def count(self: Any, memory: Any, space: Lanes, lanes: int, decision: DecisionPoint) -> None:
        table = space.table
        within = decision.round < len(table)  # no arm has more pulls
        best = space.best
        newest = space.newest
        for arm in range(decision.arms):
            pulls = space.pulls[arm]
            for lane in range(lanes):
                pulled = best[lane] == arm
                count = pulls[lane] + pulled
                other = newest[lane]
                pulls[lane] = count
                newest[lane] = count if pulled else other
        if lasting_bonus:
            value = space.highest
            if within:
                # Some arm may come to ``round`` pulls now: the table grows by one entry a round,
                # so all lanes can read it without asking whether it is filled.
                table[decision.round] = bonus_of(self, memory, decision.round, table, decision)
                for lane in range(lanes):
                    value[lane] = table[newest[lane]]
            else:
                for lane in range(lanes):
                    value[lane] = bonus_of(self, memory, int(newest[lane]), table, decision)
            for arm in range(decision.arms):
                bonus = space.bonus[arm]
                for lane in range(lanes):
                    old = bonus[lane]
                    new = value[lane]
                    bonus[lane] = new if best[lane] == arm else old

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

    @no_alias
    def kernel(world: World, block: Block, space: Lanes, numbers: Any) -> None:
        self = numbers_of(numbers)
        memory = memory_of(())
        arms, most = space.pulls.shape
        for first_run in range(block.first_run, block.last_run, most):
            lanes = min(most, block.last_run - first_run)
            row = first_run - block.first_run
            column = 0
            block.at_run[0] = first_run
            begin(space, lanes, first_run, block)
            for t in range(1, block.horizon + 1):
                decision = decision_at(t, block, arms)
                receive(space, lanes, world.values, t)
                weigh(self, memory, space, lanes, world.streams, decision)
                if not find_best(space, lanes, world.streams):
                    block.bad_round[0] = t
                    return
                of_best(world.streams, space.best, space.stream, lanes)
                of_best(world.chance_of_high, space.best, space.chance, lanes)
                of_best(world.law, space.best, space.law, lanes)
                draw_rewards(space, lanes, t)
                draw_delays(space, lanes, world.delays)
                send_rewards(space, lanes, t, min(block.horizon - t, world.delays.last))
                count(self, memory, space, lanes, decision)
                if t == block.rounds[column]:
                    record(space, lanes, world.gaps, block.regret[row : row + lanes, column])
                    if len(block.counts) > 0:
                        for lane in range(lanes):
                            for arm in range(arms):
                                block.counts[row + lane, column, arm] = space.pulls[arm, lane]
                    column += 1
            for arm in range(arms):
                for lane in range(lanes):
                    block.pulls[row + lane, arm] = space.pulls[arm, lane]

    return kernel
