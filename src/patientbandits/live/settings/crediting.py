"""Crediting: the decisions that an order pays for.

A person is exposed by decisions and places orders. An order that happened at time t pays for the
person's decisions made at s <= t with t - s within the window: for the first of them, the last, or
every one. The worth of a decision is the sum of its payments, at most the largest value, from the
time of the first payment on. So it depends on the set of orders, not on when they are reported.
"""

from __future__ import annotations

from bisect import bisect_left
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
    """An order, reported in line ``seq``; ``value`` in millionths of the scale."""

    happened: int
    seq: int
    value: int


class Worth(NamedTuple):
    """The worth of a decision so far."""

    value: int = 0
    happened: int | None = None
    """the time of the first payment"""


WORTHLESS = Worth()


class Crediting(NamedTuple):
    """The rule of crediting, and the window in microseconds, if there is one."""

    rule: str
    window: int | None

    def paid_by(self, order: Payment, exposures: Sequence[Exposure]) -> list[Exposure]:
        """The exposures that ``order`` pays for; ``exposures``: all of the person's, by time.

        Of a decision and an order at the same moment, the one in the earlier line came first.
        """
        begin = 0
        if self.window is not None:
            begin = bisect_left(exposures, (order.happened - self.window,))
        end = max(bisect_left(exposures, (order.happened, order.seq)), begin)
        if self.rule == "first":
            end = min(end, begin + 1)
        elif self.rule == "last":
            begin = max(begin, end - 1)
        return list(exposures[begin:end])

    def counts(self, delay: int) -> bool:
        return self.window is None or delay <= self.window

    def payments(
        self, exposures: Sequence[Exposure], orders: Iterable[Payment]
    ) -> dict[int, list[Payment]]:
        """The orders that pay for each exposure, by its line."""
        paid: dict[int, list[Payment]] = {exposure.seq: [] for exposure in exposures}
        for order in orders:
            for exposure in self.paid_by(order, exposures):
                paid[exposure.seq].append(order)
        return paid


def summed(payments: Iterable[Payment]) -> Worth:
    """The worth that the payments add up to; those of 0 do not count."""
    positive = [payment for payment in payments if payment.value > 0]
    if not positive:
        return WORTHLESS
    total = sum(payment.value for payment in positive)
    return Worth(
        value=min(total, MILLIONTHS), happened=min(payment.happened for payment in positive)
    )


def worth_before(line: OutcomeLine, decided: Decided) -> Worth:
    """The worth of the decision just before ``line``."""
    earlier = [credit for credit in decided.credits if credit.seq < line.seq]
    if earlier:
        return Worth(earlier[-1].value, earlier[-1].happened)
    conversion = decided.conversion
    if conversion is None or conversion.seq >= line.seq:
        return WORTHLESS
    if decided.retraction is not None and decided.retraction.seq < line.seq:
        return WORTHLESS
    return Worth(conversion.value, conversion.happened)


def worth_after(line: OutcomeLine, decided: Decided, before: Worth) -> Worth:
    """The worth of the decision from ``line`` on."""
    if isinstance(line, CreditLine):
        return Worth(line.value, line.happened)
    if any(credit.seq < line.seq for credit in decided.credits):
        return before  # from the first credit on, only credits count
    if isinstance(line, ConversionLine):
        return Worth(line.value, line.happened)
    return WORTHLESS
