"""The start of the adaptive policy by its formula, and Student's intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from patientbandits import theory
from patientbandits.errors import InputError
from patientbandits.inference.intervals import student_interval, student_quantile

pytestmark = pytest.mark.slow


def naive_start(alpha: float, mean: float, penalty: float, ratio: float, share: float) -> int:
    """The first N at which Algorithm 2, fed with expectations, gives alpha_low > 0."""
    n = 1
    while True:
        n += 1
        long = n // 2
        short = int(ratio * long)
        if short >= 1:
            late = mean * share * (short**-alpha - long**-alpha)
            hat = min(-math.log(late) / math.log(n), 0.5)
            if hat - penalty / math.log(n) > 0:
                return n


@pytest.mark.parametrize("alpha", [0.2, 0.3, 0.5, 0.8])
@pytest.mark.parametrize("penalty", [0.01, 1.0, 2.0])
@pytest.mark.parametrize("ratio", [0.35, 0.01])
@pytest.mark.parametrize("share", [1.0, 0.7])
def test_start_is_the_naive_one(alpha: float, penalty: float, ratio: float, share: float) -> None:
    """Up to a step of d: the formula takes d/D for its limit, which the integers only approach."""
    predicted = theory.adaptive_start(alpha, 0.8, penalty, ratio, share)
    naive = naive_start(alpha, 0.8, penalty, ratio, share)
    assert predicted <= naive <= 1.01 * predicted + 4 / ratio


def test_start_does_not_overflow() -> None:
    assert theory.adaptive_start(0.01, 0.8, 20.0, 0.35) == math.inf
    assert theory.adaptive_start(0.8, 0.8, 400.0, 0.35) == math.inf


@pytest.mark.parametrize(
    ("name", "value"),
    [("alpha", 0.0), ("mean", math.nan), ("penalty", -1.0), ("ratio", 1.0), ("share", 0.0)],
)
def test_start_refuses_what_breaks_its_rules(name: str, value: float) -> None:
    good = {"alpha": 0.3, "mean": 0.8, "penalty": 1.0, "ratio": 0.35}
    with pytest.raises(InputError, match=f"adaptive_start: {name} must be"):
        theory.adaptive_start(**good | {name: value})


@pytest.mark.parametrize("degrees", [1, 2, 3, 6, 9, 29, 100])
def test_intervals_are_students(degrees: int) -> None:
    assert student_quantile(degrees) == pytest.approx(stats.t.ppf(0.975, degrees))
    values = np.random.default_rng(degrees).exponential(size=degrees + 1)
    mean, low, high = student_interval(values)
    assert mean == pytest.approx(values.mean())
    expected = stats.t.interval(0.95, degrees, values.mean(), stats.sem(values))
    assert (low, high) == pytest.approx(expected)
