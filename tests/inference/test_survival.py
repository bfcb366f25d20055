"""The Kaplan-Meier estimate against its definition and lifelines."""

from __future__ import annotations

import math

import numpy as np
import pytest
from event_files import log_normal_arm
from scipy import stats

from patientbandits._util.durations import DAY
from patientbandits.inference import step_curve


def naive_kaplan_meier(ages: np.ndarray, delays: np.ndarray, time: float) -> float:
    """From the definition, decision by decision."""
    left = 1.0
    for moment in sorted({delay for delay in delays if delay <= time}):
        events = sum(delay == moment for delay in delays)
        at_risk = sum(min(age, delay) >= moment for age, delay in zip(ages, delays, strict=True))
        left *= 1 - events / at_risk
    return 1 - left


def test_kaplan_meier_is_the_definition() -> None:
    ages, delays = log_normal_arm(3, 120, 0.5, 3.0)
    ages, delays = np.round(ages / DAY), np.round(delays / DAY)  # ties
    curve = step_curve(ages, delays)
    for time in (0, 1, 2, 5, 17, 40):
        expected = naive_kaplan_meier(ages, delays, time)
        assert float(curve.at(time)) == pytest.approx(expected, abs=1e-12)
    assert math.isnan(float(curve.at(ages.max() + 1)))


@pytest.mark.filterwarnings("ignore")
def test_kaplan_meier_agrees_with_lifelines() -> None:
    from lifelines import KaplanMeierFitter

    ages, delays = log_normal_arm(4, 3000, 0.3, 4.0)
    ages, delays = np.minimum(ages, 30 * DAY), np.where(delays <= 30 * DAY, delays, np.inf)
    converted = np.isfinite(delays)
    fitter = KaplanMeierFitter().fit(np.where(converted, delays, ages), converted)
    curve = step_curve(ages, delays)
    theirs = 1 - fitter.survival_function_at_times(curve.times).to_numpy()
    assert np.abs(curve.share - theirs).max() < 1e-12
    low, high = fitter.confidence_interval_survival_function_.to_numpy().T
    places = np.searchsorted(fitter.survival_function_.index.to_numpy(), curve.times)
    z = stats.norm.ppf(0.975)
    left = 1 - curve.share
    bound = z * np.sqrt(curve.variance) / (left * np.log(left))  # log-log intervals, as theirs
    ours = np.exp(np.log(left)[:, None] * np.exp(np.stack([-bound, bound], axis=1)))
    assert np.abs(np.sort(ours, axis=1) - np.stack([low, high], axis=1)[places]).max() < 1e-9
