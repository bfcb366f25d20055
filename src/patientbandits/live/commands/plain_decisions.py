"""Most batches are nothing but new decisions: for keys and units of which nothing is known.

Then all of them are looked up, chosen, chained and written at once, column by column, without a
record for each. The lines and answers are those of `batch`, which does everything else and is the
twin of this in the tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeGuard

from patientbandits.live.commands.commands import AboutDecision, Command, Decide, Decision
from patientbandits.live.log import DecisionColumns, Signer, known_propensity
from patientbandits.live.policy import PolicyState
from patientbandits.live.storage import LogStore, StoreQuestion


class AskedDecisions(NamedTuple):
    """Commands to decide, column by column."""

    units: list[str | None]
    keys: list[str | None]


def decided_plainly(
    state: PolicyState, commands: Sequence[Command], now: int, signer: Signer, store: LogStore
) -> bool:
    """Carry out ``commands`` and append their lines; False: they are not plain, and wait still."""
    if not only_decide(commands):
        return False
    asked = AskedDecisions([one.unit for one in commands], [one.key for one in commands])
    if not takes_plainly(state, asked) or known_before(state, asked, store):
        return False
    columns = chosen_columns(state, asked, max(now, state.time))
    state.chain = store.append_decisions(columns, state.chain)
    arms = state.settings.arms
    names = signer.names(columns.experiment, columns.seqs)
    made = zip(commands, names, columns.arms, columns.propensities, strict=True)
    for command, name, arm, propensity in made:
        command.outcome = Decision(name, arms[arm], propensity)
    return True


def only_decide(commands: Sequence[Command]) -> TypeGuard[Sequence[Decide]]:
    return all(type(command) is Decide for command in commands)


def takes_plainly(state: PolicyState, asked: AskedDecisions) -> bool:
    """Whether everybody is taken in, and the policy alone decides."""
    settings = state.settings
    if settings.paused or not settings.takes_everyone:
        return False
    draws = state.memory.draws
    if draws is not None and draws.control:
        return False
    promised = state.has_aliases or state.has_assignments
    return not (promised and any(unit is not None for unit in asked.units))


def known_before(state: PolicyState, asked: AskedDecisions, store: LogStore) -> bool:
    """Whether there is anything about any of them, in the log or among themselves."""
    columns = [("key", asked.keys)]
    if state.settings.sticky:
        columns.append(("unit", asked.units))
    for column, names in columns:
        given = [name for name in names if name is not None]
        different = sorted(set(given))
        if len(different) < len(given):
            return True
        if given and store.lines_of(state.experiment.id, "decision", column, different):
            return True
    return False


def questions(
    state: PolicyState, commands: Sequence[Command], store: LogStore
) -> list[StoreQuestion]:
    """What will mostly be asked of these, in the words in which it will be."""
    experiment = state.experiment.id
    decides = [command for command in commands if isinstance(command, Decide)]
    found = []
    seqs = {command.seq for command in commands if isinstance(command, AboutDecision)}
    if seqs:
        found.append(store.decided_question(experiment, sorted(seqs)))
    keys = {command.key for command in decides if command.key is not None}
    if keys:
        found.append(store.lines_question(experiment, "decision", "key", sorted(keys)))
    units = {command.unit for command in decides if command.unit is not None}
    if units and state.settings.sticky:
        found.append(store.lines_question(experiment, "decision", "unit", sorted(units)))
    return found


def chosen_columns(state: PolicyState, asked: AskedDecisions, time: int) -> DecisionColumns:
    """Let the policy decide: the lines' columns, which ``state`` knows of then."""
    number = len(asked.keys)
    first = state.seq + 1
    state.seq += number
    state.time = time
    state.stale = False
    events = state.memory.decide(first, number, time)
    places = state.settings.chosen
    return DecisionColumns(
        experiment=state.experiment.id,
        time=time,
        seqs=range(first, first + number),
        arms=[places[arm] for arm in events["arm"].tolist()],
        propensities=[known_propensity(one) for one in events["propensity"].tolist()],
        units=asked.units,
        keys=asked.keys,
    )
