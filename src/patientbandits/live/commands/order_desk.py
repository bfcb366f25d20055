"""Orders, withdrawals and aliases within a batch: what people paid, and who they are."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import asdict

from patientbandits.live.commands.commands import (
    AboutDecision,
    Command,
    Credited,
    Expose,
    Join,
    Joined,
    Order,
    Retraction,
    Withdraw,
)
from patientbandits.live.commands.credits import credit_line, credits_due, own_worth, recorded_worth
from patientbandits.live.commands.draft import SKEW, Draft, same_moment
from patientbandits.live.commands.people import People, PlacedOrder
from patientbandits.live.errors import MismatchError, NotFoundError, RefusedError
from patientbandits.live.log import (
    AliasLine,
    Decided,
    DecisionLine,
    ExposureLine,
    OpenDecision,
    OrderLine,
    UnitGoalLine,
    WithdrawalLine,
)
from patientbandits.live.settings import Worth
from patientbandits.live.storage import Reader
from patientbandits.live.times import iso_text


class OrderDesk:
    """The part of a batch that knows people. It adds its lines to those of the batch."""

    def __init__(self, batch: Draft) -> None:
        self._batch = batch
        settings = batch.settings
        self.people = People(batch.decided, settings.crediting, settings.quarantine)
        """those that a command is about"""

    def look_up(self, commands: Sequence[Command], reader: Reader, decided_for: set[str]) -> None:
        """``decided_for``: units that may get the decision of another unit of their person."""
        named: set[str] = set()
        units: set[str] = set()
        for command in commands:
            if isinstance(command, (Order, Withdraw)):
                if command.unit is not None:
                    units.add(command.unit)
                if command.order is not None:
                    named.add(command.order)
            elif isinstance(command, Join):
                units |= {command.unit, command.other}
            elif isinstance(command, Expose):
                units.add(command.unit)
            elif isinstance(command, AboutDecision) and self._batch.state.may_credit:
                about = self._batch.decided.get(command.seq)
                if about is not None and about.decision.unit is not None:
                    units.add(about.decision.unit)
        if self._batch.state.has_aliases:
            units |= decided_for
        if units or named:
            goals = bool(self._batch.settings.goals)
            self.people.look_up(reader, self._batch.experiment.id, units, named, goals)

    def decided(self, line: DecisionLine | OpenDecision) -> None:
        """Note that a decision was made."""
        self.people.expose(line)

    def told(self, line: ExposureLine, unit: str) -> None:
        """Note somebody else's decision: orders told before may be paid for it."""
        self.people.expose(line)
        self.settle(unit)

    def made_for(self, unit: str) -> int | None:
        """The last decision for another unit of the same person, if its arm is not retired."""
        batch = self._batch
        for exposure in reversed(self.people.exposures(unit)):
            seq = exposure.seq
            if seq in batch.open or batch.decided[seq].decision.arm in batch.state.shown:
                return seq
        return None

    def order(self, command: Order) -> None:
        people = self.people
        versions = people.versions(command.unit, command.order, command.goal)
        before = self._same_order(command, versions)
        if before is None:
            before = PlacedOrder(self._order_line(command))
            self._batch.lines.append(before.line)
            people.place(before.line)
            if command.goal is None:
                self.settle(command.unit)
            duplicate = False
        else:
            duplicate = True
        command.outcome = Credited(
            duplicate=duplicate,
            counted=people.counts(before),
            exposed=bool(people.exposures(command.unit)),
        )

    def _happened(self, command: Order) -> int:
        """When, by the clock, whatever the log's time; not before decisions whose time is of a
        clock that was ahead."""
        clock = self._batch.clock
        made = [exposure.time for exposure in self.people.exposures(command.unit)]
        if command.happened is None:
            return max([clock, *made])
        if command.happened > clock + SKEW:
            raise RefusedError(
                "conversion: it must not happen in the future, "
                f"now is {iso_text(clock)}; got at={iso_text(command.happened)}."
            )
        happened = min(command.happened, clock)
        if made and made[0] > clock + SKEW:
            return made[0]
        return happened

    def _order_line(self, command: Order) -> OrderLine:
        line = OrderLine(
            experiment=self._batch.experiment.id,
            seq=self._batch.next_seq(),
            time=self._batch.now,
            unit=command.unit,
            order=command.order,
            value=command.value,
            happened=self._happened(command),
            stated=command.happened,
            sender=command.sender,
        )
        if command.goal is None:
            return line
        return UnitGoalLine(**asdict(line), goal=command.goal)

    def _same_order(self, command: Order, versions: Sequence[PlacedOrder]) -> PlacedOrder | None:
        """The order as it came before, if it did; with other content it must be withdrawn first."""
        persons = self.people.persons
        for version in reversed(versions):
            line = version.line
            same_person = persons.same(line.unit, command.unit)
            if same_person and line.value == command.value and same_moment(line, command.happened):
                return version
        if any(not version.withdrawn for version in versions):
            raise MismatchError(
                "conversion: this order came before with another unit, value or time; the first "
                "stays until it is retracted."
            )
        return None

    def withdraw(self, command: Withdraw) -> None:
        people = self.people
        versions = people.versions(command.unit, command.order, command.goal)
        if not versions:
            raise NotFoundError("retraction: there is no such order.")
        last = versions[-1]
        unit = last.line.unit
        if command.unit is not None and not people.persons.same(unit, command.unit):
            raise MismatchError("retraction: this order is of another unit.")
        if not last.withdrawn:
            line = WithdrawalLine(
                experiment=self._batch.experiment.id,
                seq=self._batch.next_seq(),
                time=self._batch.now,
                withdrawn=last.line.seq,
            )
            self._batch.lines.append(line)
            people.withdraw(last)
            if command.goal is None:
                self.settle(unit)
        command.outcome = Retraction(duplicate=last.withdrawn)

    def join(self, command: Join) -> None:
        people = self.people
        before = people.persons.same(command.unit, command.other)
        if not before:
            line = AliasLine(
                experiment=self._batch.experiment.id,
                seq=self._batch.next_seq(),
                time=self._batch.now,
                unit=command.unit,
                other=command.other,
            )
            self._batch.lines.append(line)
            people.persons.join(command.unit, command.other)
            self.settle(command.unit)
        command.outcome = Joined(duplicate=before)

    def settle(self, unit: str) -> None:
        """Write down what the person's decisions are worth now, where it is something else."""
        for about, worth in list(credits_due(self.people, [unit], self._batch.settings)):
            self._credit(about, worth)

    def settle_alone(self, about: Decided) -> None:
        """The same for a decision without a unit, which only a quarantine can make worth less."""
        worth = own_worth(about, self._batch.settings)
        if recorded_worth(about, self._batch.settings) != worth:
            self._credit(about, worth)

    def _credit(self, about: Decided, worth: Worth) -> None:
        batch = self._batch
        line = credit_line(about, worth, batch.next_seq(), batch.now)
        batch.lines.append(line)
        credits = (*about.credits, line)
        batch.decided[about.decision.seq] = about._replace(credits=credits)
