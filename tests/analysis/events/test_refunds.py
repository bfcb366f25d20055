"""Refunds are taken off the orders that they are of, whenever they come."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from event_files import BEGIN, rows_add_up, tables, write_rows

from patientbandits._util.durations import DAY
from patientbandits.analysis.events import read_events
from patientbandits.errors import InputError

HOUR = 3600
SHOWN = [("a", 0, "x"), ("b", 0, "x")]


def arm_of(tmp_path: Path, bought, **options):
    events = read_events(*tables(tmp_path, SHOWN, bought), window="10d", **options)
    rows_add_up(events)
    return events.arms[0], events.report


def test_a_full_refund_takes_the_conversion_back_whenever_it_comes(tmp_path: Path) -> None:
    bought = [("a", HOUR, 30.0, "1"), ("a", 20 * int(DAY), -30.0, "1"), ("b", HOUR, 5.0, "2")]
    arm, report = arm_of(tmp_path, bought)
    assert arm.delays.tolist() == [math.inf, HOUR]
    assert arm.paid_by_decision(10 * DAY).tolist() == [5.0]
    assert (report.orders.counted, report.orders.refunds, report.converted) == (2, 1, 1)
    assert "1 orders were refunded in full and are no conversions." in report.notes


def test_the_first_order_that_is_left_is_the_conversion(tmp_path: Path) -> None:
    bought = [("a", HOUR, 30.0, "1"), ("a", 2 * HOUR, 8.0, "2"), ("a", 3 * HOUR, -30.0, "1")]
    arm, _ = arm_of(tmp_path, bought)
    assert arm.delays.tolist() == [2 * HOUR, math.inf]
    assert arm.paid_by_decision(10 * DAY).tolist() == [8.0]


def test_parts_add_up_to_all_of_it_however_they_are_rounded(tmp_path: Path) -> None:
    parts = [("a", (n + 2) * HOUR, -33.33, "1") for n in range(2)]
    arm, report = arm_of(tmp_path, [("a", HOUR, 99.99, "1"), *parts])
    assert arm.paid_by_decision(10 * DAY) == pytest.approx([33.33])
    last = ("a", 4 * HOUR, -33.33, "1")
    arm, report = arm_of(tmp_path, [("a", HOUR, 99.99, "1"), *parts, last, last])
    assert not math.isfinite(arm.delays[0])
    assert (report.orders.refunds, report.orders.duplicates) == (3, 1)


@pytest.mark.parametrize("name", ["r1", ""])
def test_a_refund_without_its_order_is_of_the_latest_with_enough_left(tmp_path, name) -> None:
    """Not of a later order, of another unit's, or of one that is worth less."""
    bought = [
        ("a", HOUR, 30.0, "1"),
        ("a", 2 * HOUR, 8.0, "2"),
        ("a", 3 * HOUR, -20.0, name),
        ("a", 4 * HOUR, 50.0, "3"),
        ("b", HOUR, 40.0, "4"),
        ("b", 5 * HOUR, -41.0, name),
        ("never", 5 * HOUR, -1.0, name),
    ]
    arm, report = arm_of(tmp_path, bought)
    assert arm.order_values.tolist() == [10.0, 8.0, 50.0, 40.0]
    assert (report.orders.refunds, report.orders.unmatched_refunds) == (1, 2)
    assert "2 refunds fit no order in the table and were not taken off." in report.notes


def test_refunds_after_the_end_do_not_count_yet(tmp_path: Path) -> None:
    bought = [("a", HOUR, 30.0, "1"), ("a", 3 * int(DAY), -30.0, "1")]
    arm, report = arm_of(tmp_path, bought, as_of="2026-01-03")
    assert arm.paid_by_decision(None).tolist() == [30.0]
    assert report.orders.after_end == 1


def test_a_column_of_refunds(tmp_path: Path) -> None:
    first, _ = tables(tmp_path, [*SHOWN, ("c", 0, "x")], [])
    rows = [f"a,{BEGIN},30,,1", f"b,{BEGIN},30,10,2", f"c,{BEGIN},30,30.00,3", f"c,{BEGIN},1,2,4"]
    orders = write_rows(tmp_path / "o.csv", "unit,time,value,Amount Refunded,order_id", rows)
    events = read_events(first, orders)
    assert events.arms[0].order_values.tolist() == [30.0, 20.0, 0.0]
    assert events.report.converted == 2
    assert events.report.orders.unreadable == 1
    assert "must not be above the value" in str(events.report.examples[0])
    assert "Refunds are taken from the column Amount Refunded of o.csv." in events.report.notes
    rows_add_up(events)


CHARGES = "id,created,amount,amount_refunded,currency,captured,status,customer,metadata.visitor_id"


def test_a_raw_file_of_stripe(tmp_path: Path) -> None:
    """In cents, with failed charges and refunds; the units are in the metadata."""
    shown = ("v1", 0, "x"), ("v2", 0, "x"), ("v3", 0, "x"), ("v4", 0, "x")
    exposures = write_rows(
        tmp_path / "e.csv", "visitor_id,time,variant", [f"{u},{BEGIN},{v}" for u, _, v in shown]
    )
    rows = [
        f"ch_1,{BEGIN + 60},1999,0,eur,true,succeeded,cus_1,v1",
        f"ch_2,{BEGIN + 60},1999,999,eur,true,succeeded,cus_2,v2",
        f"ch_3,{BEGIN + 60},5000,0,eur,false,failed,cus_3,v3",
        f"ch_4,{BEGIN + 60},5000,5000,eur,true,succeeded,cus_4,v4",
        f"ch_5,{BEGIN + 90},7000,0,eur,false,succeeded,cus_4,v4",
    ]
    charges = write_rows(tmp_path / "charges.csv", CHARGES, rows)
    names = {"orders.unit": "metadata.visitor_id"}
    for columns in (names, None):
        events = read_events(exposures, charges, preset="stripe", columns=columns)
        assert events.arms[0].order_values.tolist() == [19.99, 10.0, 0.0]
        assert (events.report.orders.filtered, events.report.converted) == (2, 2)
        assert any("in minor units: 1999 is 19.99" in note for note in events.report.notes)
        rows_add_up(events)
    as_written = read_events(exposures, charges, preset="stripe", minor_units=False)
    assert as_written.arms[0].order_values.tolist() == [1999.0, 1000.0, 0.0]


def test_a_file_of_stripes_dashboard(tmp_path: Path) -> None:
    """Amounts with decimals are in euros."""
    exposures = write_rows(tmp_path / "e.csv", "user_id,time,variant", ["u1,2026-06-01,x"])
    heading = (
        "id,Created date (UTC),Amount,Amount Refunded,Currency,Captured,Status,user_id (metadata)"
    )
    rows = [
        "ch_1,2026-06-02 20:38:34,20.00,5.00,eur,true,Paid,u1",
        "ch_2,2026-06-02 20:39:34,90.00,0.00,eur,false,Failed,u1",
    ]
    payments = write_rows(tmp_path / "payments.csv", heading, rows)
    events = read_events(exposures, payments, preset="stripe")
    assert events.arms[0].order_values.tolist() == [15.0]
    assert events.currency == "eur"


@pytest.mark.parametrize(("currency", "value"), [("EUR", 19.99), ("jpy", 1999.0), ("KWD", 1.999)])
def test_minor_units_are_those_of_the_currency(tmp_path: Path, currency, value) -> None:
    first, _ = tables(tmp_path, SHOWN, [])
    orders = write_rows(
        tmp_path / "o.csv", "unit,time,value,currency", [f"a,{BEGIN},1999,{currency}"]
    )
    events = read_events(first, orders, minor_units=True)
    assert events.arms[0].order_values.tolist() == pytest.approx([value])


@pytest.mark.parametrize(
    ("where", "left"),
    [
        ("status=paid", [1.0, 4.0]),
        ("status=paid,Refunded", [1.0, 2.0, 4.0]),
        ("orders.Status!=failed", [1.0, 2.0, 4.0, 5.0]),
        ("status=", [5.0]),
        (["status=paid", "test!=true"], [1.0]),
    ],
)
def test_filters(tmp_path: Path, where, left) -> None:
    first, _ = tables(tmp_path, SHOWN, [])
    states = ["paid", "refunded", "failed", " PAID ", ""]
    rows = [f"a,{BEGIN + n},{n + 1},{state},{n == 3}" for n, state in enumerate(states)]
    orders = write_rows(tmp_path / "o.csv", "unit,time,value,status,test", rows)
    events = read_events(first, orders, where=where)
    assert sorted(events.arms[0].order_values.tolist()) == left
    assert events.report.orders.filtered == 5 - len(left)
    rows_add_up(events)


@pytest.mark.parametrize(
    ("where", "rule"),
    [
        ("status", "where must be COLUMN=VALUE"),
        ("state=paid", "column of where must be one of"),
        ("exposures.status=paid", "column of where must be one of"),
        ("status=payd", "status must be payd; got 'paid'. No row could be read"),
    ],
)
def test_bad_filters(tmp_path: Path, where: str, rule: str) -> None:
    first, _ = tables(tmp_path, SHOWN, [])
    orders = write_rows(tmp_path / "o.csv", "unit,time,value,status", [f"a,{BEGIN},1,paid"])
    with pytest.raises(InputError, match=rule):
        read_events(first, orders, where=where)


def test_in_one_table_a_filter_says_of_what(tmp_path: Path) -> None:
    rows = [f"a,{BEGIN},x,{BEGIN + 60},9,paid", f"b,{BEGIN},x,,,", f"c,{BEGIN},x,{BEGIN + 60},9,no"]
    wide = write_rows(tmp_path / "w.csv", "unit,exposed_at,variant,order_time,value,status", rows)
    with pytest.raises(InputError, match=r"where must be exposures\.COLUMN=VALUE or orders"):
        read_events(wide, preset="wide", where="status=paid")
    events = read_events(wide, preset="wide", where="orders.status=paid")
    assert (events.decisions, events.report.converted) == (3, 1)


def test_orders_that_cannot_be_read_at_all_are_refused(tmp_path: Path) -> None:
    first, _ = tables(tmp_path, SHOWN, [])
    orders = write_rows(tmp_path / "o.csv", "unit,time,value", ["a,yesterday,1", "b,never,1"])
    with pytest.raises(InputError, match=r"o\.csv, line 2, column time: .*No row could be read"):
        read_events(first, orders)
    empty = write_rows(tmp_path / "none.csv", "unit,time,value", [])
    assert read_events(first, empty).report.converted == 0
