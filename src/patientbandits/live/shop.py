"""The library: a shop is a database of experiments; an experiment decides.

shop = live.open("shop.db")
button = shop.experiment("checkout", arms=["blue", "green"], window="30d", largest_value=500)
button.decide(unit="visitor-42")
button.convert(unit="visitor-42", order="A-1001", value=59.90)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from patientbandits.live.commands import (
    Command,
    Credited,
    Journal,
    Order,
    Refund,
    SteadyClock,
    TimeLike,
)
from patientbandits.live.errors import ConflictError, NotFoundError, RefusedError
from patientbandits.live.experiment import ExperimentHandle
from patientbandits.live.log import Experiment
from patientbandits.live.monitoring import add_webhook, all_webhooks, deliver_due, remove_webhook
from patientbandits.live.names import experiment_name
from patientbandits.live.operations import (
    Erased,
    create_experiment,
    erase_unit,
    forget_silent,
    hash_units,
)
from patientbandits.live.settings import (
    Settings,
    as_if_new,
    new_settings,
    one_largest_value,
    require_same_settings,
)
from patientbandits.live.storage import LogStore, begin_era_if_moved, database_names, open_store
from patientbandits.policies import Policy

if TYPE_CHECKING:
    from patientbandits.live.operations import Imported


def open(
    address: str,
    *,
    create: bool = True,
    clock: Callable[[], float] | None = None,
    units: str | None = None,
) -> Shop:
    """The shop at ``address``: the path of an SQLite file, created if need be, or postgresql://...

    ``clock`` gives seconds since 1970; by default the system clock without its jumps.
    ``units`` says how a new database stores units, orders and keys: "hashed" with a secret of its
    own (the default), or "clear".
    """
    store = open_store(address, create)
    try:
        return Shop(store, clock, units)
    except BaseException:
        store.close()
        raise


def tracked(commands: Sequence[Order]) -> dict[str, Credited]:
    """The outcomes by experiment, or the first error raised; refused refunds only if all are."""
    done = [command for command in commands if command.error is None]
    for command in commands:
        skipped = isinstance(command, Refund) and isinstance(command.error, RefusedError)
        if command.error is not None and not (skipped and done):
            raise command.error
    return {command.experiment.name: command.outcome for command in done}


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
        begin_era_if_moved(store)
        names = database_names(store, units)
        self.journal = Journal(store, names.signer, names.pseudonyms, clock or SteadyClock())
        self._handles: dict[str, ExperimentHandle] = {}

    def __enter__(self) -> Shop:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self.journal.close()

    def experiments(self) -> list[ExperimentHandle]:
        with self.store.reading() as reader:
            experiments = reader.experiments()
        return [ExperimentHandle(self.journal, experiment) for experiment in experiments]

    def open(self, experiment: str) -> ExperimentHandle:
        """The experiment of this name, which must exist; none is ever deleted."""
        if experiment in self._handles:
            return self._handles[experiment]
        with self.store.reading() as reader:
            stored = reader.experiment(experiment_name(experiment))
        if stored is None:
            raise NotFoundError(f"experiment: no experiment has this name; got {experiment!r}.")
        return self._keep(stored)

    def _keep(self, experiment: Experiment) -> ExperimentHandle:
        handle = ExperimentHandle(self.journal, experiment)
        self._handles[experiment.name] = handle
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
        reporting_lag: float | str | None = None,
        shares: Mapping[str, Any] | None = None,
        fallback: str | None = None,
        owner: str | None = None,
        about: str | None = None,
        seed: int | None = None,
    ) -> ExperimentHandle:
        """Create the experiment, or open it if it exists with the same settings.

        Only settings that are passed are compared. Use `open` for an experiment that was changed
        since it was created, its arms too.

        policy         how to decide; `CalendarThompson` by default
        window         "30d", "12h" or seconds; later conversions are stored but not counted
        sticky         the same unit gets the same decision; True by default
        largest_value  of a conversion; 1 by default. ``scale`` is its older name
        credit         which of a unit's decisions an order pays for: first, last or every
        control        the arm that others are compared with
        currency       the currency of values, for people
        goals          what conversions can reach: the first decides, others are only reported
        retention      "400d": how long after a person's last event their names are stored
        reporting_lag  "27h": how late orders may be reported; what is younger does not count yet
        shares         of traffic, whatever the policy chooses: {"minimum": 0.05,
                       "arms": {"blue": 0.1}, "control": 0.2, "holdback": 0.1, "per_day": 0.1}
        fallback       the arm for units outside the experiment; the control by default
        owner, about   who looks after it, and what it is for; for people
        """
        options = {
            "policy": policy,
            "window": window,
            "sticky": sticky,
            "scale": one_largest_value(largest_value, scale),
            "credit": credit,
            "control": control,
            "currency": currency,
            "goals": goals,
            "retention": retention,
            "reporting_lag": reporting_lag,
            "shares": shares,
            "fallback": fallback,
            "owner": owner,
            "about": about,
        }
        passed = {name: value for name, value in options.items() if value is not None}
        settings = new_settings(arms, **passed)
        handle, new = self.create(called, settings, seed)
        if not new:
            require_same_settings(called, handle.settings, settings, [*passed, "arms"])
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
        # In every experiment: a log must be complete by itself.
        commands = [handle.join_command(unit, other) for handle in self.experiments()]
        self._execute(commands)

    def track(
        self,
        unit: str,
        order: str | None = None,
        value: float = 1.0,
        at: TimeLike = None,
        *,
        goal: str | None = None,
    ) -> dict[str, Credited]:
        """Report to every experiment that the unit has paid: the outcome of each.

        A value above an experiment's largest counts as the largest. With a ``goal``, it is reported
        to the experiments that have it. A refund (a value below 0) is left out of the answer by
        experiments that have no such order, or whose largest value is below it.
        """
        commands = self.track_commands(unit, order, value, at, goal)
        self.journal.execute(commands)
        return tracked(commands)

    def track_commands(
        self, unit: str, order: str | None, value: float, at: TimeLike, goal: str | None
    ) -> list[Order]:
        """The order, or refund, for every experiment that it may concern."""
        commands = []
        refused = []
        for handle in self.with_goal(goal):
            try:
                commands.append(handle.order_command(unit, order, value, at, goal))
            except RefusedError as error:
                refused.append(error)
        refunds = any(isinstance(command, Refund) for command in commands)
        if refused and not refunds:
            raise refused[0]
        return commands

    def add_webhook(
        self, url: str, kinds: Sequence[str] = (), *, anywhere: bool = False
    ) -> dict[str, str]:
        """Send alerts to ``url``, https or on this machine: the webhook's id, and the secret that
        signs messages, which is shown only now."""
        webhook, secret = add_webhook(self.journal, url, kinds, anywhere)
        return {"id": webhook.id, "secret": secret}

    def webhooks(self) -> list[dict[str, Any]]:
        return [webhook.plain() for webhook in all_webhooks(self.journal)]

    def remove_webhook(self, id: str) -> None:
        remove_webhook(self.journal, id)

    def deliver(self, anywhere: bool = False) -> int:
        """Send the messages that are due, as a running service does: how many were delivered."""
        return deliver_due(self.journal, anywhere)

    def with_goal(self, goal: str | None) -> list[ExperimentHandle]:
        """The experiments that have the goal; all of them, if none is named."""
        handles = self.experiments()
        if goal is None:
            return handles
        with_goal = [handle for handle in handles if goal in handle.settings.goals]
        if not with_goal:
            raise RefusedError(f"track: no experiment has this goal; got goal={goal!r:.100}.")
        return with_goal

    def erase(self, unit: str) -> Erased:
        """Remove what identifies the unit and all its aliases, everywhere.

        All counts stay. Backups from before still have the names.
        """
        return erase_unit(self.journal, unit)

    def forget(self) -> None:
        """Remove what identifies people whose last event is older than their experiment's
        retention, if it has one."""
        forget_silent(self.journal, self.experiments())

    def hash_units(self) -> int:
        """Hash all names of a database that has them in the clear: how many lines have changed.

        No other program may use the database meanwhile.
        """
        return hash_units(self.journal)

    def _execute(self, commands: Sequence[Command]) -> None:
        self.journal.execute(commands)
        for command in commands:
            if command.error is not None:
                raise command.error

    def create(
        self, called: str, settings: Settings, seed: int | None = None, by: str | None = None
    ) -> tuple[ExperimentHandle, bool]:
        """(the experiment of this name, whether it is new); ``by``: the id of a key."""
        experiment, new = create_experiment(self.journal, called, settings, seed, by=by)
        return self._keep(experiment), new

    def create_exactly(
        self, called: str, settings: Settings, seed: int | None = None, by: str | None = None
    ) -> tuple[ExperimentHandle, bool]:
        """Create the experiment; one of this name with other settings is a conflict."""
        handle, new = self.create(called, settings, seed, by)
        existing = as_if_new(handle.settings, settings)
        if existing != settings or seed not in (None, handle.experiment.seed):
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
        """Turn a history into a live experiment, or bring one up to date with later files.

        exposures, orders   files or tables as `read_events` takes them
        reading             its options: columns, preset, where, complete_until and so on
        settings            as `experiment` takes them, for a new one; its arms are the variants

        Repeating an import changes nothing. Import before the first live decision: exposures
        older than the last line of the log are skipped.
        """
        from patientbandits.analysis.events import read_rows
        from patientbandits.live.operations import import_rows

        experiment_name(called)
        largest = one_largest_value(settings.pop("largest_value", None), settings.get("scale"))
        if largest is not None:
            settings["scale"] = largest
        rows = read_rows(exposures, orders, **(reading or {}))
        return import_rows(self.journal, called, rows, settings)
