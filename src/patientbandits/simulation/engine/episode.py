"""The episode: one kernel for every policy, from parts with one job each.

`choosers` find the arm to pull, `arrivals` bring rewards when they are due, and the loop here plays
round after round, run after run. It is written once around a policy's rule and compiled for it.
Where a policy has no memory, `lanes` plays many runs together.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits._util.rng import as_bits, following, run_key
from patientbandits.policies.base import Arm, Chance
from patientbandits.policies.choice import DecisionPoint
from patientbandits.policies.rule import Rule, no_hook
from patientbandits.simulation.engine.arrivals import (
    Arrivals,
    counted_arrivals,
    listed_arrivals,
    with_signals,
)
from patientbandits.simulation.engine.choosers import Chooser, every_round, lasting
from patientbandits.simulation.engine.compile import cached
from patientbandits.simulation.engine.scratch import Block, Game, Scratch, resetter, wrapper
from patientbandits.simulation.engine.worlds import World, row_of


class KernelPlan(NamedTuple):
    """All that decides a kernel's code: policies that share a plan share the kernel."""

    rule: Rule
    """without its numbers"""
    numbers_kind: Any
    memory_kind: Any
    counted: bool
    anytime: bool
    plain: bool
    """the world is"""
    signals: bool
    """there are some, and the policy asks for them"""

    @classmethod
    def of(
        cls,
        rule: Rule,
        memory: tuple[Any, ...],
        counted: bool,
        anytime: bool,
        plain: bool = True,
        signals: bool = False,
    ) -> KernelPlan:
        return cls(
            rule=rule.without_numbers(),
            numbers_kind=type(rule.numbers),
            memory_kind=type(memory),
            counted=counted,
            anytime=anytime,
            plain=plain,
            signals=signals,
        )


@cache
def kernel_for(plan: KernelPlan) -> Any:
    """The compiled kernel."""
    return cached(plain_kernel(plan), "episode")


def regret(pulls: NDArray[np.int64], gaps: NDArray[np.float64]) -> float:
    """sum over arms of gap * pulls"""
    total = 0.0
    for arm in range(len(gaps)):
        total += gaps[arm] * pulls[arm]
    return total


@cache
def decision_function(anytime: bool) -> Callable[..., DecisionPoint]:
    """decision_at(t, block, arms) of round t. An unknown horizon is the pulls so far."""

    def decision_at(t: int, block: Block, arms: int) -> DecisionPoint:
        horizon = float(block.horizon)
        if anytime:
            horizon = float(max(t - 1, 1))
        return DecisionPoint(t, float(t), horizon, arms)

    return decision_at


def chooser_of(plan: KernelPlan) -> Chooser:
    """An index that lasts is kept; any other is asked for in every round."""
    if plan.rule.lasting:
        return lasting(plan.rule, plan.counted)
    return every_round(plan.rule)


def arrivals_of(plan: KernelPlan, chooser: Chooser) -> Arrivals:
    """Rewards that come are counted where that suffices, and listed otherwise."""
    if plan.counted:
        return counted_arrivals(plan.rule, chooser)
    arrivals = listed_arrivals(plan.rule, chooser, plan.plain)
    if plan.signals:
        return with_signals(arrivals, plan.rule)
    return arrivals


def pull_function(plan: KernelPlan, chooser: Chooser, arrivals: Arrivals) -> Callable[..., None]:
    """pull(self, memory, arm, game, decision, left): pull the arm, with ``left`` rounds to go."""
    plain = plan.plain
    keeps = chooser.keeps
    index_pulled = chooser.pulled
    send = arrivals.send
    pulled = plan.rule.hook("pulled")

    def pull(
        self: Any, memory: Any, arm: int, game: Game, decision: DecisionPoint, left: int
    ) -> None:
        scratch = game.scratch
        scratch.pulls[arm] += 1
        if not plain:  # gaps change with the phase; elsewhere `regret` needs the pulls only
            row = row_of(game.world, as_bits(decision.round), arm)
            scratch.lost[0] += game.world.gaps[row]
        arm_now = Arm(arm, int(scratch.pulls[arm]), float(scratch.rewards[arm]))
        pulled(self, memory, arm_now, decision.round, decision.time, decision.arms)
        if keeps:
            index_pulled(self, memory, arm, game, decision)
        send(arm, game, decision, left)

    return pull


def round_function(plan: KernelPlan, chooser: Chooser, arrivals: Arrivals) -> Callable[..., bool]:
    """play_round(self, memory, game, decision, left): False if an index is not a number."""
    few_arms = plan.counted
    choose = chooser.choose
    receive = arrivals.receive
    refresh = plan.rule.hook("refresh")
    pull = pull_function(plan, chooser, arrivals)

    def play_round(self: Any, memory: Any, game: Game, decision: DecisionPoint, left: int) -> bool:
        round_, time, horizon, arms = decision
        # The order is part of the model: what arrives, then the policy's preparations, then its
        # choice. `Bandit` and `replay` keep the same one.
        receive(self, memory, game, decision)
        refresh(self, memory, round_, time, horizon, arms, game.chance)
        bid = choose(self, memory, game, decision)
        if bid.worth != bid.worth:
            return False
        if few_arms and bid.arm == 0:  # branches: the processor guesses the arm and goes on
            pull(self, memory, 0, game, decision, left)
        elif few_arms and bid.arm == 1:
            pull(self, memory, 1, game, decision, left)
        else:
            pull(self, memory, bid.arm, game, decision, left)
        return True

    return play_round


@cache
def plain_kernel(plan: KernelPlan) -> Callable[..., None]:
    """The kernel as a plain function: it can be compiled, or played interpreted.

    Here and in the functions above, what an inner function needs is taken apart into local
    variables first: numba calls no function out of a tuple. A local that is False or `no_hook` for
    this plan is a constant to the compiler, which drops its branch.
    """
    chooser = chooser_of(plan)
    arrivals = arrivals_of(plan, chooser)
    play_round = round_function(plan, chooser, arrivals)
    decision_at = decision_function(plan.anytime)
    plain = plan.plain
    keeps = chooser.keeps
    start = chooser.begin
    forget = arrivals.forget
    trace = plan.rule.hook("trace")
    traced = trace is not no_hook
    numbers_of = wrapper(plan.numbers_kind)
    memory_of = wrapper(plan.memory_kind)
    reset = resetter(plan.memory_kind)

    def begin(self: Any, memory: Any, game: Game, decision: DecisionPoint) -> None:
        scratch = game.scratch
        scratch.lost[0] = 0.0
        for arm in range(decision.arms):
            scratch.pulls[arm] = 0
            scratch.rewards[arm] = 0.0
        if keeps:
            start(self, memory, game, decision)

    def kernel(
        world: World,
        block: Block,
        scratch: Scratch,
        numbers: Any,
        memory_arrays: Any,
        blank: Any,
    ) -> None:
        self = numbers_of(numbers)
        memory = memory_of(memory_arrays)
        arms = len(scratch.pulls)
        for run in range(block.first_run, block.last_run):
            row = run - block.first_run
            column = 0
            block.at_run[0] = run
            if row > 0:  # the first run has the memory as the policy made it
                reset(memory_arrays, blank)
            ties = run_key(block.policy_key, as_bits(run))
            chance = Chance(ties, following(ties), world.streams)
            game = Game(scratch, world, run_key(block.world_key, as_bits(run)), chance)
            begin(self, memory, game, decision_at(1, block, arms))
            for t in range(1, block.horizon + 1):
                decision = decision_at(t, block, arms)
                if not play_round(self, memory, game, decision, block.horizon - t):
                    block.bad_round[0] = t
                    return
                if t == block.rounds[column]:
                    lost = scratch.lost[0]
                    if plain:
                        lost = regret(scratch.pulls, world.gaps)
                    block.regret[row, column] = lost
                    if traced:
                        value = trace(self, memory, t, float(t), decision.horizon, arms)
                        block.trace[row, column] = value
                    if len(block.counts) > 0:
                        for arm in range(arms):
                            block.counts[row, column, arm] = scratch.pulls[arm]
                    column += 1
            forget(scratch.due, arms, block.horizon)
            for arm in range(arms):
                block.pulls[row, arm] = scratch.pulls[arm]

    return kernel
