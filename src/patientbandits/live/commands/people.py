"""The people that a batch of commands is about: their units, decisions and orders.

Units that an alias joins are one person. What is looked up here is all that crediting their orders
needs; what the batch adds is added here too, so that each command sees those before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from patientbandits.live.log import (
    AliasLine,
    Decided,
    DecisionLine,
    OpenDecision,
    OrderLine,
    UnitGoalLine,
    WithdrawalLine,
)
from patientbandits.live.settings import (
    WORTHLESS,
    Crediting,
    Exposure,
    Payment,
    QuarantineRules,
    Settings,
    Worth,
    decision_quarantined,
    quarantined,
    summed,
)
from patientbandits.live.storage import Reader


class PlacedOrder(NamedTuple):
    """An order, and whether it was withdrawn."""

    line: OrderLine
    withdrawal: WithdrawalLine | None = None
    reported: int = 0
    """when the order was reported; of what a refund has left, when it was first"""

    @property
    def withdrawn(self) -> bool:
        return self.withdrawal is not None

    def leaves(self, line: OrderLine) -> bool:
        """Tell whether the line is what a refund has left of this order."""
        gone = self.withdrawal
        return gone is not None and (gone.share or 1.0) < 1.0 and gone.seq + 1 == line.seq

    @property
    def payment(self) -> Payment:
        line = self.line
        return Payment(happened=line.happened, seq=line.seq, value=line.value)


LARGEST_PERSON = 1000
"""units: each request about one of them reads what all of them did"""


class AliasGroups:
    """Units grouped by person, as aliases join them."""

    def __init__(self) -> None:
        self._units: dict[str, list[str]] = {}
        """of each unit that an alias names: those of its person, one list for all of them"""
        self._joined: set[str] = set()
        """units that were joined to others"""

    def units(self, unit: str) -> list[str]:
        """The units of the unit's person."""
        return self._units.get(unit, [unit])

    def same(self, unit: str, other: str) -> bool:
        return other in self.units(unit)

    def join(self, unit: str, other: str) -> None:
        self._joined.add(unit)
        if self.same(unit, other):
            return
        fewer, more = sorted((self.units(unit), self.units(other)), key=len)
        more.extend(fewer)
        for one in (more[0], *fewer):
            self._units[one] = more

    def root(self, unit: str) -> str:
        """The unit to join others to: aliases lead to it from the unit in few steps."""
        units = self.units(unit)
        return next((one for one in units if one not in self._joined), units[0])


def with_aliases(
    reader: Reader, experiment: int, units: set[str], aliases: AliasGroups
) -> set[str]:
    """All units of the people behind ``units``, who are added to ``aliases``."""
    everyone: set[str] = set()
    new = units
    while new:
        everyone |= new
        seen: set[str] = set()
        for column in ("unit", "key"):
            for line in reader.named_lines(experiment, AliasLine, column, sorted(new)):
                aliases.join(line.unit, line.other)
                seen |= {line.unit, line.other}
        new = seen - everyone
    return everyone


class BatchPeople:
    def __init__(
        self, decided: dict[int, Decided], crediting: Crediting, rules: QuarantineRules = ()
    ) -> None:
        """``decided``: the batch's decisions by line, which it keeps up to date."""
        self._decided = decided
        self._rules = rules
        self._crediting = crediting
        self.aliases = AliasGroups()
        self._exposures: dict[str, list[Exposure]] = {}
        self._orders: dict[str, dict[int, PlacedOrder]] = {}
        self._named: dict[tuple[str | None, str], list[int]] = {}
        """the lines of each order, by its goal and name"""
        self._refunded: dict[int, PlacedOrder] = {}
        """by the line of their refund or withdrawal"""
        self._places: dict[int, str] = {}
        """the unit of each order, by its line"""

    def look_up(
        self,
        reader: Reader,
        experiment: int,
        units: set[str],
        orders: set[str],
        goals: bool = False,
    ) -> None:
        """Look up all about the people behind these units and these names of orders.

        ``goals``: with the goals they reached beside the one that decides.
        """
        kinds = (OrderLine, UnitGoalLine) if goals else (OrderLine,)
        named: list[OrderLine] = []
        for kind in kinds:
            named += reader.named_lines(experiment, kind, "key", sorted(orders))
        units = units | {line.unit for line in named}
        everyone = sorted(with_aliases(reader, experiment, units, self.aliases))
        decided = reader.decided(experiment, "unit", everyone)
        for about in reader.with_credits(experiment, decided):
            self._decided[about.decision.seq] = about
            self.expose(about.decision)
        placed: list[OrderLine] = []
        for kind in kinds:
            placed += reader.named_lines(experiment, kind, "unit", everyone)
        gone = reader.lines_about(experiment, WithdrawalLine, [line.seq for line in placed])
        withdrawals = {line.withdrawn: line for line in gone}
        for line in placed:
            self.place(line, withdrawals.get(line.seq))

    def expose(self, decision: DecisionLine | OpenDecision) -> None:
        """Note that a decision was made, or is about to be, for its unit."""
        if decision.unit is not None:
            time = decision.made if isinstance(decision, DecisionLine) else decision.time
            exposure = Exposure(time=time, seq=decision.seq)
            self._exposures.setdefault(decision.unit, []).append(exposure)

    def place(self, line: OrderLine, withdrawal: WithdrawalLine | None = None) -> None:
        """Note that an order was placed by its unit."""
        before = self._refunded.get(line.seq - 1)
        reported = line.time
        if before is not None and before.leaves(line):
            reported = before.reported
        self._keep(PlacedOrder(line, withdrawal, reported))
        self._places[line.seq] = line.unit
        if line.order is not None:
            self._named.setdefault((line.goal, line.order), []).append(line.seq)

    def withdraw(self, order: PlacedOrder, withdrawal: WithdrawalLine) -> None:
        self._keep(order._replace(withdrawal=withdrawal))

    def _keep(self, order: PlacedOrder) -> None:
        self._orders.setdefault(order.line.unit, {})[order.line.seq] = order
        if order.withdrawal is not None:
            self._refunded[order.withdrawal.seq] = order

    def versions(self, unit: str | None, order: str | None, goal: str | None) -> list[PlacedOrder]:
        """The order of this name, or the unit's one without a name, as often as it was placed.

        With a ``goal``: how often this one was reached.
        """
        if order is not None:
            seqs = self._named.get((goal, order), [])
            return [self._orders[self._places[seq]][seq] for seq in seqs]
        placed = self._orders.get(unit or "", {}).values()
        return [one for one in placed if one.line.order is None and one.line.goal == goal]

    def orders_of(self, unit: str, goal: str | None) -> list[list[PlacedOrder]]:
        """The orders of the unit's person, each as often as it was placed."""
        by_name: dict[tuple[str, str | None], list[PlacedOrder]] = {}
        for one in self.aliases.units(unit):
            for placed in self._orders.get(one, {}).values():
                if placed.line.goal == goal:
                    by_name.setdefault((one, placed.line.order), []).append(placed)
        return list(by_name.values())

    def exposures(self, unit: str) -> list[Exposure]:
        """The exposures of the unit's person, by time."""
        exposures: list[Exposure] = []
        for one in self.aliases.units(unit):
            exposures += self._exposures.get(one, ())
        return sorted(exposures)

    def decisions_for(self, unit: str) -> Iterator[int]:
        """The lines of the decisions for this very unit."""
        return (exposure.seq for exposure in self._exposures.get(unit, ()))

    def counts(self, order: PlacedOrder) -> bool:
        """Tell whether a decision is credited with it."""
        return self._stands(order) and bool(self.paid_by(order))

    def paid_by(self, order: PlacedOrder) -> list[Exposure]:
        """The decisions that it would be credited to."""
        return self._crediting.paid_by(order.payment, self._counted_exposures(order.line.unit))

    def _counted_exposures(self, unit: str) -> list[Exposure]:
        return [one for one in self.exposures(unit) if not self._excluded(one)]

    def _excluded(self, exposure: Exposure) -> bool:
        about = self._decided.get(exposure.seq)
        if not self._rules or about is None:
            return False
        decision = about.decision
        return decision_quarantined(self._rules, decision.made, decision.unit, decision.sender)

    def goals(self) -> Iterator[tuple[str, PlacedOrder]]:
        """(name, reaching it) of all goals that were looked up and stand."""
        for placed in self._orders.values():
            for order in placed.values():
                if order.line.goal is not None and self._stands(order):
                    yield order.line.goal, order

    def worths(self, unit: str) -> Iterator[tuple[Decided, Worth]]:
        """Every decision for the unit's person, and what it is worth."""
        exposures = self._counted_exposures(unit)
        orders = [order.payment for order in self._standing(unit)]
        for seq, payments in self._crediting.payments(exposures, orders).items():
            about = self._decided.get(seq)
            if about is None:  # still to be made: nothing can have been paid for it
                continue
            # an order and a conversion by id are two payments of one decision
            yield about, summed([*payments, *own_payments(about, self._crediting, self._rules)])
        for exposure in self.exposures(unit):
            if self._excluded(exposure):
                yield self._decided[exposure.seq], WORTHLESS

    def _standing(self, unit: str) -> Iterator[PlacedOrder]:
        """The orders that count towards the goal that decides."""
        for one in self.aliases.units(unit):
            for order in self._orders.get(one, {}).values():
                if order.line.goal is None and self._stands(order):
                    yield order

    def _stands(self, order: PlacedOrder) -> bool:
        line = order.line
        return not order.withdrawn and not quarantined(
            self._rules, order.reported, line.unit, line.sender
        )


def own_payments(
    about: Decided, crediting: Crediting, rules: QuarantineRules
) -> tuple[Payment, ...]:
    """The payment of the decision by its id."""
    line = about.conversion
    if line is None or about.retraction is not None:
        return ()
    if quarantined(rules, line.time, about.decision.unit, line.sender):
        return ()
    if not crediting.counts(line.happened - about.decision.made):
        return ()
    return (Payment(happened=line.happened, seq=line.seq, value=line.value),)


def recorded_worth(about: Decided, settings: Settings) -> Worth:
    """The worth of the decision as the log has it."""
    if about.credits:
        last = about.credits[-1]
        return Worth(last.value, last.happened)
    conversion = about.conversion
    if conversion is None or about.retraction is not None or not conversion.value:
        return WORTHLESS
    if not settings.counts(conversion.happened - about.decision.made):
        return WORTHLESS
    return Worth(conversion.value, conversion.happened)


def credits_due(
    people: BatchPeople, units: Iterable[str], settings: Settings
) -> Iterator[tuple[Decided, Worth]]:
    """The decisions for the people behind ``units`` whose recorded worth is not the right one."""
    for unit in units:
        for about, worth in people.worths(unit):
            if recorded_worth(about, settings) != worth:
                yield about, worth


def credit_fields(about: Decided, worth: Worth) -> dict[str, Any]:
    """The fields of a credit that says what the decision is worth."""
    return {"decision": about.decision.seq, "value": worth.value, "happened": worth.happened}


def own_worth(about: Decided, settings: Settings) -> Worth:
    """The worth of a decision without a unit: what it was paid by its id."""
    decision = about.decision
    rules = settings.quarantine
    if decision_quarantined(rules, decision.made, decision.unit, decision.sender):
        return WORTHLESS
    return summed(own_payments(about, settings.crediting, settings.quarantine))


def all_credits_due(
    reader: Reader, experiment: int, settings: Settings, everyone: bool = False
) -> list[tuple[Decided, Worth]]:
    """The credits that must be written when settings have changed, of everyone who ever ordered.

    ``everyone``: also of decisions that were paid by their id alone, which a quarantine, but no
    other setting, makes worth something else.
    """
    units = {line.unit for line in reader.lines_with_unit(experiment, OrderLine)}
    alone: list[Decided] = []
    if everyone:
        converted = reader.converted(experiment)
        units |= {about.decision.unit for about in converted if about.decision.unit is not None}
        alone = [about for about in converted if about.decision.unit is None]
    people = BatchPeople({}, settings.crediting, settings.quarantine)
    people.look_up(reader, experiment, units, set())
    one_each = {tuple(people.aliases.units(unit)): unit for unit in sorted(units)}
    due = list(credits_due(people, one_each.values(), settings))
    for about in alone:
        worth = own_worth(about, settings)
        if recorded_worth(about, settings) != worth:
            due.append((about, worth))
    return due
