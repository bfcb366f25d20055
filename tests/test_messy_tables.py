"""Tables as people have them: amounts, times and headings that are not as one would wish."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import patientbandits as pb
from patientbandits._util.durations import DAY
from patientbandits.analysis.future import traffic_of
from patientbandits.analysis.page import warnings_of, write_analysis

duckdb = pytest.importorskip("duckdb")

EXPOSED = "unit,time,variant\na,2026-01-01T00:00:00Z,blue\nb,2026-01-01T00:00:00Z,green\n"


@pytest.fixture
def write(tmp_path):
    def put(name, text):
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return put


def orders_of(values):
    rows = [f"a;2026-01-02T00:00:0{place}Z;{text}" for place, text in enumerate(values)]
    return "\n".join(["unit;time;value", *rows, ""])


def values_read(write, texts):
    found = pb.read_events(write("e.csv", EXPOSED), write("o.csv", orders_of(texts)))
    arm = next(arm for arm in found.arms if arm.name == "blue")
    return arm.order_values.tolist(), found.report


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
    assert values_read(write, [text])[0] == [value]


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
    found = pb.read_events(exposures, orders, time_format="%d/%m/%Y")
    assert found.report.orders.counted == 2
    assert [arm.delays.tolist() for arm in found.arms] == [[2 * DAY], [DAY]]


@pytest.mark.parametrize("day", ["2026-03-28", "2026-10-24"])
def test_a_day_is_a_day_where_clocks_are_changed(write, day):
    """In Berlin the next day begins 24 hours later, the one after it 23 or 25 hours after that."""
    start = np.datetime64(day)
    exposures = write("e.csv", f"unit,time,variant\na,{start},x\nb,{start + 1},y\n")
    orders = write("o.csv", f"unit,time\na,{start + 1}\nb,{start + 2}\n")
    found = pb.read_events(exposures, orders, window="1d", zone="Europe/Berlin")
    assert [arm.delays.tolist() for arm in found.arms] == [[DAY], [DAY]]
    assert found.report.orders.out_of_window == 0
    days = (start - np.datetime64("1970-01-01")).astype(int)
    assert [arm.days.tolist() for arm in found.arms] == [[days], [days + 1]]


def test_the_end_is_told_in_the_zone_of_the_times(write):
    exposures = write("e.csv", "unit,time,variant\na,2026-01-01 00:00:00,x\n")
    orders = write("o.csv", "unit,time\na,2026-01-01 12:00:00\n")
    for end in ("2026-01-02", "20260102"):
        found = pb.read_events(exposures, orders, zone="America/New_York", as_of=end)
        assert found.arms[0].ages.tolist() == [DAY]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (b"unit,Unit,time,variant\na,b,1767225600,x\n", "line 1.*'unit' and 'Unit'"),
        (b"unit,time,variant\ra,1767225600,x\r", "line 1: lines must end with a line feed"),
        (b"unit,time,variant\na,b,c,d\n", r"e.csv, line 2: a row must have 3 columns"),
        (b"unit,time,variant\na,31.01.2026,x\n", "Name another format with time_format"),
        (b",".join(b"c%d" % place for place in range(99)) + b"\n", "c19 and 79 more"),
    ],
)
def test_what_is_wrong_with_a_file_is_told(write, text, rule):
    with pytest.raises(pb.InputError, match=rule):
        pb.read_events(write("e.csv", text), write("o.csv", "unit,time\na,1767225600\n"))


def test_events_that_were_not_found_are_named_with_those_that_are_there(write):
    text = "user_pseudo_id,event_timestamp,event_name,variant_id\na,1767225600,purchase,x\n"
    with pytest.raises(pb.InputError, match="experience_impression; got purchase"):
        pb.read_events(write("e.csv", text), preset="ga4")


def test_many_rows_that_cannot_be_read_are_a_warning(write):
    texts = ["five", "six", "7"]
    found = pb.analyse(pb.read_events(write("e.csv", EXPOSED), write("o.csv", orders_of(texts))))
    assert any("2 of 3 rows of o.csv could not be read" in words for words in warnings_of(found))


def test_a_history_of_one_moment_has_a_page(write, tmp_path):
    orders = write("o.csv", "unit,time\na,2026-01-01T00:00:00Z\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = pb.analyse(pb.read_events(write("e.csv", EXPOSED), orders, window="30d"))
        assert write_analysis(found, tmp_path / "out").is_file()
    assert "blue has 1 conversion so far" in found.verdict.words


def test_traffic_is_counted_over_a_day_at_least():
    assert traffic_of(np.zeros(5)) == 5.0
    assert traffic_of(np.linspace(0, DAY / 2, 11)) == 11.0
