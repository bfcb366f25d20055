"""The library: a shop has experiments, an experiment decides.

shop = live.open("shop.db")
button = shop.experiment("checkout", arms=["blue", "green"], window="30d", largest_value=500)
button.decide(unit="visitor-42")
button.convert(unit="visitor-42", order="A-1001", value=59.90)
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any

import msgspec

from patientbandits.live.clock import SteadyClock
from patientbandits.live.command_maker import SaidTime
from patientbandits.live.commands import Command, Credited
from patientbandits.live.erasing import Erased, erase_person, forget_some, hash_names
from patientbandits.live.errors import ConflictError, RefusedError, UnknownError
from patientbandits.live.experiment import ExperimentHandle
from patientbandits.live.founding import found_experiment
from patientbandits.live.ids import Signer
from patientbandits.live.journal import Journal
from patientbandits.live.names import experiment_name, printable_text
from patientbandits.live.pseudonyms import HASHED, Pseudonyms, database_names
from patientbandits.live.settings import FIELD_NAMES, Settings, new_settings
from patientbandits.live.store import LogStore, open_store
from patientbandits.live.store.base import Experiment
from patientbandits.live.store.in_use import alone_with
from patientbandits.live.times import SECOND
from patientbandits.live.webhooks import (
    add_webhook,
    all_webhooks,
    deliver_due,
    remove_webhook,
)
from patientbandits.policies import Policy

if TYPE_CHECKING:
    from patientbandits.live.importing import Imported


def open(
    address: str,
    *,
    create: bool = True,
    clock: Callable[[], float] | None = None,
    units: str | None = None,
) -> Shop:
    """The shop kept at ``address``: the path of an SQLite file, made if need be, or postgresql://...

    ``clock`` gives seconds since 1970; unless given, the time of day without its jumps.
    ``units`` says how a new database keeps units, orders and keys: "hashed" with a secret of its
    own, unless "clear" is given.
    """
    store = open_store(address, create)
    try:
        return Shop(store, clock, units)
    except BaseException:
        store.close()
        raise


class Shop:
    """All experiments of one database.

    Safe to share among threads; close it, or use it in a ``with``.
    """

    def __init__(
        self,
        store: LogStore,
        clock: Callable[[], float] | None = None,
        units: str | None = None,
    ) -> None:
        self.store = store
        known = database_names(store, units)
        signer = Signer(known.secret)
        self.journal = Journal(store, signer, known.pseudonyms, clock or SteadyClock())
        self._found: dict[str, ExperimentHandle] = {}

    def __enter__(self) -> Shop:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self.journal.close()

    def experiments(self) -> list[ExperimentHandle]:
        with self.store.reading() as reader:
            found = reader.experiments()
        return [ExperimentHandle(self.journal, experiment) for experiment in found]

    def open(self, experiment: str) -> ExperimentHandle:
        """The experiment of this name, which must be there; none is ever deleted."""
        if experiment in self._found:
            return self._found[experiment]
        with self.store.reading() as reader:
            found = reader.experiment(experiment_name(experiment))
        if found is None:
            raise UnknownError(f"experiment: there is none of this name; got {experiment!r}.")
        return self._keep(found)

    def _keep(self, experiment: Experiment) -> ExperimentHandle:
        handle = ExperimentHandle(self.journal, experiment)
        self._found[experiment.name] = handle
        return handle

    def experiment(
        self,
        called: str,
        arms: Sequence[str],
        *,
        policy: Policy | Mapping[str, Any] | str | None = None,
        window: float | str | None = None,
        sticky: bool | None = None,
        largest_value: float | None = None,
        scale: float | None = None,
        credit: str | None = None,
        control: str | None = None,
        currency: str | None = None,
        goals: Sequence[str] | None = None,
        retention: float | str | None = None,
        shares: Mapping[str, Any] | None = None,
        fallback: str | None = None,
        seed: int | None = None,
    ) -> ExperimentHandle:
        """Create the experiment, or open it if it exists with the same settings.

        What is not given is not compared. Experiments that were changed meanwhile, arms too, are
        opened with `open`.

        policy         how to decide; `settings.default_policy` unless given
        window         "30d", "12h" or seconds; later conversions are kept but not counted
        sticky         the same unit gets the same decision; True unless given
        largest_value  that a conversion can have; 1 unless given. ``scale`` is its older name
        credit         which of a unit's decisions an order pays for: first, last or every
        control        the arm that others are compared with
        currency       what values are counted in, for people
        goals          what conversions can reach: the first decides, others are kept beside it
        retention      "400d": how long after a person was last heard of their names are kept
        shares         what arms get whatever the policy chooses: {"minimum": 0.05,
                       "arms": {"blue": 0.1}, "control": 0.2, "holdback": 0.1, "per_day": 0.1}
        fallback       the arm for units outside the experiment; the control unless given
        """
        given = {
            "policy": policy,
            "window": window,
            "sticky": sticky,
            "scale": one_largest_value(largest_value, scale),
            "credit": credit,
            "control": control,
            "currency": currency,
            "goals": goals,
            "retention": retention,
            "shares": shares,
            "fallback": fallback,
        }
        said = {name: value for name, value in given.items() if value is not None}
        settings = new_settings(arms, **said)
        handle, new = self.create(called, settings, seed)
        if not new:
            require_same(handle, settings, [*said, "arms"])
            if seed not in (None, handle.experiment.seed):
                raise ConflictError(f"experiment: {called!r} exists with another seed.")
        return handle

    def settings(
        self,
        arms: Any,
        policy: Policy | Mapping[str, Any] | str | None = None,
        window: Any = None,
        sticky: bool = True,
        scale: float = 1.0,
        **others: Any,
    ) -> Settings:
        """Settings for a new experiment, checked."""
        return new_settings(arms, policy, window, sticky, scale, **others)

    def alias(self, unit: str, other: str) -> None:
        """The two units are one person, in every experiment there is."""
        commands = [handle.join_command(unit, other) for handle in self.experiments()]
        self._execute(commands)

    def track(
        self,
        unit: str,
        order: str | None = None,
        value: float = 1.0,
        at: SaidTime = None,
        *,
        goal: str | None = None,
    ) -> dict[str, Credited]:
        """Tell every experiment that the unit has paid; what became of it, by experiment.

        A value above an experiment's largest counts as the largest. With a ``goal``, only those
        experiments are told that have it.
        """
        handles = self.with_goal(goal)
        commands = [handle.order_command(unit, order, value, at, goal) for handle in handles]
        self._execute(commands)
        made = zip(handles, commands, strict=True)
        return {handle.name: command.outcome for handle, command in made}

    def add_webhook(
        self, url: str, kinds: Sequence[str] = (), *, anywhere: bool = False
    ) -> dict[str, str]:
        """Have alerts told to ``url``, https or on this machine: its id, and the secret that signs
        messages, which is shown only now."""
        made, secret = add_webhook(self.journal, url, kinds, anywhere)
        return {"id": made.id, "secret": secret}

    def webhooks(self) -> list[dict[str, Any]]:
        return [webhook.shown() for webhook in all_webhooks(self.journal)]

    def remove_webhook(self, id: str) -> None:
        remove_webhook(self.journal, id)

    def deliver(self) -> int:
        """Send what webhooks are to be told, as a running service does: how many were told."""
        return deliver_due(self.journal)

    def with_goal(self, goal: str | None) -> list[ExperimentHandle]:
        """The experiments that have the goal; all of them, if none is named."""
        handles = self.experiments()
        if goal is None:
            return handles
        found = [handle for handle in handles if goal in handle.settings.goals]
        if not found:
            raise RefusedError(f"track: no experiment has this goal; got goal={goal!r:.100}.")
        return found

    def erase(self, unit: str) -> Erased:
        """Remove what identifies the unit, and all that aliases join to it, everywhere.

        What was counted stays. A backup made before still has it.
        """
        printable_text("erase: unit", unit)
        name = self.journal.names.unit(unit)
        erased = self.journal.alone(partial(erase_person, self.store, name))
        self.journal.leave_no_traces()
        return erased

    def forget(self) -> None:
        """Remove what identifies people of whom nothing was heard for their experiment's
        retention, if it has one."""
        forgot = False
        for handle in self.experiments():
            retention = handle.settings.retention
            if retention is None:
                continue
            before = self.journal.now() - int(retention * SECOND)
            some = partial(forget_some, self.store, handle.experiment.id, before)
            while self.journal.alone(some):
                forgot = True
        if forgot:
            self.journal.leave_no_traces()

    def hash_units(self) -> int:
        """Of a database that keeps names in the clear: hash them all; how many lines have changed.

        No other program may use the database meanwhile.
        """
        names = Pseudonyms(database_names(self.store).secret, HASHED)
        if self.journal.names.way == HASHED:
            return 0
        with alone_with(self.store.location, "units"):
            changed = self.journal.alone(partial(hash_names, self.store, names))
            self.journal.leave_no_traces()
        self.journal.names = names
        return changed

    def _execute(self, commands: Sequence[Command]) -> None:
        self.journal.execute(commands)
        for command in commands:
            if command.error is not None:
                raise command.error

    def create(
        self,
        called: str,
        settings: Settings,
        seed: int | None = None,
        created: int | None = None,
    ) -> tuple[ExperimentHandle, bool]:
        """(the experiment of this name, whether it is new); ``created``: when, if not now."""
        experiment_name(called)
        chosen = _checked_seed(seed)

        def found() -> tuple[Experiment, bool]:
            when = self.journal.now() if created is None else created
            return found_experiment(self.store, called, settings, chosen, when)

        experiment, new = self.journal.alone(found)
        return self._keep(experiment), new

    def create_exactly(
        self, called: str, settings: Settings, seed: int | None = None
    ) -> tuple[ExperimentHandle, bool]:
        """As `create`; an experiment of this name with other settings is a conflict."""
        handle, new = self.create(called, settings, seed)
        have = msgspec.structs.replace(handle.settings, imported=0)
        if have != settings or seed not in (None, handle.experiment.seed):
            raise ConflictError(f"experiment: {called!r} exists with other settings.")
        return handle, new

    def import_history(
        self,
        called: str,
        exposures: Any,
        orders: Any = None,
        *,
        reading: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> Imported:
        """Make a live experiment of a history, or bring it up to date with later files.

        exposures, orders   files or tables as `read_events` takes them
        reading             its options columns, preset, experiment, zone and time_format
        settings            as `experiment` takes them, for a new one; its arms are the variants

        Repeating an import changes nothing. Exposures must be older than anything decided live.
        """
        from patientbandits.events.rows import read_rows
        from patientbandits.live.importing import import_rows, require_goals

        experiment_name(called)
        largest = one_largest_value(settings.pop("largest_value", None), settings.get("scale"))
        if largest is not None:
            settings["scale"] = largest
        rows = read_rows(exposures, orders, **(reading or {}))
        seen = {row.variant for row in rows.exposures}
        with self.store.reading() as reader:
            there = reader.experiment(called)
        if there is not None:
            handle = self._keep(there)
            if settings:
                require_same(handle, new_settings(handle.arms, **settings), settings)
            require_goals(rows, handle.settings)
        else:
            made = new_settings(sorted(seen), **settings)
            require_goals(rows, made)
            created = min(rows.exposures[0].time, self.journal.now())
            handle, _ = self.create(called, made, created=created)
        return import_rows(handle, rows)


def require_same(handle: ExperimentHandle, wanted: Settings, compared: Iterable[str]) -> None:
    """The experiment must have the settings that are ``compared``."""
    have = handle.settings
    there = msgspec.structs.replace(have, arms=tuple(have.arms[place] for place in have.active))
    fields = ["description" if name == "policy" else name for name in compared]
    other = [name for name in fields if getattr(there, name) != getattr(wanted, name)]
    if other:
        first = other[0]
        raise ConflictError(
            f"experiment: {handle.name!r} exists with other settings: its {FIELD_NAMES[first]} is "
            f"{getattr(there, first)!r}; got {getattr(wanted, first)!r}."
        )


def one_largest_value(largest_value: Any, scale: Any) -> Any:
    """The two names of the same thing."""
    if largest_value is None:
        return scale
    if scale not in (None, largest_value):
        raise RefusedError(
            "experiment: largest_value and scale are the same thing and must agree; "
            f"got {largest_value!r:.100} and {scale!r:.100}."
        )
    return largest_value


def _checked_seed(seed: int | None) -> int:
    if seed is None:
        return secrets.randbits(62)
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**63:
        raise RefusedError(f"experiment: seed must be an integer in 0..2^63-1; got {seed!r}.")
    return seed
