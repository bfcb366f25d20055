"""Where a batch of commands must be cut: each stretch is carried out at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from patientbandits.live.commands.commands import (
    Command,
    Convert,
    Decide,
    Expose,
    Join,
    Order,
    Withdraw,
)
from patientbandits.live.policy import PolicyState


def stretches(commands: Sequence[Command], state: PolicyState) -> Iterator[list[Command]]:
    """Commands that can be carried out at once.

    Cut before a decision that follows something undone, if the memory must then begin anew from
    the log; and before what is about a person for whom something was just decided: the arm must be
    known first.
    """
    stretch: list[Command] = []
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
            yield stretch
            stretch = []
            decided = set()
            undone = False
        stretch.append(command)
        if not isinstance(command, Decide):
            undone = undone or (not state.memory.forgets and may_undo(command, state))
        elif command.unit is not None:
            decided.add(command.unit)
    yield stretch


def about_any(command: Command, units: set[str], joined: bool) -> bool:
    """Whether it may be about one of the people behind ``units``; ``joined``: some have several."""
    if isinstance(command, (Order, Expose)):
        return joined or command.unit in units
    return isinstance(command, (Withdraw, Join))


def may_undo(command: Command, state: PolicyState) -> bool:
    return state.may_credit or not isinstance(command, Convert)
