"""Findings of one arm: what is to come, cohorts."""

from __future__ import annotations

import numpy as np
import pytest

from patientbandits._util.durations import DAY
from patientbandits.analysis import Analysis, analyse
from patientbandits.analysis.events import Events


def test_findings_are_consistent(analysis: Analysis) -> None:
    for arm in analysis.arms.values():
        assert 0 <= arm.low <= arm.rate <= arm.high <= 1
        assert arm.anytime_low <= arm.rate <= arm.anytime_high
        assert arm.raw <= arm.rate
        assert arm.matured == pytest.approx(
            arm.conversions / (arm.conversions + arm.to_come), abs=0.02
        )
    assert sum(arm.best for arm in analysis.arms.values()) == pytest.approx(1)
    assert analysis.arms["control"].lift is None
    assert analysis.verdict.leader == "slow"
    assert analysis.arms["slow"].matured < analysis.arms["control"].matured
    assert analysis.verdict.words.startswith("No clear leader yet: slow is ahead")
    assert analysis.arms["slow"].best_so_far > 0.95 > analysis.arms["slow"].best


def test_nothing_comes_from_decisions_older_than_the_window(shop: Events) -> None:
    old = Events.of(
        {
            arm.name: (arm.ages + 31 * DAY, np.where(arm.delays <= 30 * DAY, arm.delays, np.inf))
            for arm in shop.arms
        },
        window=30 * DAY,
        end=shop.end,
    )
    result = analyse(old)
    for arm in result.arms.values():
        assert arm.to_come == pytest.approx(0, abs=1e-9)
        assert arm.matured == pytest.approx(1)
        assert arm.rate == pytest.approx(arm.raw, rel=0.05)


def test_cohorts_add_up(analysis: Analysis) -> None:
    for arm in analysis.arms.values():
        rows = [row for row in analysis.cohorts if row.arm == arm.arm]
        assert sum(row.decisions for row in rows) == arm.decisions
        assert sum(row.conversions for row in rows) == arm.conversions
        expected = arm.conversions + arm.to_come
        assert sum(row.expected for row in rows) == pytest.approx(expected, rel=0.05)
