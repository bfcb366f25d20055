"""Tables of exposures and orders: read, joined, reported; nothing is dropped without a word."""

from __future__ import annotations

import csv
import math
import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from patientbandits._util.durations import DAY, in_seconds, short_time, spoken
from patientbandits.analysis.events import Events, read_events
from patientbandits.analysis.events.columns import EVENT_PRESETS
from patientbandits.analysis.events.report import chi_squared_tail, sample_ratio
from patientbandits.errors import InputError

BEGIN = 1_767_225_600  # 2026-01-01 00:00 UTC

Exposure = tuple[str, int, str]
Order = tuple[str, int, float, str]


def write(path: Path, heading: str, rows: list[str]) -> Path:
    path.write_text("\n".join([heading, *rows]) + "\n")
    return path


def tables(folder: Path, shown: list[Exposure], bought: list[Order]) -> tuple[Path, Path]:
    exposures = [f"{unit},{BEGIN + time},{variant}" for unit, time, variant in shown]
    orders = [f"{unit},{BEGIN + time},{value},{order}" for unit, time, value, order in bought]
    return (
        write(folder / "exposures.csv", "unit,time,variant", exposures),
        write(folder / "orders.csv", "unit,time,value,order_id", orders),
    )


def rows_add_up(events: Events) -> None:
    assert events.report is not None
    for table in (events.report.exposures, events.report.orders):
        parts = (
            table.counted,
            table.unreadable,
            table.duplicates,
            table.others,
            table.after_end,
            table.repeats,
            table.unmatched,
            table.before_exposure,
            table.out_of_window,
        )
        assert min(parts) >= 0
        assert sum(parts) == table.rows


def made_up(seed: int) -> tuple[list[Exposure], list[Order]]:
    """A small history with everything that goes wrong."""
    source = random.Random(seed)
    shown = [
        (f"u{source.randrange(40)}", source.randrange(60) * 3600, source.choice("abc"))
        for _ in range(90)
    ]
    bought = [
        (f"u{source.randrange(50)}", source.randrange(90) * 3600, source.randrange(-1, 9), f"o{n}")
        for n in range(80)
    ]
    bought += [bought[3], bought[9]]
    return shown, bought


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
    found: dict[str, list[tuple[float, float]]] = {}
    for exposure in seen:
        unit, time, variant = exposure
        delays = []
        for other, when, value, _ in orders.values():
            before = [row for row in seen if row[0] == unit and row[1] <= when]
            latest = max(before, key=lambda row: row[1], default=None)
            mine = other == unit and when >= time and value > 0
            if credit == "last":
                mine = mine and latest is not None and latest[1] == time
            if mine and when - time <= window:
                delays.append(when - time)
        found.setdefault(variant, []).append((end - time, min(delays, default=math.inf)))
    return {variant: sorted(rows) for variant, rows in found.items()}


@pytest.mark.parametrize("credit", ["first", "last", "every"])
@pytest.mark.parametrize("seed", range(4))
def test_the_join_is_that_of_the_definitions(tmp_path: Path, credit: str, seed: int) -> None:
    shown, bought = made_up(seed)
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


WRITTEN = {
    "iso with Z": "2026-03-01T12:30:00Z",
    "offset": "2026-03-01 14:30:00+02:00",
    "offset without colon": "2026-03-01 07:30:00-05",
    "name of a zone": "2026-03-01 12:30:00 UTC",
    "no zone": "2026-03-01 12:30:00",
    "fractions": "2026-03-01T12:30:00.000Z",
    "epoch seconds": "1772368200",
    "epoch milliseconds": "1772368200000",
    "epoch microseconds": "1772368200000000",
    "epoch nanoseconds": "1772368200000000000",
    "epoch with a fraction": "1772368200.0",
}


@pytest.mark.parametrize("name", WRITTEN)
def test_times(tmp_path: Path, name: str) -> None:
    first = write(tmp_path / "e.csv", "unit,time,variant", [f"a,{WRITTEN[name]},x"])
    second = write(tmp_path / "o.csv", "unit,time", ["a,2026-03-01T13:00:00Z"])
    events = read_events(first, second)
    assert events.end == datetime(2026, 3, 1, 13, tzinfo=UTC).timestamp()
    assert events.arms[0].ages.tolist() == [1800.0]
    assert events.arms[0].delays.tolist() == [1800.0]


def test_times_without_a_zone_are_in_the_one_told(tmp_path: Path) -> None:
    first = write(tmp_path / "e.csv", "unit,time,variant", ["a,2026-03-01 12:30:00,x"])
    second = write(tmp_path / "o.csv", "unit,time", ["a,2026-03-01T13:00:00Z"])
    events = read_events(first, second, zone="Europe/Berlin")
    assert events.arms[0].ages.tolist() == [5400.0]
    with pytest.raises(InputError, match="zone must be the name of a time zone"):
        read_events(first, second, zone="Europe/Nowhere")


def test_dates_are_counted_in_days(tmp_path: Path) -> None:
    first = write(
        tmp_path / "e.csv", "unit,time,variant", ["a,2026-03-01T15:00:00Z,x", "b,2026-03-03,x"]
    )
    second = write(tmp_path / "o.csv", "unit,date", ["a,2026-03-01", "a,2026-03-04"])
    events = read_events(first, second)
    assert events.arms[0].delays.tolist() == [0.0, math.inf]
    assert events.report is not None
    assert events.report.orders.before_exposure == 0
    assert "whole days" in events.report.notes[0]


def test_a_format_of_times_can_be_told(tmp_path: Path) -> None:
    first = write(tmp_path / "e.csv", "unit;time;variant", ["a;01.03.2026 12:00;x"])
    second = write(tmp_path / "o.csv", "unit;time", ["a;02.03.2026 12:00"])
    with pytest.raises(InputError, match=r"e\.csv, line 2, column time: time must be a date"):
        read_events(first, second)
    events = read_events(first, second, time_format="%d.%m.%Y %H:%M")
    assert events.arms[0].delays.tolist() == [DAY]


BROKEN = """Visitor ID,Timestamp,Group
a,2026-01-01,x

,2026-01-01,x
"b
b",2026-01-02,y
c,yesterday,y
d,2026-01-03
e,2026-01-03,y,z
f,2026-01-03,
g,1999-01-01,x
h,2199-01-01,x
i,2026-01-04,x
"""


def test_rows_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text(BROKEN)
    orders = write(
        tmp_path / "o.csv", "visitor_id,paid_at,amount", ["a,2026-01-05,ten", "i,2026-01-05,5"]
    )
    aside = tmp_path / "out" / "aside.csv"
    events = read_events(tmp_path / "e.csv", orders, set_aside_to=aside)
    assert events.decisions == 3
    with aside.open() as file:
        rows = list(csv.DictReader(file))
    known = [(row["file"], int(row["line"]), row["column"], row["reason"]) for row in rows]
    assert known == [
        ("e.csv", 4, "Visitor ID", "unreadable"),
        ("e.csv", 7, "Timestamp", "unreadable"),
        ("e.csv", 8, "Group", "unreadable"),
        ("e.csv", 9, "", "unreadable"),
        ("e.csv", 10, "Group", "unreadable"),
        ("e.csv", 11, "Timestamp", "unreadable"),
        ("e.csv", 12, "Timestamp", "unreadable"),
        ("o.csv", 2, "amount", "unreadable"),
    ]
    assert rows[1]["value"] == "yesterday"
    assert rows[1]["rule"].startswith("time must be a date")
    rows_add_up(events)
    assert events.report is not None
    assert str(events.report.examples[0]).startswith("e.csv, line 4, column Visitor ID: unit must")


def test_every_row_that_does_not_count_is_in_the_file(tmp_path: Path) -> None:
    shown, bought = made_up(11)
    aside = tmp_path / "aside.csv"
    events = read_events(*tables(tmp_path, shown, bought), window="10h", set_aside_to=aside)
    assert events.report is not None
    orders = events.report.orders
    with aside.open() as file:
        reasons = [row["reason"] for row in csv.DictReader(file) if row["file"] == "orders.csv"]
    assert len(reasons) == orders.rows - orders.counted
    assert reasons.count("unmatched") == orders.unmatched > 0
    assert reasons.count("before exposure") == orders.before_exposure > 0
    assert reasons.count("out of window") == orders.out_of_window > 0
    assert reasons.count("duplicate") == orders.duplicates == 2


def test_units_in_several_arms_and_sample_ratio(tmp_path: Path) -> None:
    shown = [(f"u{n}", n * 60, "a" if n % 10 < 6 else "b") for n in range(2000)]
    shown += [(f"u{n}", 200_000, "b") for n in range(5)]
    events = read_events(*tables(tmp_path, shown, [("u1", 400, 1.0, "1")]))
    assert events.report is not None
    assert events.report.units_in_several_arms == 5
    ratio = events.report.sample_ratio
    assert ratio is not None
    assert ratio.mismatch
    expected = stats.chisquare([1200, 800]).pvalue
    assert ratio.probability == pytest.approx(expected, rel=1e-9)
    fair = read_events(*tables(tmp_path, shown, [("u1", 400, 1.0, "1")]), split="60/40")
    assert fair.report is not None
    assert fair.report.sample_ratio is not None
    assert not fair.report.sample_ratio.mismatch
    none = read_events(*tables(tmp_path, shown, [("u1", 400, 1.0, "1")]), split="none")
    assert none.report is not None
    assert none.report.sample_ratio is None


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 7, 30])
@pytest.mark.parametrize("x", [0.01, 1.0, 5.0, 40.0])
def test_chi_squared(degrees: int, x: float) -> None:
    assert chi_squared_tail(x, degrees) == pytest.approx(stats.chi2.sf(x, degrees), rel=1e-9)


def test_an_even_split_is_no_mismatch() -> None:
    assert sample_ratio({"a": 500, "b": 500}, {"a": 1, "b": 1}).probability == 1.0


def as_frames() -> tuple[Any, Any]:
    import pandas

    exposures = pandas.DataFrame(
        {
            "user_id": [1, 2, 3, 4],
            "timestamp": pandas.to_datetime(["2026-01-01"] * 4, utc=True),
            "variation_id": ["0", "1", "0", "1"],
        }
    )
    orders = pandas.DataFrame(
        {
            "user_id": [2, 4],
            "timestamp": pandas.to_datetime(["2026-01-02", "2026-01-03"], utc=True),
            "value": [10.0, None],
        }
    )
    return exposures, orders


def check_frames(events: Events) -> None:
    assert events.names == ["0", "1"]
    assert events.control == "0"
    assert events.arms[1].delays.tolist() == [DAY, 2 * DAY]
    assert events.arms[1].order_values[0] == 10.0
    assert np.isnan(events.arms[1].order_values[1])
    rows_add_up(events)


def test_pandas_arrow_duckdb_and_parquet(tmp_path: Path) -> None:
    import duckdb
    import pyarrow

    exposures, orders = as_frames()
    check_frames(read_events(exposures, orders, preset="growthbook"))
    arrow = [pyarrow.Table.from_pandas(frame) for frame in (exposures, orders)]
    check_frames(read_events(*arrow))
    database = duckdb.connect()
    check_frames(read_events(database.from_arrow(arrow[0]), database.from_arrow(arrow[1])))
    for frame, name in ((exposures, "e.parquet"), (orders, "o.parquet")):
        frame.to_parquet(tmp_path / name)
    check_frames(read_events(tmp_path / "e.parquet", str(tmp_path / "o.parquet")))


ONE_TABLE = {
    "segment": (
        "anonymous_id,event,timestamp,experiment_id,variation_id,order_id,revenue",
        ["a,Experiment Viewed,{0},exp,x,,", "a,Order Completed,{1},,,17,9.5"],
    ),
    "ga4": (
        "user_pseudo_id,event_name,event_timestamp,experiment_id,variation_id,transaction_id,purchase_revenue",
        ["a,experiment_viewed,{0}000000,exp,x,,", "a,purchase,{1}000000,,,17,9.5"],
    ),
    "amplitude": (
        "user_id,event_type,event_time,flag_key,variant,$insert_id,revenue",
        ["a,$exposure,{0},exp,x,1,", "a,revenue_amount,{1},,,17,9.5"],
    ),
    "wide": (
        "visitor_id,exposed_at,variant,order_time,amount",
        ["a,{0},x,{1},9.5", "b,{0},x,,"],
    ),
    "growthbook": ("", []),
}


@pytest.mark.parametrize("preset", EVENT_PRESETS)
def test_presets_on_one_table(tmp_path: Path, preset: str) -> None:
    heading, rows = ONE_TABLE[preset]
    if not rows:
        return  # has two tables: with pandas above
    filled = [row.format(BEGIN, BEGIN + 3600) for row in rows]
    filled.append(filled[-1].replace("a,", "other,", 1) if preset != "wide" else filled[0])
    path = write(tmp_path / "events.csv", heading, filled)
    events = read_events(path, preset=preset)
    arm = events.arms[0]
    assert arm.name == "x"
    assert arm.delays[0] == 3600.0
    assert arm.order_values.tolist() == [9.5]
    rows_add_up(events)


def test_columns_can_be_told(tmp_path: Path) -> None:
    first = write(tmp_path / "e.csv", "wer,wann,was", ["a,2026-01-01,x"])
    second = write(tmp_path / "o.csv", "wer,bezahlt,betrag", ["a,2026-01-02,3"])
    with pytest.raises(InputError, match=r"e\.csv: a column for unit is needed, such as unit"):
        read_events(first, second)
    told = {"unit": "wer", "exposures.time": "wann", "variant": "was", "orders.time": "bezahlt"}
    assert read_events(first, second, columns=told).arms[0].delays.tolist() == [DAY]
    with pytest.raises(InputError, match="role of a column must be one of"):
        read_events(first, second, columns={**told, "colour": "was"})
    with pytest.raises(InputError, match=r"column for value must be one of .*betrag"):
        read_events(first, second, columns={**told, "value": "betrga"})


def test_a_unit_column_that_both_have_comes_first(tmp_path: Path) -> None:
    first = write(tmp_path / "e.csv", "anonymous_id,user_id,time,variant", ["z9,a,2026-01-01,x"])
    second = write(tmp_path / "o.csv", "anonymous_id,time", ["z9,2026-01-02"])
    assert read_events(first, second).arms[0].delays.tolist() == [DAY]


def test_experiments(tmp_path: Path) -> None:
    rows = ["a,2026-01-01,one,x", "b,2026-01-01,two,x", "c,2026-01-03,two,y"]
    first = write(tmp_path / "e.csv", "unit,time,experiment,variant", rows)
    second = write(tmp_path / "o.csv", "unit,time", ["b,2026-01-02"])
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


def test_values_as_shops_write_them(tmp_path: Path) -> None:
    first = write(tmp_path / "e.csv", "unit;time;variant", ["a;2026-01-01;x"])
    amounts = ["12.5", "€3.00", "1,234.50 EUR", '"$7"', "1e2"]
    rows = [f"a;2026-01-02;{n};{amount}" for n, amount in enumerate(amounts)]
    second = write(tmp_path / "o.csv", "unit;time;order;value", rows)
    found = read_events(first, second).arms[0].order_values.tolist()
    assert found == [12.5, 3.0, 1234.5, 7.0, 100.0]


def test_one_currency(tmp_path: Path) -> None:
    first = write(tmp_path / "e.csv", "unit,time,variant", ["a,2026-01-01,x"])
    rows = ["a,2026-01-02,1,EUR", "a,2026-01-03,1,EUR", "a,2026-01-04,1,USD"]
    second = write(tmp_path / "o.csv", "unit,time,value,currency", rows)
    with pytest.raises(InputError, match=r"one currency is needed; got EUR \(2\), USD \(1\)"):
        read_events(first, second)


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"credit": "second"}, "credit must be one of first, last, every"),
        ({"preset": "growthbok"}, "Did you mean 'growthbook'"),
        ({"window": "30 moons"}, "window must be a length of time"),
        ({"window": "0d"}, "window must be a finite number > 0"),
        ({"control": "z"}, "control must be one of"),
        ({"split": "1/2/3"}, "split must have a share for each arm"),
        ({"split": "a/b"}, "split must be shares"),
        ({"as_of": "tomorrow"}, "as_of must be a date or a time"),
        ({"experiment": "e"}, "a column for experiment is needed"),
    ],
)
def test_refuses(tmp_path: Path, options: dict[str, Any], rule: str) -> None:
    shown, bought = [("a", 0, "x"), ("b", 0, "y")], [("a", 5, 1.0, "1")]
    with pytest.raises(InputError, match=rule):
        read_events(*tables(tmp_path, shown, bought), **options)


def test_refuses_what_is_no_table(tmp_path: Path) -> None:
    good, _ = tables(tmp_path, [("a", 0, "x")], [("a", 5, 1.0, "1")])
    with pytest.raises(InputError, match="a file is needed; there is none at"):
        read_events(tmp_path / "missing.csv", good)
    with pytest.raises(InputError, match="a path or a table is needed; got list"):
        read_events([1, 2], good)
    with pytest.raises(InputError, match="a table of orders is needed"):
        read_events(good)
    empty = tmp_path / "empty.csv"
    empty.write_text("")
    with pytest.raises(InputError, match="a line with the names of the columns is needed"):
        read_events(empty, good)
    twice = write(tmp_path / "twice.csv", "unit,unit,time,variant", [])
    with pytest.raises(InputError, match="a name of its own; got 'unit' twice"):
        read_events(twice, good)
    only_names = write(tmp_path / "names.csv", "unit,time,variant", [])
    with pytest.raises(InputError, match="at least one row of exposures is needed"):
        read_events(only_names, good)
    broken = tmp_path / "broken.parquet"
    broken.write_text("no parquet")
    with pytest.raises(InputError, match="the file must be a readable table"):
        read_events(broken, good)


@pytest.mark.parametrize(
    ("written", "seconds"),
    [("30d", 30 * DAY), ("12h", 43200), ("90 min", 5400), ("2w", 14 * DAY), (60, 60)],
)
def test_lengths_of_time(written: object, seconds: float) -> None:
    assert in_seconds("x", "window", written) == seconds


def test_lengths_of_time_in_words() -> None:
    assert [spoken(x) for x in (30 * DAY, DAY, 1.5 * DAY, 7200, 90)] == [
        "30 days",
        "1 day",
        "1.5 days",
        "2 hours",
        "1.5 minutes",
    ]
    assert short_time(14 * DAY) == "14 d"
