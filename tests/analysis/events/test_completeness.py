"""Orders that end before the exposures: found, warned of, and ages that end with them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from event_files import BEGIN, rows_add_up, tables, write_rows

import patientbandits as pb
from patientbandits._util.durations import DAY
from patientbandits.analysis import write_analysis
from patientbandits.analysis.events import Events, read_events
from patientbandits.analysis.events.completeness import (
    FEWEST_ORDERS,
    FOUND,
    GIVEN,
    LAST_ROW,
    silence_after,
)
from patientbandits.cli.main import main

HOUR = 3600


def steady(seed: int, orders: float, days: float, until: float, visitors: int = 60):
    """Exposures of two arms up to ``days``, ``orders`` a day up to ``until``, in days."""
    random = np.random.default_rng(seed)
    times = np.sort(random.random(round(visitors * days)) * days * DAY).astype(int)
    shown = [(f"u{n}", int(time), "ab"[n % 2]) for n, time in enumerate(times)]
    bought = []
    for number, time in enumerate(np.sort(random.random(round(orders * days)) * days * DAY)):
        unit = int(random.integers(0, max(np.searchsorted(times, time), 1)))
        bought.append((f"u{unit}", int(time) + 1, 10.0, f"o{number}"))
    return shown, [order for order in bought if order[1] <= until * DAY]


def end_of(events: Events):
    assert events.report is not None
    assert events.report.completeness is not None
    return events.report.completeness


def test_a_nightly_file_is_found_and_ages_end_with_it(tmp_path: Path) -> None:
    """Orders up to midnight of day 20, exposures for 15 hours more."""
    shown, bought = steady(1, orders=30, days=20 + 15 / 24, until=20)
    events = read_events(*tables(tmp_path, shown, bought), window="5d")
    end = end_of(events)
    assert end.source == FOUND
    assert end.until == events.end == BEGIN + 20 * DAY  # the midnight, not the last order
    later = sum(time > 20 * DAY for _, time, _ in shown)
    assert end.exposures_after == later > 0
    assert events.decisions == len(shown) - later
    assert sorted(age for arm in events.arms for age in arm.ages) == sorted(
        20 * DAY - time for _, time, _ in shown if time <= 20 * DAY
    )
    rows_add_up(events)
    (warning,) = events.report.warnings
    assert "16 hours before the last exposure; about 17 more" in warning
    assert "complete until 2026-01-21 00:00" in warning
    assert f"{later} later exposures do not count yet" in warning


def test_everywhere_it_is_said(tmp_path: Path, capsys) -> None:
    """On the page, on the command line and in JSON."""
    files = [str(path) for path in tables(tmp_path, *steady(1, 30, 20.6, until=20))]
    main(["analyse", *files, "--out", str(tmp_path / "out"), "--quiet"])
    assert "! The last order is from 2026-01-20" in capsys.readouterr().out
    page = (tmp_path / "out" / "analysis.html").read_text()
    assert "complete until 2026-01-21 00:00" in page
    assert "as of 2026-01-21 00:00 UTC, when the orders end" in page
    main(["analyse", *files, "--out", str(tmp_path / "out"), "--json"])
    reading = json.loads(capsys.readouterr().out)["reading"]
    assert reading["completeness"]["source"] == FOUND
    assert "later exposures do not count yet" in reading["warnings"][0]


def test_complete_files_are_left_alone(tmp_path: Path) -> None:
    """False alarms: at most one shop in twenty is warned, and none is cut."""
    warned = 0
    for seed in range(60):
        shown, bought = steady(seed, orders=3 + seed % 20, days=30, until=30, visitors=40)
        events = read_events(*tables(tmp_path, shown, bought))
        assert end_of(events).source == LAST_ROW
        assert events.end == BEGIN + max(time for _, time, *_ in [*shown, *bought])
        warned += bool(events.report.warnings)
    assert warned <= 6


def test_a_doubt_is_said_and_nothing_is_done(tmp_path: Path) -> None:
    """About five orders are missing: perhaps the shop was only slow."""
    shown, bought = steady(4, orders=8, days=20.6, until=20)
    events = read_events(*tables(tmp_path, shown, bought))
    assert end_of(events).source == LAST_ROW
    assert "If the table of orders ends there, say so" in events.report.warnings[0]


@pytest.mark.parametrize("closed", ["nights", "sundays"])
def test_a_shop_that_sleeps_is_not_one_whose_file_ends(tmp_path: Path, closed: str) -> None:
    """Nobody buys at night, or on a Sunday; the last exposure is from such an hour."""
    random = np.random.default_rng(7)
    days = 32.2 if closed == "nights" else 31.9  # 2026-02-01 is a Sunday
    shown = [(f"u{n}", int(n * days * DAY / 3000), "ab"[n % 2]) for n in range(3000)]
    bought = []
    for number, time in enumerate(np.sort(random.random(1200)) * days * DAY):
        hour, weekday = time % DAY / HOUR, (3 + time // DAY) % 7
        open_now = hour > 7 if closed == "nights" else weekday != 6
        if open_now:
            bought.append((f"u{int(time / DAY / days * 3000)}", int(time) + 1, 1.0, f"o{number}"))
    events = read_events(*tables(tmp_path, shown, bought))
    gap = events.end - end_of(events).last_order
    assert gap > 4 * HOUR
    assert end_of(events).source == LAST_ROW
    assert not events.report.warnings


def test_the_time_that_is_said_holds(tmp_path: Path) -> None:
    shown, bought = steady(2, orders=30, days=20.5, until=20.5)
    files = tables(tmp_path, shown, bought)
    events = read_events(*files, complete_until="2026-01-11")
    assert end_of(events).source == GIVEN
    assert events.end == BEGIN + 10 * DAY
    as_of = read_events(*files, as_of="2026-01-11")
    for arm, other in zip(events.arms, as_of.arms, strict=True):
        assert arm.ages.tolist() == other.ages.tolist()
        assert arm.delays.tolist() == other.delays.tolist()
    assert "Orders are complete until 2026-01-11 00:00" in events.report.notes[0]
    assert not events.report.warnings
    rows_add_up(events)
    # of both ends the earlier one
    both = read_events(*files, complete_until="2026-01-15", as_of="2026-01-11")
    assert both.end == BEGIN + 10 * DAY
    # a quiet end: ages run on to what is complete
    later = read_events(*files, complete_until="2026-01-25")
    assert later.end == BEGIN + 24 * DAY
    shown, bought = steady(2, orders=30, days=20.5, until=18)
    said = read_events(*tables(tmp_path, shown, bought), complete_until="2026-01-21")
    assert said.end == BEGIN + 20 * DAY
    assert "but the last one is from 2026-01-18" in said.report.warnings[0]


def test_orders_said_to_be_complete_to_the_end(tmp_path: Path) -> None:
    shown, bought = steady(1, orders=30, days=20.6, until=20)
    events = read_events(*tables(tmp_path, shown, bought), complete_until="end")
    assert events.end == BEGIN + max(time for _, time, _ in shown)
    assert not events.report.warnings


def test_the_zone_of_midnight(tmp_path: Path) -> None:
    """A dump at midnight in New York is one at five in the morning UTC."""
    shown, bought = steady(3, orders=60, days=20.6, until=20 + 5 / 24)
    files = tables(tmp_path, shown, bought)
    events = read_events(*files, zone="America/New_York")
    assert events.end == BEGIN + 20 * DAY + 5 * HOUR
    said = read_events(*files, zone="America/New_York", complete_until="2026-01-21")
    assert said.end == events.end
    assert read_events(*files, complete_until="2026-01-21T05:00:00Z").end == events.end


def test_tables_of_dates(tmp_path: Path) -> None:
    """A date is the last complete day; a midnight ends the day before it."""
    days = [f"2026-01-{day:02d}" for day in range(1, 21)]
    exposures = [f"u{day}{n},{day},{'ab'[n % 2]}" for day in days for n in range(40)]
    orders = [f"u{day}{n},{day}" for day in days[:-2] for n in range(4)]
    files = (
        write_rows(tmp_path / "e.csv", "unit,time,variant", exposures),
        write_rows(tmp_path / "o.csv", "unit,time", orders),
    )
    events = read_events(*files)
    assert end_of(events).source == FOUND
    assert events.end == BEGIN + 17 * DAY
    assert max(float(arm.ages.max()) for arm in events.arms) == 17 * DAY
    for zone in ("UTC", "Europe/Berlin", "America/New_York"):
        assert read_events(*files, zone=zone, complete_until="2026-01-10").end == BEGIN + 9 * DAY
        midnight = read_events(*files, zone=zone, complete_until="2026-01-11 00:00:00")
        assert midnight.end == BEGIN + 9 * DAY


@pytest.mark.parametrize(
    ("moment", "rule"),
    [
        ("soon", "complete_until must be a date or a time; got complete_until='soon'"),
        ("2025-01-01", "complete_until must not be before all exposures"),
        ("2999-01-01", "complete_until must not be in the future"),
    ],
)
def test_refused(tmp_path: Path, moment: str, rule: str) -> None:
    with pytest.raises(pb.InputError, match=rule):
        read_events(*tables(tmp_path, *steady(1, 9, 5, 5)), complete_until=moment)


def naive_evidence(times: list[int], until: int) -> tuple[float, int]:
    """The rule, written again: -log P, and the fewest orders in any stretch compared."""
    day, first, last = 86_400_000_000, times[0], times[-1]
    counts = {}
    for back in range(1, 29):
        begin, end = last - back * day, until - back * day
        if end <= last and begin >= first:
            counts[back] = sum(begin < time <= end for time in times)
    if not counts:
        return (len(times) - 1) * np.log(1 + (until - last) / (last - first)), 1
    recent = [counts[back] for back in sorted(counts)[:7]]
    weekdays = [count for back, count in counts.items() if back % 7 == 0]
    chosen = recent
    if weekdays and np.mean(weekdays) < np.mean(recent):
        chosen = weekdays
    return sum(chosen) * np.log(1 + 1 / len(chosen)), min(counts.values())


def test_the_rule_is_the_one_that_is_written() -> None:
    random = np.random.default_rng(5)
    for _ in range(300):
        span = random.choice([0.3, 2, 9, 60]) * DAY
        times = np.sort(random.integers(0, int(span * 1e6), random.integers(2, 200)))
        until = int(times[-1] + random.exponential(random.choice([0.1, 1, 5])) * DAY * 1e6)
        silence = silence_after(times, until)
        evidence, fewest = naive_evidence(times.tolist(), until)
        assert silence.evidence == pytest.approx(evidence)
        assert silence.regular == (fewest > 0)


def test_few_orders_are_no_evidence(tmp_path: Path) -> None:
    shown, _ = steady(1, 9, 30, 30)
    bought = [(f"u{n}", n * HOUR, 1.0, f"o{n}") for n in range(FEWEST_ORDERS - 1)]
    events = read_events(*tables(tmp_path, shown, bought))
    assert end_of(events).source == LAST_ROW


def test_one_table_of_both(tmp_path: Path) -> None:
    """A wide table whose orders end early."""
    shown, bought = steady(1, orders=30, days=20.6, until=20)
    paid = {unit: time for unit, time, *_ in bought}
    rows = [
        f"{unit},{BEGIN + time},{arm},{BEGIN + paid[unit] if unit in paid else ''}"
        for unit, time, arm in shown
    ]
    path = write_rows(tmp_path / "wide.csv", "unit,time,variant,order_time", rows)
    events = read_events(path, preset="wide")
    assert end_of(events).source == FOUND
    analysis = pb.analyse(events)
    assert "complete until" in write_analysis(analysis, tmp_path / "out").read_text()
