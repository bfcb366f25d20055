"""Lengths of time, read and written."""

from __future__ import annotations

import pytest

from patientbandits._util.durations import DAY, in_seconds, short_time, spoken


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
