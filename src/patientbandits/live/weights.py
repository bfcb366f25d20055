"""The share of traffic that each arm should get now, for those who split it themselves.

Worked out from the log on a connection of its own, and thrown away: nothing is written.
"""

from __future__ import annotations

import numpy as np

from patientbandits.engine.program import program_of
from patientbandits.engine.replay import DECISION, UNDECIDED
from patientbandits.engine.shares import lead_of, mixed_share, turn_page
from patientbandits.live.journal import Journal
from patientbandits.live.policy_memory import Event
from patientbandits.live.policy_state import PolicyState
from patientbandits.live.store.base import Experiment
from patientbandits.policies.base import Arm

LOOK_AHEAD = 1000
"""decisions that are counted where a policy does not know its probabilities"""


def weights_of(journal: Journal, experiment: Experiment) -> dict[str, float]:
    """arm: its share, of those that can be chosen; a function of the log and the time.

    The probabilities with which the policy chooses, if it knows them and they are all there is to
    its choice; or else the shares of the arms that it would choose for the next `LOOK_AHEAD`
    visitors before it hears of any. With the experiment's shares, as (S) of `engine.shares` mixes
    them.
    """
    with journal.store.reading() as reader:
        state = PolicyState(reader, experiment)
    now = max(state.memory.since(max(journal.now(), state.time)), state.memory.latest)
    settings = state.settings
    book = state.memory.shares
    alone_in(state)
    chosen = look_ahead(state, now, 1)
    own = known_chances(state, now)
    if abs(sum(own) - 1.0) > 1e-6:
        chosen += look_ahead(state, now, LOOK_AHEAD - 1)
        own = (chosen / LOOK_AHEAD).tolist()
    if settings.kept.mixes:
        turn_page(book, now)
        book.own[:] = own
        lead = lead_of(book)
        own = [mixed_share(book, lead, arm) for arm in range(len(own))]
    shares = dict(zip(settings.chosen, own, strict=True))
    fixed = settings.kept.control or 0.0
    return {settings.arms[place]: shares.get(place, fixed) for place in settings.active}


def alone_in(state: PolicyState) -> None:
    """Let the policy decide alone, to see what it would choose."""
    memory = state.memory
    memory.program = program_of(memory.policy, memory.rule, memory.arrays)


def look_ahead(state: PolicyState, now: float, decisions: int) -> np.ndarray:
    """How often each arm would be chosen next; ``state`` has then made these decisions."""
    memory = state.memory
    first = state.seq + memory.made + 1
    events = [
        Event(kind=DECISION, arm=UNDECIDED, pull=first + number, time=now)
        for number in range(decisions)
    ]
    made, _ = memory.apply(events, deciding=True)
    return np.bincount(made["arm"], minlength=len(memory.place))


def known_chances(state: PolicyState, now: float) -> list[float]:
    """The chances of the last decision, as the policy says; nothing of one that does not."""
    memory = state.memory
    rule = memory.rule
    if "propensity" not in rule.hooks:
        return [0.0 for _ in memory.place]
    chance_of = rule.hook("propensity")
    arms = len(memory.place)
    horizon = float(max(memory.made, 1))
    found = []
    for arm in range(arms):
        pulls = int(memory.tally.pulls[arm])
        known = Arm(arm, pulls, float(memory.tally.rewards[arm]))
        told = (rule.numbers, memory.arrays, known, memory.made, now, horizon, arms)
        found.append(float(chance_of(*told)))
    return found
