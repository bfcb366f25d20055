"""Which decisions an order pays for.

A person is exposed by decisions and places orders. An order that happened at time t pays for the
person's decisions made at s <= t with t - s within the window: for the first of them, the last, or
every one. What a decision is worth is the sum of what it was paid, at most the largest value, from
the time of the first payment. So it follows from the set of orders, whenever they are told.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, get_args

from patientbandits.live.log import MILLIONTHS, ConversionLine, CreditLine, Decided, OutcomeLine

CreditRule = Literal["first", "last", "every"]
CREDIT_RULES: tuple[str, ...] = get_args(CreditRule)


class Exposure(NamedTuple):
    """A decision made for a person; ``time`` in microseconds."""

    time: int
    seq: int


class Payment(NamedTuple):
    """An order, told in line ``seq``; ``value`` in millionths of the scale."""

    happened: int
    seq: int
    value: int


class Worth(NamedTuple):
    """What a decision has brought in so far."""

    value: int = 0
    happened: int | None = None
    """when the first of it was paid"""


WORTHLESS = Worth()


class Crediting(NamedTuple):
    """How orders are credited: the rule, and the window in microseconds, if there is one."""

    rule: str
    window: int | None

    def paid_by(self, order: Payment, exposures: Sequence[Exposure]) -> list[Exposure]:
        """The exposures that ``order`` pays for; ``exposures``: all of the person's, by time.

        Of a decision and an order at the same moment, the one in the earlier line came first.
        """
        told = (order.happened, order.seq)
        within = [e for e in exposures if e < told and self.counts(order.happened - e.time)]
        if self.rule == "first":
            return within[:1]
        if self.rule == "last":
            return within[-1:]
        return within

    def counts(self, delay: int) -> bool:
        return self.window is None or delay <= self.window

    def payments(
        self, exposures: Sequence[Exposure], orders: Iterable[Payment]
    ) -> dict[int, list[Payment]]:
        """For each exposure's line: the orders that pay for it."""
        paid: dict[int, list[Payment]] = {exposure.seq: [] for exposure in exposures}
        for order in orders:
            for exposure in self.paid_by(order, exposures):
                paid[exposure.seq].append(order)
        return paid


def summed(payments: Iterable[Payment]) -> Worth:
    """What the payments amount to; those of 0 do not count."""
    positive = [payment for payment in payments if payment.value > 0]
    if not positive:
        return WORTHLESS
    total = sum(payment.value for payment in positive)
    return Worth(
        value=min(total, MILLIONTHS), happened=min(payment.happened for payment in positive)
    )


def worth_before(line: OutcomeLine, about: Decided) -> Worth:
    """The worth of the decision just before ``line``."""
    earlier = [credit for credit in about.credits if credit.seq < line.seq]
    if earlier:
        return Worth(earlier[-1].value, earlier[-1].happened)
    conversion = about.conversion
    if conversion is None or conversion.seq >= line.seq:
        return WORTHLESS
    if about.retraction is not None and about.retraction.seq < line.seq:
        return WORTHLESS
    return Worth(conversion.value, conversion.happened)


def worth_after(line: OutcomeLine, about: Decided, before: Worth) -> Worth:
    """The worth of the decision from ``line`` on."""
    if isinstance(line, CreditLine):
        return Worth(line.value, line.happened)
    if any(credit.seq < line.seq for credit in about.credits):
        return before  # credits alone say, from the first one on
    if isinstance(line, ConversionLine):
        return Worth(line.value, line.happened)
    return WORTHLESS
