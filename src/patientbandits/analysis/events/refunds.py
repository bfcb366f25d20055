"""Refunds: what of the orders was paid back, taken off them.

A refund is an order with a negative value. It is of the order whose id it has or, with an id of
its own or none, of the latest order of its unit before it of which that much is left; both of the
same goal. It counts with its order, whenever it comes: so an order that is refunded in full is no
conversion, on every road into this library. A refund that fits no order is set aside.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np

from patientbandits.analysis.events.parsing import ParsedRows
from patientbandits.analysis.events.tables import quoted

REFUND_SLACK = 1e-6
"""share of an order that may be left or missing after a full refund: amounts are rounded"""


class OpenOrder:
    """An order of which something may be left."""

    def __init__(self, row: int, time: int, value: float, left: float) -> None:
        self.row = row
        self.time = time
        self.left = left
        self.slack = value * REFUND_SLACK

    def covers(self, amount: float) -> bool:
        return amount <= self.left + self.slack

    def pay_back(self, amount: float) -> None:
        self.left = max(self.left - amount, 0.0)
        if self.left <= self.slack:
            self.left = 0.0


class MatchedRefund(NamedTuple):
    row: int
    of: int
    """the row of its order"""
    left: float
    """what was left of the order before"""
    rest: float
    """what is left of it after"""


def match_refunds(orders: ParsedRows) -> list[MatchedRefund]:
    """The refunds that fit an order, in the order of time."""
    rows = orders.rows
    refunds = rows.run(
        f'SELECT row, unit, time, -value, "order", goal FROM {rows} WHERE value < 0 '
        "ORDER BY time, row"
    ).fetchall()
    if not refunds:
        return []
    by_name, by_unit = _open_orders(orders)
    matches = []
    for row, unit, time, amount, name, goal in refunds:
        named = by_name.get((name, goal)) if name is not None else None
        earlier = [one for one in by_unit[unit, goal] if one.time <= time]
        candidates = [named] if named else earlier[::-1]
        of = next((one for one in candidates if one.covers(amount)), None)
        if of is not None:
            left = of.left
            of.pay_back(amount)
            matches.append(MatchedRefund(row, of.row, left, of.left))
    return matches


def _open_orders(orders: ParsedRows) -> tuple[dict[Any, OpenOrder], dict[Any, list[OpenOrder]]]:
    """The orders that refunds may be of: by id and goal, and by unit and goal, the oldest first."""
    rows = orders.rows
    refunds = f"SELECT {{}} FROM {rows} WHERE value < 0"
    candidates = rows.run(
        f'SELECT row, unit, time, value, value - refunded, "order", goal FROM {rows} '
        f"WHERE value > 0 AND (unit IN ({refunds.format('unit')}) "
        f"OR {quoted('order')} IN ({refunds.format(quoted('order'))})) ORDER BY time, row"
    ).fetchall()
    by_name: dict[Any, OpenOrder] = {}
    by_unit: dict[Any, list[OpenOrder]] = defaultdict(list)
    for row, unit, time, value, left, name, goal in candidates:
        order = OpenOrder(row, time, value, left)
        by_unit[unit, goal].append(order)
        if name is not None:
            by_name[name, goal] = order
    return by_name, by_unit


def net_of_refunds(orders: ParsedRows, matches: list[MatchedRefund]) -> None:
    """Take refunds off the values of their orders; set aside those that fit none."""
    rows, database = orders.rows, orders.rows.database
    left = {match.of: match.rest for match in matches}
    columns = {"row": np.array(list(left), np.int64), "rest": np.array(list(left.values()), float)}
    database.register("orders_left", columns)
    rows.run(
        f"UPDATE {rows} SET refunded = value - rest FROM orders_left "
        f"WHERE {rows}.row = orders_left.row"
    )
    database.unregister("orders_left")
    matched = [match.row for match in matches]
    rows.run(f"DELETE FROM {rows} WHERE row IN (SELECT unnest(?::BIGINT[]))", matched)
    orders.drop(
        "value < 0",
        quote="value_text",
        field=orders.source.columns.get("value", "value"),
        rule="a refund must be of an order of its unit, and not above what is left of it",
        reason="unmatched refund",
    )
    nothing_left = f"value - refunded <= value * {REFUND_SLACK}"
    rows.run(
        f"UPDATE {rows} SET value = CASE WHEN {nothing_left} THEN 0 "
        "ELSE round(value - refunded, 9) END WHERE refunded > 0"
    )
