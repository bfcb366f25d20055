"""Conversions told by the decision's id, and their retractions, within a batch."""

from __future__ import annotations

from patientbandits.live.commands.commands import (
    AboutDecision,
    Conversion,
    Convert,
    Retract,
    Retraction,
)
from patientbandits.live.commands.draft import SKEW, Draft, same_moment
from patientbandits.live.commands.goal_desk import GoalDesk
from patientbandits.live.commands.order_desk import OrderDesk
from patientbandits.live.errors import ConflictError, MismatchError, NotFoundError, RefusedError
from patientbandits.live.log import ConversionLine, Decided, DecisionLine, RetractionLine
from patientbandits.live.settings import decision_quarantined, quarantined
from patientbandits.live.times import iso_text


class OutcomeDesk:
    """The part of a batch that is told decisions' ids. Other goals are passed on to their desk."""

    def __init__(self, batch: Draft, orders: OrderDesk) -> None:
        self._batch = batch
        self._orders = orders
        self.goals = GoalDesk(batch)

    def take(self, command: AboutDecision) -> None:
        """The decision has paid, or has not after all."""
        about = self._batch.decided.get(command.seq)
        if about is None:
            raise NotFoundError("decision: there is none with this id.")
        if isinstance(command, Convert):
            self._convert(command, about)
        elif isinstance(command, Retract):
            self._retract(command, about)
        if command.goal is not None:
            return
        if about.decision.unit is not None:
            self._orders.settle(about.decision.unit)
        elif self._batch.settings.quarantine:
            self._orders.settle_alone(self._batch.decided[command.seq])

    def _convert(self, command: Convert, about: Decided) -> None:
        if command.goal is not None:
            happened = self._happened(command, about.decision)
            self.goals.convert(command, command.goal, about, happened)
            return
        if about.conversion is not None:
            self._convert_again(command, about, about.conversion)
            return
        happened = self._happened(command, about.decision)
        line = ConversionLine(
            experiment=self._batch.experiment.id,
            seq=self._batch.next_seq(),
            time=self._batch.now,
            decision=command.seq,
            value=command.value,
            happened=happened,
            stated=command.happened,
            sender=command.sender,
        )
        self._batch.lines.append(line)
        self._batch.decided[command.seq] = about._replace(conversion=line)
        counted = self._counted(line, about)
        command.outcome = Conversion(duplicate=False, counted=counted)

    def _happened(self, command: Convert, decision: DecisionLine) -> int:
        """When, between the decision and now by the clock, whatever the log's time."""
        if command.happened is None:
            return max(self._batch.clock, decision.made)
        sound = decision.made <= self._batch.clock + SKEW  # not written by a clock that was ahead
        if sound and command.happened < decision.made - SKEW:
            raise RefusedError(
                "conversion: it must not happen before its decision, "
                f"{iso_text(decision.made)}; got at={iso_text(command.happened)}."
            )
        if command.happened > self._batch.clock + SKEW:
            raise RefusedError(
                "conversion: it must not happen in the future, "
                f"now is {iso_text(self._batch.clock)}; got at={iso_text(command.happened)}."
            )
        return max(min(command.happened, self._batch.clock), decision.made)

    def _convert_again(self, command: Convert, about: Decided, before: ConversionLine) -> None:
        if before.value != command.value or not same_moment(before, command.happened):
            raise MismatchError("conversion: this decision has another one already, which stays.")
        counted = about.retraction is None and self._counted(before, about)
        command.outcome = Conversion(duplicate=True, counted=counted)

    def _counted(self, conversion: ConversionLine, about: Decided) -> bool:
        """Tell whether it is within the window, and not in quarantine."""
        rules = self._batch.settings.quarantine
        decision = about.decision
        if decision_quarantined(rules, decision.made, decision.unit, decision.sender):
            return False
        if quarantined(rules, conversion.time, decision.unit, conversion.sender):
            return False
        return self._batch.settings.counts(conversion.happened - about.decision.made)

    def _retract(self, command: Retract, about: Decided) -> None:
        if command.goal is not None:
            self.goals.retract(command, command.goal)
            return
        if about.conversion is None:
            raise ConflictError("retraction: this decision has no conversion to retract.")
        if about.retraction is None:
            line = RetractionLine(
                experiment=self._batch.experiment.id,
                seq=self._batch.next_seq(),
                time=self._batch.now,
                decision=command.seq,
            )
            self._batch.lines.append(line)
            self._batch.decided[command.seq] = about._replace(retraction=line)
        command.outcome = Retraction(duplicate=about.retraction is not None)
