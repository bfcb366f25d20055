"""Early signals under way: arrivals of rewards, with those of signals put before them.

Kernels for worlds without signals, and for policies that do not ask for them, have none of this.
"""

from __future__ import annotations

from typing import Any

from patientbandits._util.rng import SIGNAL_SALT, Bits, as_bits, bits_at, following, mix, unit
from patientbandits.policies.base import Arm
from patientbandits.policies.choice import DecisionPoint
from patientbandits.policies.rule import Rule
from patientbandits.simulation.engine.arrivals import Arrivals
from patientbandits.simulation.engine.delay_tables import delay_of
from patientbandits.simulation.engine.scratch import Game
from patientbandits.simulation.engine.worlds import World, heard_after, row_of


def signal_delay(world: World, key: Bits, round_: Bits, arm: int, left: int) -> int:
    """The delay of the signal of pulling ``arm`` in ``round_``; left + 1 for none in time."""
    bits = bits_at(key, round_, world.streams[arm])
    paid = unit(bits) < world.chance_of_high[row_of(world, round_, arm)]
    own = mix(bits ^ SIGNAL_SALT)
    delay = delay_of(world.delays, world.signals.law[arm], unit(following(own)), left)
    given = unit(own) < world.signals.chances[arm, int(paid)]
    return delay if given and delay <= left else left + 1


def with_signals(arrivals: Arrivals, rule: Rule) -> Arrivals:
    """The same, and signals besides; in a round in which both come signals come first."""
    tell = rule.hook("signalled")
    receive_rewards = arrivals.receive
    send_reward = arrivals.send

    def receive(self: Any, memory: Any, game: Game, decision: DecisionPoint) -> None:
        scratch = game.scratch
        signals = scratch.signals
        pull = int(signals.due[decision.round])
        signals.due[decision.round] = 0
        while pull != 0:
            arm = int(signals.arm_of[pull])
            known = Arm(arm, int(scratch.pulls[arm]), float(scratch.rewards[arm]))
            delay = float(signals.delay_of[pull])
            tell(self, memory, known, pull, delay, decision.time, float(pull), decision.arms)
            pull = int(signals.next_due[pull])
        receive_rewards(self, memory, game, decision)

    def send(arm: int, game: Game, decision: DecisionPoint, left: int) -> None:
        signals = game.scratch.signals
        t = decision.round
        delay = signal_delay(game.world, game.world_key, as_bits(t), arm, left)
        after = heard_after(t, max(int(delay), 1), game.world.batch, left)
        if after <= left:
            signals.arm_of[t] = arm
            signals.delay_of[t] = delay
            signals.next_due[t] = signals.due[t + after]
            signals.due[t + after] = t
        send_reward(arm, game, decision, left)

    return Arrivals(receive=receive, send=send, forget=arrivals.forget)
