"""Refunds within a batch: a part of an order, or all of it, is paid back.

The log has a withdrawal of the order, with the refund's time and its share of the order, and unless
all of it is paid back the order again, in the next line, with what is left of it and the time it
had. So a refund counts with its order, whenever it comes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from patientbandits.live.commands.commands import Credited, Refund
from patientbandits.live.commands.draft import Draft, same_moment
from patientbandits.live.commands.orders import require_past, settle
from patientbandits.live.commands.people import PlacedOrder
from patientbandits.live.errors import ConflictError, MismatchError, NotFoundError
from patientbandits.live.log import MILLIONTHS, OrderLine, UnitGoalLine, WithdrawalLine

SLACK = 5
"""millionths that may be left or missing after a full refund: amounts are rounded"""

Versions = Sequence[PlacedOrder]
"""an order as often as it was placed, the last one last"""


def apply_refund(draft: Draft, command: Refund) -> None:
    """Pay back a part of the order that the refund names, or of the unit's latest one before it."""
    if command.happened is not None:
        require_past(draft, command.happened)
    histories = _candidates(draft, command)
    amount = command.value
    if command.total:
        amount -= sum(paid for _, paid in refunds_of(histories[0]))
    history = _repeated(histories, command, amount)
    duplicate = history is not None
    if history is None:
        history = next((one for one in histories if 0 < _left(one) >= amount - SLACK), None)
        if history is None:
            raise ConflictError(_beyond(draft, histories, command))
        _pay_back(draft, command, history[-1], amount)
    people = draft.people
    command.outcome = Credited(
        duplicate=duplicate,
        counted=bool(people.paid_by(history[-1])),
        exposed=bool(people.exposures(history[-1].line.unit)),
    )


def _candidates(draft: Draft, command: Refund) -> list[Versions]:
    """The order of this name, or those of the unit's person up to the refund, the latest first."""
    versions = draft.people.versions(command.unit, command.order, command.goal)
    if command.order is not None and versions:
        if not draft.people.aliases.same(versions[-1].line.unit, command.unit):
            raise MismatchError("refund: this order is of another unit.")
        return [versions]
    if command.order is not None and not command.or_latest:
        raise NotFoundError("refund: there is no order of this name.")
    happened = draft.clock if command.happened is None else command.happened
    orders = draft.people.orders_of(command.unit, command.goal)
    earlier = [one for one in orders if one[-1].line.happened <= happened]
    if not earlier:
        raise NotFoundError("refund: this unit has no order before it.")
    return sorted(earlier, key=lambda one: (one[-1].line.happened, one[0].line.seq), reverse=True)


def _left(versions: Versions) -> int:
    last = versions[-1]
    return 0 if last.withdrawn else last.line.value


def refunds_of(versions: Versions) -> Iterator[tuple[WithdrawalLine, int]]:
    """Each refund of an order, and how much it was."""
    for version in versions:
        gone = version.withdrawal
        if gone is not None and gone.share is not None:
            yield gone, round(gone.share * version.line.value)


def _repeated(histories: Sequence[Versions], command: Refund, amount: int) -> Versions | None:
    """The order that has this refund already."""
    for versions in histories:
        if command.total and amount <= SLACK:
            return versions
        for gone, paid in refunds_of(versions):
            if command.total or abs(paid - amount) > SLACK:
                continue
            if same_moment(gone, command.happened):
                return versions
    return None


def _beyond(draft: Draft, histories: Sequence[Versions], command: Refund) -> str:
    scale = draft.settings.scale / MILLIONTHS
    most = max(map(_left, histories))
    return (
        "refund: it must not be more than what is left of its order, "
        f"{most * scale:g}; got {command.value * scale:g}."
    )


def _pay_back(draft: Draft, command: Refund, order: PlacedOrder, amount: int) -> None:
    line = order.line
    left = line.value - amount
    if left <= SLACK:
        left = 0
    gone = draft.write(
        WithdrawalLine,
        withdrawn=line.seq,
        happened=draft.clock if command.happened is None else command.happened,
        stated=command.happened,
        share=(line.value - left) / line.value,
    )
    draft.people.withdraw(order, gone)
    if left > 0:
        fields = {
            "unit": line.unit,
            "order": line.order,
            "value": left,
            "happened": line.happened,
            "stated": line.stated,
            "sender": line.sender,
        }
        if line.goal is None:
            again = draft.write(OrderLine, **fields)
        else:
            again = draft.write(UnitGoalLine, goal=line.goal, **fields)
        draft.people.place(again)
    if command.goal is None:
        settle(draft, line.unit)
