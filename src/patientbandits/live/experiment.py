"""One experiment: decide, convert, retract, change, report."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from patientbandits.live.cohorts import counts_over_time
from patientbandits.live.commands import (
    Command,
    Conversion,
    Convert,
    Credited,
    Decide,
    Decision,
    Join,
    Joined,
    Order,
    Retract,
    Retraction,
    Withdraw,
)
from patientbandits.live.errors import RefusedError, UnknownError
from patientbandits.live.export import exported
from patientbandits.live.journal import Journal
from patientbandits.live.log_line import MILLIONTHS, LogLine
from patientbandits.live.names import printable_text
from patientbandits.live.order_desk import all_credits_due, credit_line
from patientbandits.live.settings import (
    Settings,
    checked_changes,
    listed_names,
    settings_text,
    stored_settings,
)
from patientbandits.live.store.base import Experiment, Reader
from patientbandits.live.times import SECOND, bucket_width, iso_text, parsed_time


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
            raise RefusedError(f"experiment: there are no such arms; got {unknown!r:.300}.")
        gone = {*have.retired, *self.retired} - set(self.restored)
        retired = [arm for arm in arms if arm in gone]
        return {"arms": tuple(arms), "retired": tuple(retired)}


class ExperimentHandle:
    """What can be done with an experiment. Safe to share among threads."""

    def __init__(self, journal: Journal, experiment: Experiment) -> None:
        self.journal = journal
        self.experiment = experiment
        self._scale: float | None = None

    @property
    def name(self) -> str:
        return self.experiment.name

    @property
    def settings(self) -> Settings:
        """As they are now."""
        with self.journal.store.reading() as reader:
            return self._settings(reader)

    def _settings(self, reader: Reader) -> Settings:
        last = reader.changes(self.experiment.id)[-1]
        return stored_settings(last.settings or "")

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms that can be chosen."""
        settings = self.settings
        return tuple(settings.arms[place] for place in settings.active)

    @property
    def scale(self) -> float:
        """The largest value a conversion can have; it never changes."""
        if self._scale is None:
            self._scale = self.settings.scale
        return self._scale

    def decide(self, unit: str | None = None, key: str | None = None) -> Decision:
        """Decide on an arm; durable when it returns.

        unit  whom it is for: kept with the decision; if the experiment is sticky, given it again
        key   a repeated request with the same key gets the first one's decision, however late
        """
        return self._run(self.decide_command(unit, key))

    def convert(
        self,
        id: str | None = None,
        value: float = 1.0,
        at: float | datetime | str | None = None,
        *,
        unit: str | None = None,
        order: str | None = None,
    ) -> Conversion | Credited:
        """Report that the decision ``id``, or a unit, has paid ``value``.

        at     when it happened, if not now: seconds since 1970, or a time with its zone
        unit   who paid, instead of the decision's id
        order  what for: several orders of a unit add up, at most to the largest value

        Repeating does no harm: a decision converts once, an order counts once, and so does what a
        unit paid without naming an order.
        """
        return self._run(self.conversion_command(id, value, at, unit=unit, order=order))

    def retract(
        self, id: str | None = None, *, unit: str | None = None, order: str | None = None
    ) -> Retraction:
        """Take a conversion back: a return, a fraud.

        By the decision's ``id``, for good; or by the ``order``, which counts again if it is sent
        with another value; or by the ``unit`` if it named no order.
        """
        return self._run(self.retraction_command(id, unit=unit, order=order))

    def alias(self, unit: str, other: str) -> Joined:
        """The two units are one person: a visitor logs in. What both did joins."""
        return self._run(self.join_command(unit, other))

    def _run(self, command: Command) -> Any:
        """Carry out one command: its outcome, or its error raised."""
        self.journal.execute([command])
        if command.error is not None:
            raise command.error
        return command.outcome

    def decide_command(self, unit: str | None = None, key: str | None = None) -> Decide:
        if unit is not None:
            printable_text("decision: unit", unit)
        if key is not None:
            printable_text("decision: key", key)
        return Decide(self.experiment, unit, key)

    def convert_command(
        self, id: str | None, value: float = 1.0, at: float | datetime | str | None = None
    ) -> Convert:
        scale = self.scale
        seq = self._seq(id)
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not 0 <= value <= scale:
            raise RefusedError(
                f"conversion: value must be a number in [0, {scale:g}]; got value={value!r:.100}."
            )
        millionths = round(value / scale * MILLIONTHS)
        if value > 0 and millionths == 0:
            raise RefusedError(
                "conversion: value must be 0 or at least a millionth of the scale, "
                f"{scale / MILLIONTHS:g}; got value={value!r:.100}."
            )
        return Convert(self.experiment, seq, millionths, parsed_time(at))

    def conversion_command(
        self,
        id: str | None,
        value: float = 1.0,
        at: float | datetime | str | None = None,
        *,
        unit: str | None = None,
        order: str | None = None,
    ) -> Convert | Order:
        """By the decision's id or by the unit."""
        if id is None and unit is not None:
            return self.order_command(unit, order, value, at)
        if unit is not None or order is not None:
            raise RefusedError(
                "conversion: either id or unit must be given, and order only with unit; "
                f"got id={id!r:.100}, unit={unit!r:.100}, order={order!r:.100}."
            )
        return self.convert_command(id, value, at)

    def retraction_command(
        self, id: str | None, *, unit: str | None = None, order: str | None = None
    ) -> Retract | Withdraw:
        """By the decision's id, or by order or unit."""
        by_unit = unit is not None or order is not None
        if id is None and by_unit:
            return self.withdraw_command(unit, order)
        if by_unit:
            raise RefusedError(
                "retraction: either id, or unit or order must be given; "
                f"got id={id!r:.100}, unit={unit!r:.100}, order={order!r:.100}."
            )
        return self.retract_command(id)

    def order_command(
        self,
        unit: str,
        order: str | None = None,
        value: float = 1.0,
        at: float | datetime | str | None = None,
    ) -> Order:
        printable_text("conversion: unit", unit)
        if order is not None:
            printable_text("conversion: order", order)
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not 0 <= value < math.inf:
            raise RefusedError(
                f"conversion: value must be a finite number >= 0; got value={value!r:.100}."
            )
        millionths = round(min(value / self.scale, 1.0) * MILLIONTHS)
        return Order(self.experiment, unit, order, millionths, parsed_time(at))

    def withdraw_command(self, unit: str | None, order: str | None) -> Withdraw:
        if unit is not None:
            printable_text("retraction: unit", unit)
        if order is not None:
            printable_text("retraction: order", order)
        return Withdraw(self.experiment, unit, order)

    def join_command(self, unit: str, other: str) -> Join:
        printable_text("alias: unit", unit)
        printable_text("alias: other", other)
        return Join(self.experiment, unit, other)

    def retract_command(self, id: str | None) -> Retract:
        return Retract(self.experiment, self._seq(id))

    def _seq(self, id: str | None) -> int:
        read = self.journal.signer.read(id)
        if read.experiment != self.experiment.id:
            raise UnknownError(
                f"decision: there is none with this id in {self.name!r}; got {id!r}."
            )
        return read.seq

    def change(
        self,
        *,
        add_arms: Sequence[str] = (),
        retire: Sequence[str] = (),
        restore: Sequence[str] = (),
        **changes: Any,
    ) -> Settings:
        """Change settings, by the names that HTTP has for them too; what is not named stays.

        policy, window, sticky, paused, credit, control, currency; arms to add, to retire and to
        restore; or ``arms`` (which may be added) and ``retired`` as whole lists. The history stays
        and is told to the new policy.
        """
        wanted = checked_changes(changes)
        named = NamedArms(
            added=listed_names("add_arms", add_arms),
            retired=listed_names("retire", retire),
            restored=listed_names("restore", restore),
        )
        return self.journal.alone(lambda: self._append_change(wanted, named))

    def _append_change(self, wanted: dict[str, Any], named: NamedArms) -> Settings:
        store = self.journal.store
        old = self._settings(store)
        if any(named):
            wanted = {**wanted, **named.lists(old)}
        new = old.changed(**wanted)
        if new == old:
            return new
        last = store.head(self.experiment.id)
        now = max(self.journal.now(), store.time(self.experiment.id, last))
        lines: list[LogLine] = []
        if new.crediting != old.crediting:
            for about, worth in all_credits_due(store, self.experiment.id, new):
                lines.append(credit_line(about, worth, last + 1 + len(lines), now))
        change = LogLine(
            experiment=self.experiment.id,
            seq=last + 1 + len(lines),
            kind="change",
            time=now,
            settings=settings_text(new),
        )
        store.append([*lines, change])
        return new

    def planned(
        self,
        *,
        add_arms: Sequence[str] = (),
        retire: Sequence[str] = (),
        restore: Sequence[str] = (),
        **changes: Any,
    ) -> Settings:
        """The settings that `change` would lead to; nothing is written."""
        named = NamedArms(tuple(add_arms), tuple(retire), tuple(restore))
        wanted = checked_changes(changes)
        old = self.settings
        if any(named):
            wanted = {**wanted, **named.lists(old)}
        return old.changed(**wanted)

    def change_arms(self, add: Sequence[str] | None = None, **changes: Any) -> Settings:
        """As `change`, with an older name for ``add_arms``."""
        return self.change(add_arms=add or (), **changes)

    def report(self) -> dict[str, Any]:
        """Per arm: pulls, conversions, raw rate, share matured, corrected rate with interval,
        probability of being best; and the lag curve."""
        from patientbandits.live.report import report_on  # needs time to be imported

        settings = self.settings
        with self.journal.store.reading() as reader:
            return report_on(reader, self.experiment, settings, self.journal.now())

    def verdict(self) -> dict[str, Any]:
        """Which arm leads, what stopping now risks, and how long it still takes, as `analyse`
        finds it; ``words`` say it in a sentence."""
        from patientbandits.live.verdict import verdict_on  # needs time to be imported

        settings = self.settings
        with self.journal.store.reading() as reader:
            return verdict_on(reader, self.experiment, settings, self.journal.now())

    def timeseries(self, bucket: str | int = "auto") -> list[dict[str, Any]]:
        """Decisions and conversions by the time they were reported.

        Each {time, arm, pulls, conversions, value}.
        bucket  "minute", "hour", "day", "week", a number of seconds, or "auto": about 60 so far
        """
        settings = self.settings
        with self.journal.store.reading() as reader:
            age = reader.last_time(self.experiment.id) - self.experiment.created
            width = bucket_width(bucket, age)
            found = counts_over_time(reader, self.experiment.id, width * SECOND)
        return [
            {
                "time": iso_text(slot.start),
                "arm": settings.arms[slot.arm],
                "pulls": slot.pulls,
                "conversions": slot.conversions,
                "value": slot.paid / MILLIONTHS * settings.scale,
            }
            for slot in found
        ]

    def export(self, format: str = "csv") -> Iterator[bytes]:
        """Every decision with what became of it, in pieces of a CSV or Parquet file."""
        return exported(self.journal, self.experiment, self.settings, format)
