"""Orders, withdrawals and aliases within a batch: what people paid, and who they are."""

from __future__ import annotations

from collections.abc import Sequence

from patientbandits.live.commands.commands import (
    Credited,
    Join,
    Joined,
    Order,
    Retraction,
    Withdraw,
)
from patientbandits.live.commands.draft import SKEW, Draft, same_moment
from patientbandits.live.commands.people import (
    LARGEST_PERSON,
    PlacedOrder,
    credit_fields,
    credits_due,
    own_worth,
    recorded_worth,
)
from patientbandits.live.errors import ConflictError, MismatchError, NotFoundError, RefusedError
from patientbandits.live.log import (
    AliasLine,
    CreditLine,
    Decided,
    OrderLine,
    UnitGoalLine,
    WithdrawalLine,
)
from patientbandits.live.settings import Worth
from patientbandits.live.times import iso_text


def apply_order(draft: Draft, command: Order) -> None:
    """Record an order, or that a unit has reached another goal; credit what it pays for."""
    people = draft.people
    versions = people.versions(command.unit, command.order, command.goal)
    before = same_order(draft, command, versions)
    duplicate = before is not None
    if before is None:
        before = PlacedOrder(write_order(draft, command))
        people.place(before.line)
        if command.goal is None:
            settle(draft, command.unit)
    command.outcome = Credited(
        duplicate=duplicate,
        counted=people.counts(before),
        exposed=bool(people.exposures(command.unit)),
    )


def same_order(draft: Draft, command: Order, versions: Sequence[PlacedOrder]) -> PlacedOrder | None:
    """The order as it came before, if it did; with other content it must be withdrawn first."""
    for version in reversed(versions):
        line = version.line
        same_person = draft.people.aliases.same(line.unit, command.unit)
        if same_person and line.value == command.value and same_moment(line, command.happened):
            # of an order that was paid back in part, what is left counts
            refunded = version.withdrawal is not None and version.withdrawal.share is not None
            return versions[-1] if refunded else version
    if any(not version.withdrawn for version in versions):
        raise MismatchError(
            "conversion: this order came before with another unit, value or time; the first "
            "stays until it is retracted."
        )
    return None


def write_order(draft: Draft, command: Order) -> OrderLine:
    fields = {
        "unit": command.unit,
        "order": command.order,
        "value": command.value,
        "happened": order_time(draft, command),
        "stated": command.happened,
        "sender": command.sender,
    }
    if command.goal is None:
        return draft.write(OrderLine, **fields)
    return draft.write(UnitGoalLine, goal=command.goal, **fields)


def order_time(draft: Draft, command: Order) -> int:
    """The time of an order, by the clock, whatever the log's time.

    Not before decisions whose time is of a clock that was ahead.
    """
    exposed = [exposure.time for exposure in draft.people.exposures(command.unit)]
    if command.happened is None:
        return max([draft.clock, *exposed])
    require_past(draft, command.happened)
    if exposed and exposed[0] > draft.clock + SKEW:
        return exposed[0]
    return min(command.happened, draft.clock)


def require_past(draft: Draft, happened: int) -> None:
    if happened > draft.clock + SKEW:
        raise RefusedError(
            "conversion: it must not happen in the future, "
            f"now is {iso_text(draft.clock)}; got at={iso_text(happened)}."
        )


def apply_withdrawal(draft: Draft, command: Withdraw) -> None:
    """Take an order back, and what it was credited with."""
    people = draft.people
    versions = people.versions(command.unit, command.order, command.goal)
    if not versions:
        raise NotFoundError("retraction: there is no such order.")
    last = versions[-1]
    unit = last.line.unit
    if command.unit is not None and not people.aliases.same(unit, command.unit):
        raise MismatchError("retraction: this order is of another unit.")
    if not last.withdrawn:
        people.withdraw(last, draft.write(WithdrawalLine, withdrawn=last.line.seq))
        if command.goal is None:
            settle(draft, unit)
    command.outcome = Retraction(duplicate=last.withdrawn)


def apply_alias(draft: Draft, command: Join) -> None:
    """Join two units; what both did is credited together from here on."""
    aliases = draft.people.aliases
    before = aliases.same(command.unit, command.other)
    if not before:
        both = (aliases.units(command.unit), aliases.units(command.other))
        number = sum(map(len, both))
        if number > LARGEST_PERSON:
            raise ConflictError(
                f"alias: one person must have at most {LARGEST_PERSON} units; these two have "
                f"{number} together. Is one of them a name that everybody gets?"
            )
        # a tree with the larger part at its root: to find a person takes few questions
        unit, other = (aliases.root(units[0]) for units in sorted(both, key=len))
        draft.write(AliasLine, unit=unit, other=other)
        aliases.join(unit, other)
        settle(draft, command.unit)
    command.outcome = Joined(duplicate=before)


def settle(draft: Draft, unit: str) -> None:
    """Write down what the decisions of the unit's person are worth now, where it has changed."""
    # a list: to write a credit changes what `credits_due` goes through
    for about, worth in list(credits_due(draft.people, [unit], draft.settings)):
        write_credit(draft, about, worth)


def settle_alone(draft: Draft, about: Decided) -> None:
    """Do the same for a decision without a unit, which only a quarantine can make worth less."""
    worth = own_worth(about, draft.settings)
    if recorded_worth(about, draft.settings) != worth:
        write_credit(draft, about, worth)


def write_credit(draft: Draft, about: Decided, worth: Worth) -> None:
    line = draft.write(CreditLine, **credit_fields(about, worth))
    draft.decided[about.decision.seq] = about._replace(credits=(*about.credits, line))
