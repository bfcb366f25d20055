"""Parsing: times, amounts and units as shops write them, and rows that cannot be read."""

from __future__ import annotations

import csv
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from event_files import rows_add_up, write_rows

import patientbandits as pb
from patientbandits._util.durations import DAY
from patientbandits.analysis.events import read_events, read_rows
from patientbandits.errors import InputError

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
    first = write_rows(tmp_path / "e.csv", "unit,time,variant", [f"a,{WRITTEN[name]},x"])
    second = write_rows(tmp_path / "o.csv", "unit,time", ["a,2026-03-01T13:00:00Z"])
    events = read_events(first, second)
    assert events.end == datetime(2026, 3, 1, 13, tzinfo=UTC).timestamp()
    assert events.arms[0].ages.tolist() == [1800.0]
    assert events.arms[0].delays.tolist() == [1800.0]


def test_times_without_a_zone_are_in_the_one_told(tmp_path: Path) -> None:
    first = write_rows(tmp_path / "e.csv", "unit,time,variant", ["a,2026-03-01 12:30:00,x"])
    second = write_rows(tmp_path / "o.csv", "unit,time", ["a,2026-03-01T13:00:00Z"])
    events = read_events(first, second, zone="Europe/Berlin")
    assert events.arms[0].ages.tolist() == [5400.0]
    with pytest.raises(InputError, match="zone must be the name of a time zone"):
        read_events(first, second, zone="Europe/Nowhere")


def test_a_format_of_times_can_be_told(tmp_path: Path) -> None:
    first = write_rows(tmp_path / "e.csv", "unit;time;variant", ["a;01.03.2026 12:00;x"])
    second = write_rows(tmp_path / "o.csv", "unit;time", ["a;02.03.2026 12:00"])
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
    orders = write_rows(
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


def test_values_as_shops_write_them(tmp_path: Path) -> None:
    first = write_rows(tmp_path / "e.csv", "unit;time;variant", ["a;2026-01-01;x"])
    amounts = ["12.5", "€3.00", "1,234.50 EUR", '"$7"', "1e2"]
    rows = [f"a;2026-01-02;{n};{amount}" for n, amount in enumerate(amounts)]
    second = write_rows(tmp_path / "o.csv", "unit;time;order;value", rows)
    found = read_events(first, second).arms[0].order_values.tolist()
    assert found == [12.5, 3.0, 1234.5, 7.0, 100.0]


EXPOSED = "unit,time,variant\na,2026-01-01T00:00:00Z,blue\nb,2026-01-01T00:00:00Z,green\n"


def orders_of(values):
    rows = [f"a;2026-01-02T00:00:0{place}Z;{text}" for place, text in enumerate(values)]
    return "\n".join(["unit;time;value", *rows, ""])


def values_read(write, texts):
    events = pb.read_events(write("e.csv", EXPOSED), write("o.csv", orders_of(texts)))
    arm = next(arm for arm in events.arms if arm.name == "blue")
    return arm.order_values.tolist(), events.report


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12.50", 12.5),
        ("1,234.50", 1234.5),
        ("1,234", 1234.0),
        ("€32.91", 32.91),
        ("32.91 EUR", 32.91),
        ("-€5", -5.0),
        ("€-5", -5.0),
        ("(12.50)", -12.5),
        ("12.50-", -12.5),
        ("12,50", 12.5),
        ("1.234,56", 1234.56),
        ("1 234,56 kr", 1234.56),
        ("1\u202f234\u202f567,8", 1234567.8),
        ("1'234.50", 1234.5),
        ("0", 0.0),
        ("-0.99", -0.99),
    ],
)
def test_an_amount_is_read_as_it_is_meant(write, text, value):
    rows = read_rows(write("e.csv", EXPOSED), write("o.csv", orders_of([text])))
    assert [row.value for row in rows.orders] == [value]


def test_in_a_column_of_decimal_commas_a_point_is_between_thousands(write):
    values, report = values_read(write, ["1.234", "19,90", "7"])
    assert values == [1234.0, 19.9, 7.0]
    assert any("decimal commas" in note for note in report.notes)
    assert values_read(write, ["1.234", "19.90", "7"])[0] == [1.234, 19.9, 7.0]


@pytest.mark.parametrize("text", ["1e308", "12abc34", "inf", "nan", "1,2,3", "1.2.3"])
def test_what_is_no_amount_is_set_aside(write, text):
    values, report = values_read(write, [text, "5"])
    assert values == [5.0]
    assert report.orders.unreadable == 1
    assert report.examples[0].value == text


def test_whole_numbers_that_a_table_keeps_as_fractions_are_the_same_units():
    pandas = pytest.importorskip("pandas")
    exposures = pandas.DataFrame(
        {"unit": [7.0, np.nan, 2.5], "time": ["2026-01-01"] * 3, "variant": ["a", "b", "b"]}
    )
    orders = pandas.DataFrame({"unit": [7, 8], "time": ["2026-01-02"] * 2})
    report = pb.read_events(exposures, orders).report
    assert (report.orders.counted, report.orders.unmatched) == (1, 1)
    assert (report.exposures.counted, report.exposures.unreadable) == (2, 1)


def test_a_told_format_does_not_hinder_times_that_need_none(write):
    exposures = write("e.csv", "unit,time,variant\na,05/03/2026,x\nb,06/03/2026,y\n")
    orders = write("o.csv", "unit,time\na,2026-03-07\nb,1772841600\n")
    events = pb.read_events(exposures, orders, time_format="%d/%m/%Y")
    assert events.report.orders.counted == 2
    assert [arm.delays.tolist() for arm in events.arms] == [[2 * DAY], [DAY]]
