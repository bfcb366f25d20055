"""The files of the made-up shop."""

from __future__ import annotations

from pathlib import Path

from patientbandits.analysis.events import read_events
from patientbandits.analysis.events.example import write_example


def test_the_example_is_as_untidy_as_promised(tmp_path: Path) -> None:
    events = read_events(*write_example(tmp_path), window="30d")
    assert events.decisions == 60_000
    report = events.report
    assert report is not None
    assert report.units_in_several_arms > 100
    assert report.exposures.duplicates > 100
    assert report.exposures.unreadable > 10
    for count in ("duplicates", "unreadable", "unmatched", "before_exposure", "out_of_window"):
        assert getattr(report.orders, count) > 0, count
