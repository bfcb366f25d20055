"""The share of traffic that each arm should get now, for those who split it themselves.

Worked out from the log on a connection of its own, and thrown away: nothing is written.
"""

from __future__ import annotations

from patientbandits.live.commands.journal import Journal
from patientbandits.live.log import Experiment
from patientbandits.live.policy import PolicyState
from patientbandits.live.policy.present_shares import present_shares


def weights_of(journal: Journal, experiment: Experiment) -> dict[str, float]:
    """arm: its share, of those that can be chosen; a function of the log and the time."""
    with journal.store.reading() as reader:
        state = PolicyState(reader, experiment)
    settings = state.settings
    names = [settings.arms[place] for place in settings.active]
    return dict(zip(names, present_shares(state, journal.now()), strict=True))
