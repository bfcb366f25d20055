"""Joining: naive joins from the definitions, duplicates, days, the end, one experiment."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from event_files import Exposure, Order, messy_history, rows_add_up, tables, write_rows

import patientbandits as pb
from patientbandits._util.durations import DAY
from patientbandits.analysis.events import read_events
from patientbandits.errors import InputError


def naive_join(
    shown: list[Exposure], bought: list[Order], credit: str, window: float, end: int
) -> dict[str, list[tuple[float, float]]]:
    """variant -> (age, delay) of each decision, from the definitions, row by row."""
    seen: list[Exposure] = []
    for exposure in sorted(shown, key=lambda row: (row[1], shown.index(row))):
        if exposure not in seen:
            seen.append(exposure)
    if credit == "first":
        units: dict[str, Exposure] = {}
        for exposure in seen:
            units.setdefault(exposure[0], exposure)
        seen = list(units.values())
    orders: dict[str, Order] = {}
    for order in bought:
        orders.setdefault(order[3], order)
    net = naive_net(list(orders.values()))
    found: dict[str, list[tuple[float, float]]] = {}
    for exposure in seen:
        unit, time, variant = exposure
        delays = []
        for other, when, _, name in orders.values():
            before = [row for row in seen if row[0] == unit and row[1] <= when]
            latest = max(before, key=lambda row: row[1], default=None)
            mine = other == unit and when >= time and net.get(name, 0) > 0
            if credit == "last":
                mine = mine and latest is not None and latest[1] == time
            if mine and when - time <= window:
                delays.append(when - time)
        found.setdefault(variant, []).append((end - time, min(delays, default=math.inf)))
    return {variant: sorted(rows) for variant, rows in found.items()}


def naive_net(orders: list[Order]) -> dict[str, float]:
    """id -> what is left of each order after the refunds, from the definition."""
    left = {name: value for _, _, value, name in orders if value >= 0}
    places = {order[3]: place for place, order in enumerate(orders)}
    for unit, when, value, _ in sorted(orders, key=lambda row: (row[1], places[row[3]])):
        earlier = [row for row in orders if row[0] == unit and row[1] <= when and row[2] > 0]
        earlier.sort(key=lambda row: (row[1], places[row[3]]), reverse=True)
        for other in earlier:
            if value < 0 and left[other[3]] >= -value:
                left[other[3]] += value
                break
    return left


@pytest.mark.parametrize("credit", ["first", "last", "every"])
@pytest.mark.parametrize("seed", range(4))
def test_the_join_is_that_of_the_definitions(tmp_path: Path, credit: str, seed: int) -> None:
    shown, bought = messy_history(seed)
    shown = list({(unit, time): (unit, time, arm) for unit, time, arm in shown}.values())
    shown.append(shown[0])
    window = 20 * 3600.0
    events = read_events(*tables(tmp_path, shown, bought), window=window, credit=credit)
    end = max(time for _, time, *_ in [*shown, *bought])
    expected = naive_join(shown, bought, credit, window, end)
    assert set(events.names) == set(expected)
    for arm in events.arms:
        delays = arm.within(window)[1]
        assert sorted(zip(arm.ages.tolist(), delays.tolist(), strict=True)) == expected[arm.name]
    rows_add_up(events)


def test_several_orders_add_up(tmp_path: Path) -> None:
    shown = [("a", 0, "x"), ("b", 0, "x"), ("c", 0, "x"), ("d", 5 * 86400, "y")]
    bought = [
        ("a", 3600, 10.0, "1"),
        ("a", 7200, 5.5, "2"),
        ("a", 40 * 86400, 99.0, "3"),
        ("b", 7200, 7.0, "4"),
        ("b", 9000, -2.0, "5"),
    ]
    events = read_events(*tables(tmp_path, shown, bought), window="30d")
    arm = events.arms[0]
    assert arm.paid_by_decision(30 * DAY).tolist() == [15.5, 5.0]
    assert arm.paid_by_decision(None).tolist() == [114.5, 5.0]
    assert arm.delays.tolist() == [3600.0, 7200.0, math.inf]
    assert events.report is not None
    assert events.report.orders.out_of_window == 1
    assert events.report.converted == 2


def test_dates_are_counted_in_days(tmp_path: Path) -> None:
    first = write_rows(
        tmp_path / "e.csv", "unit,time,variant", ["a,2026-03-01T15:00:00Z,x", "b,2026-03-03,x"]
    )
    second = write_rows(tmp_path / "o.csv", "unit,date", ["a,2026-03-01", "a,2026-03-04"])
    events = read_events(first, second)
    assert events.arms[0].delays.tolist() == [0.0, math.inf]
    assert events.report is not None
    assert events.report.orders.before_exposure == 0
    assert "whole days" in events.report.notes[0]


def test_experiments(tmp_path: Path) -> None:
    rows = ["a,2026-01-01,one,x", "b,2026-01-01,two,x", "c,2026-01-03,two,y"]
    first = write_rows(tmp_path / "e.csv", "unit,time,experiment,variant", rows)
    second = write_rows(tmp_path / "o.csv", "unit,time", ["b,2026-01-02"])
    with pytest.raises(InputError, match="one experiment is needed; got two, one"):
        read_events(first, second)
    events = read_events(first, second, experiment="two")
    assert events.decisions == 2
    assert events.experiment == "two"
    assert events.report is not None
    assert events.report.exposures.others == 1
    rows_add_up(events)


def test_as_of(tmp_path: Path) -> None:
    shown = [("a", 0, "x"), ("b", 3 * 86400, "x")]
    bought = [("a", 86400, 1.0, "1"), ("b", 4 * 86400, 1.0, "2")]
    events = read_events(*tables(tmp_path, shown, bought), as_of="2026-01-03")
    assert events.arms[0].ages.tolist() == [2 * DAY]
    assert events.report is not None
    assert events.report.exposures.after_end == events.report.orders.after_end == 1
    rows_add_up(events)
    with pytest.raises(InputError, match="as_of must not be before all exposures"):
        read_events(*tables(tmp_path, shown, bought), as_of="2025-01-03")


def test_a_table_of_orders_that_ends_early_is_noticed(tmp_path: Path) -> None:
    shown = [(f"u{n}", n * 8640, "x") for n in range(400)]
    bought = [(f"u{n}", n * 8640 + 60, 1.0, f"{n}") for n in range(100)]
    events = read_events(*tables(tmp_path, shown, bought))
    assert events.report is not None
    assert "30 days before the last exposure" in events.report.warnings[0]


def test_one_currency(tmp_path: Path) -> None:
    first = write_rows(tmp_path / "e.csv", "unit,time,variant", ["a,2026-01-01,x"])
    rows = ["a,2026-01-02,1,EUR", "a,2026-01-03,1,EUR", "a,2026-01-04,1,USD"]
    second = write_rows(tmp_path / "o.csv", "unit,time,value,currency", rows)
    with pytest.raises(InputError, match=r"one currency is needed; got EUR \(2\), USD \(1\)"):
        read_events(first, second)


@pytest.mark.parametrize("day", ["2026-03-28", "2026-10-24"])
def test_a_day_is_a_day_where_clocks_are_changed(write, day):
    """In Berlin the next day begins 24 hours later, the one after it 23 or 25 hours after that."""
    start = np.datetime64(day)
    exposures = write("e.csv", f"unit,time,variant\na,{start},x\nb,{start + 1},y\n")
    orders = write("o.csv", f"unit,time\na,{start + 1}\nb,{start + 2}\n")
    events = pb.read_events(exposures, orders, window="1d", zone="Europe/Berlin")
    assert [arm.delays.tolist() for arm in events.arms] == [[DAY], [DAY]]
    assert events.report.orders.out_of_window == 0
    days = (start - np.datetime64("1970-01-01")).astype(int)
    assert [arm.days.tolist() for arm in events.arms] == [[days], [days + 1]]


def test_the_end_is_told_in_the_zone_of_the_times(write):
    exposures = write("e.csv", "unit,time,variant\na,2026-01-01 00:00:00,x\n")
    orders = write("o.csv", "unit,time\na,2026-01-01 12:00:00\n")
    for end in ("2026-01-02", "20260102"):
        events = pb.read_events(exposures, orders, zone="America/New_York", as_of=end)
        assert events.arms[0].ages.tolist() == [DAY]


def test_events_that_were_not_found_are_named_with_those_that_are_there(write):
    text = "user_pseudo_id,event_timestamp,event_name,variant_id\na,1767225600,purchase,x\n"
    with pytest.raises(pb.InputError, match="experience_impression; got purchase"):
        pb.read_events(write("e.csv", text), preset="ga4")
