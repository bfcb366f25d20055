"""Arm weights: the share of traffic that each arm should get now, as the policy would have it."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np

from patientbandits._util.arithmetic import plain_sum
from patientbandits.live.log import Experiment
from patientbandits.live.policy.memory import Event
from patientbandits.live.policy.state import CachedWeights, PolicyState
from patientbandits.live.storage import Reader
from patientbandits.live.times import SECOND
from patientbandits.policies.base import Arm
from patientbandits.simulation.engine import (
    DECISION,
    UNDECIDED,
    ShareBook,
    lead_of,
    mixed_share,
    program_of,
    turn_page,
)

WEIGHTS_TTL = SECOND
"""microseconds"""

LOOK_AHEAD = 1000
"""decisions that are counted where a policy does not know its probabilities"""


def cached_weights(state: PolicyState, now: int) -> Sequence[float]:
    """The weights of the arms that can be chosen, at most a second old."""
    cached = state.weights
    if cached is not None and cached.settings == state.settings:
        fresh = cached.computed <= now < cached.computed + WEIGHTS_TTL
        if fresh:
            return cached.weights
    weights = tuple(arm_weights(state, now))
    state.weights = CachedWeights(computed=now, settings=state.settings, weights=weights)
    return weights


def weights_of(reader: Reader, experiment: Experiment, now: int) -> dict[str, float]:
    """arm: its weight, of those that can be chosen; a function of the log and the time.

    Worked out from the log and thrown away: nothing is written.
    """
    state = PolicyState(reader, experiment)
    names = [state.settings.arms[place] for place in state.settings.active]
    return dict(zip(names, arm_weights(state, now), strict=True))


def arm_weights(state: PolicyState, now: int) -> list[float]:
    """The weight of each arm that can be chosen; ``state`` is left as it was.

    The probabilities with which the policy chooses, if it knows them and they are all there is to
    its choice; or else the shares of the arms that it would choose for the next `LOOK_AHEAD`
    visitors before it hears of any. With the experiment's shares mixed in.
    """
    trial = copy.copy(state)
    memory = trial.memory = state.memory.copied()
    moment = max(memory.since(max(now, state.time)), memory.latest)
    # the policy alone: the experiment's shares are mixed in at the end, exactly
    memory.program = program_of(memory.policy, memory.rule, memory.arrays)
    chosen = look_ahead(trial, moment, 1)
    own = known_chances(trial, moment)
    if state.settings.mixes and own != [0.0] * len(own):
        total = plain_sum(own)
        own = [share / total for share in own]
    # chances that do not add up to 1 are those of one of several draws: only counting tells
    if abs(plain_sum(own) - 1.0) > 1e-6:
        chosen += look_ahead(trial, moment, LOOK_AHEAD - 1)
        own = (chosen / LOOK_AHEAD).tolist()
    settings = state.settings
    if settings.mixes:
        own = mixed_shares(memory.shares, own, moment)
    shares = dict(zip(settings.chosen, own, strict=True))
    fixed = settings.kept.control or 0.0
    return [shares.get(place, fixed) for place in settings.active]


def mixed_shares(book: ShareBook, own: Sequence[float], now: float) -> list[float]:
    """(S) of `engine.shares`, with the policy's ``own`` chances."""
    turn_page(book, now)
    book.own[:] = own
    lead = lead_of(book)
    return [mixed_share(book, lead, arm) for arm in range(len(own))]


def look_ahead(state: PolicyState, now: float, decisions: int) -> np.ndarray:
    """Decide ahead, and count how often each arm is chosen; ``state`` has made these decisions."""
    memory = state.memory
    first = state.seq + memory.made + 1
    events = [
        Event(kind=DECISION, arm=UNDECIDED, pull=first + number, time=now)
        for number in range(decisions)
    ]
    applied, _ = memory.apply(events, deciding=True)
    decided = applied[applied["kind"] == DECISION]
    return np.bincount(decided["arm"], minlength=len(memory.place))


def known_chances(state: PolicyState, now: float) -> list[float]:
    """The chances of the last decision, as the policy says; nothing of one that does not."""
    memory = state.memory
    rule = memory.rule
    if "propensity" not in rule.hooks:
        return [0.0 for _ in memory.place]
    chance_of = rule.hook("propensity")
    arms = len(memory.place)
    horizon = float(max(memory.made, 1))
    chances = []
    for arm in range(arms):
        pulls = int(memory.tally.pulls[arm])
        tally = Arm(arm, pulls, float(memory.tally.rewards[arm]))
        chances.append(
            float(chance_of(rule.numbers, memory.arrays, tally, memory.made, now, horizon, arms))
        )
    return chances
