"""Intervals, against SciPy and the definitions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from patientbandits.errors import InputError
from patientbandits.inference.intervals import (
    LEVEL,
    mean_interval,
    ratio_interval,
    student_interval,
    student_quantile,
)


@pytest.fixture
def values() -> np.ndarray:
    return np.random.default_rng(3).gamma(2.0, size=(9, 4))


@pytest.mark.parametrize("level", [0.5, LEVEL, 0.999])
def test_the_normal_interval(values: np.ndarray, level: float) -> None:
    found = mean_interval(values, level)
    expected = stats.norm.interval(level, values.mean(axis=0), stats.sem(values, axis=0))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_one_run_tells_nothing_of_the_spread(values: np.ndarray) -> None:
    low, high = mean_interval(values[:1])
    assert (low == -np.inf).all()
    assert (high == np.inf).all()


@pytest.mark.parametrize("level", [0, 1, -0.5, float("nan"), "0.95"])
def test_a_level_that_is_none_is_refused(values: np.ndarray, level: float) -> None:
    with pytest.raises(InputError, match=r"^interval: level must be"):
        mean_interval(values, level)


@pytest.mark.parametrize("runs", [2, 3, 9])
def test_students_interval(values: np.ndarray, runs: int) -> None:
    few = values[:runs]
    mean, low, high = student_interval(few)
    expected = stats.t.interval(LEVEL, runs - 1, few.mean(axis=0), stats.sem(few, axis=0))
    np.testing.assert_allclose(mean, few.mean(axis=0))
    np.testing.assert_allclose([low, high], expected, rtol=1e-9)
    assert student_quantile(runs - 1, 0.8) == pytest.approx(stats.t.ppf(0.9, runs - 1))


def test_the_interval_of_a_ratio_is_the_delta_methods(values: np.ndarray) -> None:
    ours = values[:, 0]
    theirs = values[:, 1]
    ratio = ours.mean() / theirs.mean()
    covariance = np.cov(ours, theirs)
    slope = np.array([1 / theirs.mean(), -ours.mean() / theirs.mean() ** 2])
    half = stats.norm.ppf(0.975) * np.sqrt(slope @ covariance @ slope / len(ours))
    assert ratio_interval(ours, theirs) == pytest.approx(
        (ratio, max(0.0, ratio - half), ratio + half)
    )
