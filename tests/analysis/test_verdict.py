"""The verdict: clear cases, too early, a single arm; windows, and where the ranking flips."""

from __future__ import annotations

import numpy as np
import pytest
from event_files import log_normal_arm

from patientbandits._util.durations import DAY, HOUR
from patientbandits.analysis import Analysis, analyse
from patientbandits.analysis.events import Events
from patientbandits.analysis.verdict import loss_words, standing_words


def test_clear_cases_can_stop_and_others_are_too_early() -> None:
    clear = Events.of(
        {"a": log_normal_arm(5, 20_000, 0.02, 0.3), "b": log_normal_arm(6, 20_000, 0.08, 0.3)},
        window=7 * DAY,
    )
    verdict = analyse(clear).verdict
    assert verdict.days_left == 0
    assert verdict.certain
    assert verdict.words.endswith("that is low enough to stop")
    early = Events.of(
        {"a": log_normal_arm(7, 40, 0.1, 5.0), "b": log_normal_arm(8, 40, 0.1, 5.0)},
        window=30 * DAY,
    )
    verdict = analyse(early).verdict
    assert verdict.too_early
    assert verdict.words.startswith("Too early to say")


def test_an_arm_without_conversions_and_a_single_arm() -> None:
    ages = np.linspace(0, 10, 300) * DAY
    silent = Events.of(
        {"a": (ages, np.full(300, np.inf)), "b": log_normal_arm(9, 300, 0.2, 0.5)}, window=DAY
    )
    result = analyse(silent)
    assert result.verdict.too_early
    assert result.arms["a"].rate < result.arms["b"].rate
    alone = analyse(Events.of({"a": log_normal_arm(9, 300, 0.2, 0.5)}, window=DAY))
    assert "only one arm" in alone.verdict.words


def test_windows_show_where_the_ranking_flips(analysis: Analysis) -> None:
    leaders = {row.window: row.leader for row in analysis.windows}
    assert leaders[DAY] == "control"
    assert leaders[30 * DAY] == "slow"
    flips = [row for row in analysis.windows if row.flipped]
    assert len(flips) == 1
    assert DAY < flips[0].window <= 30 * DAY
    shares = np.array([[part.caught for part in row.arms] for row in analysis.windows])
    assert np.all(np.diff(shares, axis=0) >= 0)
    assert shares[-1] == pytest.approx(1.0)
    assert analysis.windows[0].window == HOUR


@pytest.mark.parametrize(
    ("probability", "by", "words"),
    [
        (0.56, "rate", "No clear leader yet: b is ahead, with a probability of 56 %"),
        (
            0.799,
            "revenue",
            "No clear leader yet: b is ahead by revenue, with a probability of 80 %",
        ),
        (0.8, "rate", "b leads, with a probability of 80 % of being the best arm"),
        (0.999, "rate", "b leads, with a probability of more than 99 % of being the best arm"),
    ],
)
def test_an_arm_leads_only_where_that_is_likely(probability: float, by: str, words: str) -> None:
    assert standing_words("b", probability, by) == words


@pytest.mark.parametrize(
    ("loss", "by", "words"),
    [
        (0.0004, "rate", "0.04 percentage points"),
        (0.00002, "rate", "0.0020 percentage points"),
        (0.0000001, "rate", "less than 0.0001 percentage points"),
        (0.0000001, "revenue", "less than 0.000100 EUR per visitor"),
        (0.25, "revenue", "0.250 EUR per visitor"),
    ],
)
def test_losses_in_words(loss: float, by: str, words: str) -> None:
    assert loss_words(loss, by, "EUR") == words
