"""The page: everything inside, warnings, a history of one moment."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path

import pytest

import patientbandits as pb
from patientbandits.analysis import Analysis
from patientbandits.analysis.page import warnings_of, write_analysis


def test_the_page_has_everything_inside(analysis: Analysis, tmp_path: Path) -> None:
    page = write_analysis(analysis, tmp_path).read_text()
    assert analysis.verdict.words in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "https://" not in page
    assert page.count("data:image/svg+xml;base64,") == 5
    data = json.loads((tmp_path / "analysis.json").read_text())
    assert data["verdict"]["leader"] == "slow"


def widths(table: str) -> list[int]:
    """Count the cells of each row, headings too."""
    rows = re.findall(r"<tr.*?</tr>", table, re.DOTALL)
    return [len(re.findall(r"<t[hd]\b", row)) for row in rows]


@pytest.mark.parametrize("columns", ["unit,time", "unit,time,value"])
def test_every_cell_of_a_table_has_a_heading(write, tmp_path: Path, columns: str) -> None:
    """Without revenue and with it; a phone shows a cell's label instead of its heading."""
    valued = "value" in columns
    rows = [f"{unit},2026-01-02T00:00:00Z" + ",40" * valued for unit in "ab"]
    orders = write("o.csv", "\n".join([columns, *rows, ""]))
    events = pb.read_events(write("e.csv", EXPOSED), orders, window="30d")
    page = write_analysis(pb.analyse(events), tmp_path / "out").read_text()
    assert (">Revenue<" in page) == valued
    tables = re.findall(r"<table.*?</table>", page, re.DOTALL)
    assert len(tables) >= 3
    for table in tables:
        assert len(set(widths(table))) == 1, f"rows with fewer or more cells than headings: {table}"
        if 'class="stack"' in table:
            assert table.count("<td") == table.count("data-label="), f"without data-label: {table}"


EXPOSED = "unit,time,variant\na,2026-01-01T00:00:00Z,blue\nb,2026-01-01T00:00:00Z,green\n"


def orders_of(values):
    rows = [f"a;2026-01-02T00:00:0{place}Z;{text}" for place, text in enumerate(values)]
    return "\n".join(["unit;time;value", *rows, ""])


def test_many_rows_that_cannot_be_read_are_a_warning(write):
    texts = ["five", "six", "7"]
    events = pb.analyse(pb.read_events(write("e.csv", EXPOSED), write("o.csv", orders_of(texts))))
    assert any("2 of 3 rows of o.csv could not be read" in words for words in warnings_of(events))


def test_a_history_of_one_moment_has_a_page(write, tmp_path):
    orders = write("o.csv", "unit,time\na,2026-01-01T00:00:00Z\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        events = pb.analyse(pb.read_events(write("e.csv", EXPOSED), orders, window="30d"))
        assert write_analysis(events, tmp_path / "out").is_file()
    assert "blue has 1 conversion so far" in events.verdict.words
