"""A batch of commands for one experiment: one look-up, one step of the policy, one append."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from patientbandits.live.commands.commands import (
    AboutGoal,
    Command,
    Convert,
    Decide,
    Evaluate,
    Expose,
    Join,
    Order,
    Retract,
    Withdraw,
)
from patientbandits.live.commands.decide import answer_pending, apply_decision, apply_evaluation
from patientbandits.live.commands.draft import Draft
from patientbandits.live.commands.exposures import apply_exposure
from patientbandits.live.commands.orders import apply_alias, apply_order, apply_withdrawal
from patientbandits.live.commands.outcomes import apply_conversion, apply_retraction
from patientbandits.live.errors import RefusedError
from patientbandits.live.log import Signer
from patientbandits.live.policy import PolicyState
from patientbandits.live.settings import Settings
from patientbandits.live.storage import LogStore

APPLY: dict[type[Command], Callable[[Draft, Any], None]] = {
    Decide: apply_decision,
    Evaluate: apply_evaluation,
    Expose: apply_exposure,
    Convert: apply_conversion,
    Retract: apply_retraction,
    Order: apply_order,
    Withdraw: apply_withdrawal,
    Join: apply_alias,
}
DECIDING = {Decide, Evaluate}


def carry_out(
    commands: Sequence[Command], state: PolicyState, now: int, signer: Signer, store: LogStore
) -> None:
    """Answer each command, or refuse it, and append the lines; they are still to be committed."""
    draft = Draft(state, now, signer)
    if not only_decides(commands):
        name_goals(commands, state.settings)
        commands = [command for command in commands if command.error is None]
    draft.look_up(commands, store)
    for command in commands:
        try:
            APPLY[type(command)](draft, command)
        except RefusedError as refusal:
            command.error = refusal
    # until here nothing has changed but the draft: a command that fails leaves no trace
    draft.lines = state.advance(draft.lines, draft.decided)
    answer_pending(draft)
    state.chain = store.append(draft.lines, state.chain)


def name_goals(commands: Sequence[Command], settings: Settings) -> None:
    """Replace the name of the goal that decides by None, and refuse names that are not known."""
    for command in commands:
        if not isinstance(command, AboutGoal) or command.goal is None:
            continue
        if command.goal not in settings.goals:
            command.error = RefusedError(
                f"conversion: goal must be one of the experiment's, {list(settings.goals)!r:.300}; "
                f"got goal={command.goal!r:.100}."
            )
        elif command.goal == settings.goals[0]:
            command.goal = None


def only_decides(commands: Sequence[Command]) -> bool:
    return set(map(type, commands)) <= DECIDING


def split_batch(commands: Sequence[Command], state: PolicyState) -> Iterator[Sequence[Command]]:
    """Cut a batch into parts that can be carried out at once.

    Cut before a decision that follows something undone, if the memory must then begin anew from
    the log; and before what is about a person for whom something was just decided: the arm must be
    known first.
    """
    if only_decides(commands):  # mostly
        yield commands
        return
    part: list[Command] = []
    decided: set[str] = set()
    undone = False
    joined = state.has_aliases
    for command in commands:
        joined = joined or isinstance(command, Join)
        if isinstance(command, Decide):
            cut = undone
        else:
            cut = bool(decided) and about_any(command, decided, joined)
        if cut:
            yield part
            part = []
            decided = set()
            undone = False
        part.append(command)
        if not isinstance(command, Decide):
            # a conversion may undo: once there are orders it can be followed by a smaller credit
            undone = undone or (not state.memory.forgets and may_undo(command, state))
        elif command.unit is not None:
            decided.add(command.unit)
    yield part


def about_any(command: Command, units: set[str], joined: bool) -> bool:
    """Tell whether it may be about one of the people behind ``units``; ``joined``: some have
    several."""
    if isinstance(command, (Order, Expose)):
        return joined or command.unit in units
    return isinstance(command, (Withdraw, Join))


def may_undo(command: Command, state: PolicyState) -> bool:
    return state.may_credit or not isinstance(command, Convert)
