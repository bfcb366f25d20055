"""The verdict: clear cases, too early, a single arm."""

from __future__ import annotations

import numpy as np
from event_files import log_normal_arm

from patientbandits._util.durations import DAY
from patientbandits.analysis import analyse
from patientbandits.analysis.events import Events


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
