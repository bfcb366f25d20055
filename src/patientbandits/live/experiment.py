"""One experiment: decide, convert, retract, change, report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import msgspec

from patientbandits.live.commands import (
    Command,
    CommandMaker,
    Conversion,
    Credited,
    Decision,
    Evaluated,
    Exposed,
    Joined,
    Retraction,
    TimeLike,
    WantedChange,
    WantedQuarantine,
    append_change,
)
from patientbandits.live.errors import NotFoundError
from patientbandits.live.log import MILLIONTHS, ConversionLine, RetractionLine
from patientbandits.live.reporting import counts_over_time, exported
from patientbandits.live.settings import Settings, new_rule
from patientbandits.live.times import SECOND, bucket_width, iso_text, parsed_time


class ExperimentHandle(CommandMaker):
    """An experiment, for those who decide and report. Safe to share among threads."""

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms that can be chosen."""
        settings = self.settings
        return tuple(settings.arms[place] for place in settings.active)

    def decide(self, unit: str | None = None, key: str | None = None) -> Decision:
        """Decide on an arm; durable when it returns.

        unit  whom it is for: kept with the decision; if the experiment is sticky, given it again
        key   a repeated request with the same key gets the first one's decision, however late
        """
        return self._run(self.decide_command(unit, key))

    def evaluate(self, unit: str, provisional: bool = False) -> Evaluated:
        """Evaluate the flag for a unit, as OpenFeature asks for it.

        provisional  the unit may never see it, as when all flags are asked for at once: the arm is
                     kept for it, and counts from when it is exposed (`evaluate`, `decide` or
                     `expose`)
        """
        return self._run(self.evaluate_command(unit, provisional))

    def expose(
        self,
        unit: str,
        arm: str,
        at: TimeLike = None,
        propensity: float | None = None,
        *,
        key: str | None = None,
    ) -> Exposed:
        """Tell that the unit was shown ``arm``, by a system that splits its traffic itself.

        at          when, if not now; the policy learns from it, and did not choose it
        propensity  the probability with which that arm was to be shown, if it is known
        key         as in `decide`

        Repeating does no harm: a sticky unit is exposed once, others once for each ``at``.
        """
        return self._run(self.expose_command(unit, arm, at, propensity, key))

    def weights(self) -> dict[str, float]:
        """The share of traffic that each arm should get now, for those who split it themselves.

        These are the probabilities with which the policy would choose, if it knows them, or else
        how often it would choose each arm next; nothing is written.
        """
        from patientbandits.live.policy import weights_of

        with self.journal.store.reading() as reader:
            return weights_of(reader, self.experiment, self.journal.now())

    def convert(
        self,
        id: str | None = None,
        value: float = 1.0,
        at: TimeLike = None,
        *,
        unit: str | None = None,
        order: str | None = None,
        goal: str | None = None,
    ) -> Conversion | Credited:
        """Report that the decision ``id``, or a unit, has paid ``value``.

        at     when it happened, if not now: seconds since 1970, or a time with its zone
        unit   who paid, instead of the decision's id
        order  what for: several orders of a unit add up, at most to the largest value
        goal   what was reached, if not the goal that decides: kept, reported, not told the policy

        Repeating does no harm: a decision converts once, an order counts once, and so does what a
        unit paid without naming an order.
        """
        return self._run(self.conversion_command(id, value, at, unit=unit, order=order, goal=goal))

    def retract(
        self,
        id: str | None = None,
        *,
        unit: str | None = None,
        order: str | None = None,
        goal: str | None = None,
    ) -> Retraction:
        """Take a conversion back: a return, a fraud.

        By the decision's ``id``, for good; or by the ``order``, which counts again if it is sent
        with another value; or by the ``unit`` if it named no order.
        """
        return self._run(self.retraction_command(id, unit=unit, order=order, goal=goal))

    def alias(self, unit: str, other: str) -> Joined:
        """The two units are one person: a visitor logs in. What both did joins."""
        return self._run(self.join_command(unit, other))

    def _run(self, command: Command) -> Any:
        """Carry out one command: its outcome, or its error raised."""
        self.journal.execute([command])
        if command.error is not None:
            raise command.error
        return command.outcome

    def change(
        self,
        *,
        add_arms: Sequence[str] = (),
        retire: Sequence[str] = (),
        restore: Sequence[str] = (),
        add_goals: Sequence[str] = (),
        by: str | None = None,
        **changes: Any,
    ) -> Settings:
        """Change settings, by the names that HTTP has for them too; what is not named stays.

        policy, window, sticky, paused, credit, control, currency, retention, reporting_lag,
        shares, closed, fallback, owner, about; arms to add, to retire and to restore, and goals to
        add (the first there is decides); or ``arms`` and ``goals`` (which may be added) and
        ``retired`` as whole lists. The history stays and is told to the new policy.
        ``by``, here and below: the id of the key with which it was asked for; `changes` shows it.
        """
        change = WantedChange.of(
            add_arms=add_arms, retire=retire, restore=restore, add_goals=add_goals, **changes
        )
        return self._append(change, by)

    def _append(self, change: WantedChange | WantedQuarantine, by: str | None) -> Settings:
        append = partial(append_change, self.journal, self.experiment, change, by)
        return self.journal.alone(append)

    def changes(self) -> list[dict[str, Any]]:
        """Who changed which settings, and when; the latest first."""
        from patientbandits.live.reporting import settings_changes

        with self.journal.store.reading() as reader:
            return settings_changes(reader, self.experiment)

    def quarantine(
        self,
        *,
        unit: str | None = None,
        line: int | None = None,
        sender: str | None = None,
        since: TimeLike = None,
        until: TimeLike = None,
        only: str = "all",
        note: str = "",
        by: str | None = None,
    ) -> list[dict[str, Any]]:
        """Keep events but let them not count, until they are released: all rules, the new one too.

        unit          a unit's; nothing new is decided for it meanwhile
        line          the unit of this line of the log, as an alert names it
        sender        what was told with the key of this id
        since, until  decisions made and conversions told in between; until now, unless said
        only          "conversions": decisions stay
        """
        rule = new_rule(
            unit=None if line is not None else unit,
            others=line is not None,
            sender=sender,
            since=parsed_time(since, "quarantine"),
            until=parsed_time(until, "quarantine"),
            only=only,
            note=note,
        )
        named = msgspec.structs.replace(rule, unit=self.journal.names.maybe_unit(unit))
        if line is not None:
            named = msgspec.structs.replace(named, unit=self._unit_of(line))
        return self._rules_after(WantedQuarantine(added=named), by)

    def _unit_of(self, line: int) -> str:
        """The unit that a line names, or its decision, as the log calls it."""
        with self.journal.store.reading() as reader:
            lines = reader.lines(self.experiment.id, line - 1, line) if line > 0 else []
            if lines and isinstance(lines[0], (ConversionLine, RetractionLine)):
                decision = lines[0].decision
                lines = reader.lines(self.experiment.id, decision - 1, decision)
        units = lines[0].units if lines else ()
        if not units:
            raise NotFoundError(f"quarantine: no unit is named by this line; got line={line!r}.")
        return units[0]

    def release(self, id: str, by: str | None = None) -> list[dict[str, Any]]:
        """Let the events of the rule count again: the rules that are left."""
        return self._rules_after(WantedQuarantine(released=id), by)

    def _rules_after(self, change: WantedQuarantine, by: str | None) -> list[dict[str, Any]]:
        return [rule.plain() for rule in self._append(change, by).quarantine]

    def planned(self, **changes: Any) -> Settings:
        """The settings that `change` would lead to; nothing is written."""
        return WantedChange.of(**changes).settings(self.settings)

    def change_arms(self, add: Sequence[str] | None = None, **changes: Any) -> Settings:
        """Do as `change` does, with an older name for ``add_arms``."""
        return self.change(add_arms=add or (), **changes)

    def report(self) -> dict[str, Any]:
        """Per arm: pulls, conversions, raw rate, share matured, corrected rate with interval,
        probability of being best; the lag curve; and the other goals."""
        from patientbandits.live.monitoring import current_alerts
        from patientbandits.live.reporting import report_on

        settings = self.settings
        with self.journal.store.reading() as reader:
            alerts = current_alerts(reader, self.experiment.id)
            return report_on(reader, self.experiment, settings, self.journal.now(), alerts)

    def alerts(self) -> list[dict[str, Any]]:
        """Look for what somebody should know, keep it, queue it for webhooks: what stands now."""
        from patientbandits.live.monitoring import Watch

        return Watch(self.journal).look(self.experiment)

    def verdict(self, by: str | None = None) -> dict[str, Any]:
        """The leading arm, the risk of stopping now and the time that it still takes, as `analyse`
        finds it; ``words`` say it in a sentence.

        by  "rate" or "revenue" per decision; unless given, revenue if conversions have values
        """
        from patientbandits.live.reporting import verdict_on

        settings = self.settings
        with self.journal.store.reading() as reader:
            return verdict_on(reader, self.experiment, settings, self.journal.now(), by)

    def analysis(self, by: str | None = None) -> dict[str, Any]:
        """The verdict; which window would have crowned whom; how cohorts mature, as on the page of
        `analyse`."""
        from patientbandits.live.reporting import analysis_on

        settings = self.settings
        with self.journal.store.reading() as reader:
            return analysis_on(reader, self.experiment, settings, self.journal.now(), by)

    def timeseries(self, bucket: str | int = "auto") -> list[dict[str, Any]]:
        """Decisions and conversions by the time they were reported.

        Each {time, arm, pulls, conversions, value}.
        bucket  "minute", "hour", "day", "week", a number of seconds, or "auto": about 60 so far
        """
        settings = self.settings
        with self.journal.store.reading() as reader:
            age = reader.last_time(self.experiment.id) - self.experiment.created
            width = bucket_width(bucket, age)
            micros = width * SECOND
            slots = counts_over_time(reader, self.experiment.id, micros, settings.quarantine)
        return [
            {
                "time": iso_text(slot.start),
                "arm": settings.arms[slot.arm],
                "pulls": slot.pulls,
                "conversions": slot.conversions,
                "value": slot.paid / MILLIONTHS * settings.scale,
            }
            for slot in slots
        ]

    def export(self, format: str = "csv") -> Iterator[bytes]:
        """Every decision with what became of it, in pieces of a CSV or Parquet file."""
        return exported(self.journal, self.experiment, self.settings, format)
