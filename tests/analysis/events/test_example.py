"""The files of the made-up shop."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

from patientbandits.analysis import analyse
from patientbandits.analysis.events import read_events
from patientbandits.analysis.events.example import (
    EXAMPLE_VARIANTS,
    HALF_A_YEAR,
    season,
    write_example,
)
from patientbandits.analysis.rehearsal.season import season_of


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


def test_weekends_and_the_sale_are_in_the_orders(tmp_path: Path) -> None:
    events = read_events(*write_example(tmp_path), window="30d")
    first = min(int(arm.days.min()) for arm in events.arms)
    day = np.concatenate([arm.days for arm in events.arms]) - first
    bought = np.concatenate([arm.converted_within(3 * 86400.0) for arm in events.arms])
    rate = np.bincount(day, bought) / np.bincount(day)
    weekend = np.isin((day + 3) % 7, (5, 6))
    sale = (day >= 158) & (day < 165)
    weekends = bought[weekend & ~sale].mean() / bought[~weekend & ~sale].mean()
    assert weekends == pytest.approx(1.5, rel=0.15)
    assert rate[158:165].mean() / rate[:158].mean() == pytest.approx(2.0, rel=0.25)


def test_the_season_changes_no_answer(tmp_path: Path) -> None:
    """Rates are those of the days that there were; the verdict names the truly better arm."""
    analysis = analyse(read_events(*write_example(tmp_path), window="30d"))
    average = season(np.arange(HALF_A_YEAR)).mean()
    assert 1.03 < average < 1.06
    truth = {}
    for variant in EXAMPLE_VARIANTS:
        in_time = norm.cdf(np.log(30 / variant.median_days) / variant.spread)
        truth[variant.name] = 0.98 * variant.rate * in_time * average  # 2 % are refunded in full
        arm = analysis.arms[variant.name]
        assert arm.low < truth[variant.name] < arm.high
    best = max(truth, key=truth.__getitem__)
    assert analysis.verdict.leader == best == "green"
    assert analysis.verdict.probability > 0.95
    found = season_of(analysis)
    weekdays = found.weekdays.factors
    assert weekdays[5:].mean() / weekdays[:5].mean() == pytest.approx(1.5, rel=0.12)
    assert int(found.weeks.factors.argmax()) == (158 + 3) // 7, "the week of the sale"
