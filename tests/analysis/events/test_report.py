"""The report of a reading: every row accounted for, the split of units tested."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from event_files import messy_history, tables
from scipy import stats

from patientbandits.analysis.events import read_events
from patientbandits.analysis.events.report import sample_ratio


def test_every_row_that_does_not_count_is_in_the_file(tmp_path: Path) -> None:
    shown, bought = messy_history(11)
    aside = tmp_path / "aside.csv"
    events = read_events(*tables(tmp_path, shown, bought), window="10h", set_aside_to=aside)
    assert events.report is not None
    orders = events.report.orders
    with aside.open() as file:
        reasons = [row["reason"] for row in csv.DictReader(file) if row["file"] == "orders.csv"]
    assert len(reasons) == orders.rows - orders.counted - orders.refunds
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


@pytest.mark.parametrize("arms", [2, 3, 4, 7, 30])
@pytest.mark.parametrize("largest", [101, 110, 160])
def test_the_split_of_several_arms(arms: int, largest: int) -> None:
    counts = [largest, *[100] * (arms - 1)]
    units = {str(place): count for place, count in enumerate(counts)}
    ratio = sample_ratio(units, dict.fromkeys(units, 2.0))
    expected = stats.chisquare(counts)
    assert ratio.chi_squared == pytest.approx(expected.statistic, rel=1e-12)
    assert ratio.probability == pytest.approx(expected.pvalue, rel=1e-9)


def test_an_even_split_is_no_mismatch() -> None:
    assert sample_ratio({"a": 500, "b": 500}, {"a": 1, "b": 1}).probability == 1.0
