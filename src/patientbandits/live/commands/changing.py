"""A change of an experiment's settings: a line of its log, which may credit orders anew."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from patientbandits.live.commands.journal import Journal
from patientbandits.live.commands.people import all_credits_due, credit_fields
from patientbandits.live.errors import RefusedError
from patientbandits.live.log import ChangeLine, CreditLine, Experiment
from patientbandits.live.settings import (
    QuarantineRule,
    Settings,
    changed_settings,
    checked_changes,
    listed_names,
    settings_text,
    stored_settings,
    with_rule,
    without_rule,
)


class NamedArms(NamedTuple):
    """Arms to add, to retire and to restore, one by one."""

    added: tuple[str, ...]
    retired: tuple[str, ...]
    restored: tuple[str, ...]

    def lists(self, have: Settings) -> dict[str, Any]:
        """``arms`` and ``retired`` as whole lists."""
        arms = [*have.arms, *self.added]
        unknown = [arm for arm in [*self.retired, *self.restored] if arm not in arms]
        if unknown:
            raise RefusedError(f"experiment: no arms have these names; got {unknown!r:.300}.")
        gone = {*have.retired, *self.retired} - set(self.restored)
        retired = [arm for arm in arms if arm in gone]
        return {"arms": tuple(arms), "retired": tuple(retired)}


class WantedChange(NamedTuple):
    """A requested change, checked as far as that goes without the experiment."""

    changes: dict[str, Any]
    arms: NamedArms
    goals: tuple[str, ...]
    """to add"""

    @classmethod
    def of(
        cls,
        *,
        add_arms: Sequence[str] = (),
        retire: Sequence[str] = (),
        restore: Sequence[str] = (),
        add_goals: Sequence[str] = (),
        **changes: Any,
    ) -> WantedChange:
        named = NamedArms(
            added=listed_names("add_arms", add_arms),
            retired=listed_names("retire", retire),
            restored=listed_names("restore", restore),
        )
        goals = listed_names("add_goals", add_goals)
        return cls(changes=checked_changes(changes), arms=named, goals=goals)

    def settings(self, old: Settings, now: int = 0) -> Settings:
        """The settings that it leads to."""
        changes = self.changes
        if any(self.arms):
            changes = {**changes, **self.arms.lists(old)}
        if self.goals:
            changes = {**changes, "goals": (*old.goals, *self.goals)}
        return changed_settings(old, **changes)


class WantedQuarantine(NamedTuple):
    """A rule to add, or one to release."""

    added: QuarantineRule | None = None
    released: str | None = None

    def settings(self, old: Settings, now: int) -> Settings:
        rules = old.quarantine
        if self.added is not None:
            rules = with_rule(rules, self.added, now)
        if self.released is not None:
            rules = without_rule(rules, self.released)
        return msgspec.structs.replace(old, quarantine=rules)


def append_change(
    journal: Journal,
    experiment: Experiment,
    change: WantedChange | WantedQuarantine,
    sender: str | None = None,
) -> Settings:
    """Write the change and the credits that follow from it, within a transaction: the settings.

    ``sender``: the id of the key with which it was asked for, if one was.
    """
    store = journal.store
    old = stored_settings(store.changes(experiment.id)[-1].settings)
    last = store.head(experiment.id)
    now = max(journal.now(), store.time(experiment.id, last))
    new = change.settings(old, now)
    if new == old:
        return new
    lines: list[CreditLine] = []
    released = new.quarantine != old.quarantine
    if new.crediting != old.crediting or released:
        for about, worth in all_credits_due(store, experiment.id, new, everyone=released):
            seq = last + 1 + len(lines)
            fields = credit_fields(about, worth)
            lines.append(CreditLine(experiment=experiment.id, seq=seq, time=now, **fields))
    line = ChangeLine(
        experiment=experiment.id,
        seq=last + 1 + len(lines),
        time=now,
        settings=settings_text(new),
        sender=sender,
    )
    store.append([*lines, line])
    return new
