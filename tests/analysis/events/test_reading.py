"""Options of `read_events` that are refused, and rows read without a join."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from event_files import BEGIN, tables

from patientbandits.analysis.events import read_events, read_rows
from patientbandits.errors import InputError


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


def test_rows_are_read_as_they_are(tmp_path: Path) -> None:
    shown = [("b", 60, "y"), ("a", 0, "x"), ("a", 0, "x"), ("", 5, "x")]
    bought = [("a", 90, 2.5, "1"), ("c", 30, -1.0, "2"), ("a", 95, 9.0, "1")]
    rows = read_rows(*tables(tmp_path, shown, bought))
    micro = 1_000_000
    assert rows.exposures == [
        ("a", BEGIN * micro, "x"),
        ("b", (BEGIN + 60) * micro, "y"),
    ]
    assert rows.orders == [
        ("c", (BEGIN + 30) * micro, -1.0, "2", None, 0.0, None),
        ("a", (BEGIN + 90) * micro, 2.5, "1", None, 0.0, None),
    ]
    assert rows.set_aside == 3
