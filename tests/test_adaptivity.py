"""The parts of the study of adaptivity against naive definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from patientbandits import AdaptPatientBandits, simulate, theory
from patientbandits.errors import InputError
from patientbandits.inference.intervals import student_interval, student_quantile
from patientbandits.research.paper.adaptivity.departures import departure
from patientbandits.research.paper.adaptivity.variants import (
    PRINTED,
    RECORD_STEP,
    Variant,
    slow_problem,
    study_rounds,
)
from patientbandits.research.paper.adaptivity.words import in_powers
from patientbandits.research.paper.section8_adaptive import (
    ADAPTIVE_ALPHA_FLOOR,
    ADAPTIVE_C,
    ADAPTIVE_MEAN_FLOOR,
)

pytestmark = pytest.mark.slow

RUNS_OF_FOUR_VALUES = st.lists(
    st.lists(st.sampled_from([0.0, 0.0, 0.1, 1e-300]), min_size=6, max_size=6),
    min_size=1,
    max_size=5,
)


def naive_departure(rounds: list[int], alpha_low: list[float]) -> float:
    """The first round such that alpha_low is above zero then and at every later one."""
    for j, t in enumerate(rounds):
        if all(value > 0 for value in alpha_low[j:]):
            return t
    return math.inf


@given(RUNS_OF_FOUR_VALUES)
def test_departure_is_the_naive_one(runs: list[list[float]]) -> None:
    rounds = [10, 11, 20, 35, 70, 100]
    expected = [naive_departure(rounds, run) for run in runs]
    assert departure(np.array(rounds), np.array(runs)).tolist() == expected


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


def test_printed_penalty_is_the_policys() -> None:
    horizon = 80_000
    problem = slow_problem(0.2, 0.8)
    number = theory.adaptive_penalty(2, horizon, ADAPTIVE_C, ADAPTIVE_MEAN_FLOOR)
    assert number == pytest.approx(math.log(16 * math.sqrt(math.log(4 * horizon**3)) / 0.42))
    printed = simulate(problem, Variant("c/2", "paper").policy(), horizon, 2, record=50)
    as_number = simulate(problem, Variant("c/2", number).policy(), horizon, 2, record=50)
    assert printed.trace is not None
    assert as_number.trace is not None
    assert printed.trace[:, -1].min() > 0
    assert np.allclose(printed.trace, as_number.trace, rtol=1e-9, atol=0)


def test_alpha_low_leaves_zero_where_predicted() -> None:
    """Tail 0.8, penalty 3: alpha_hat is 1/2 and only N > e^6 is waited for, so noise is small."""
    horizon = 3000
    result = simulate(
        slow_problem(0.2, 0.8),
        Variant("c/2", 3.0).policy(),
        horizon,
        20,
        seed=5,
        record=study_rounds(horizon),
    )
    assert result.trace is not None
    predicted = theory.adaptive_start(0.8, 0.8, 3.0, ADAPTIVE_C / 2)
    left = departure(result.rounds, result.trace)
    assert np.all(left >= predicted)
    assert np.all(left <= 2 * RECORD_STEP * predicted)


def test_the_default_ratio_is_called_printed() -> None:
    policy = AdaptPatientBandits(ADAPTIVE_C, ADAPTIVE_ALPHA_FLOOR, ADAPTIVE_MEAN_FLOOR)
    assert PRINTED.ratio_value() == policy.numbers(2).ratio


def test_the_slow_problem_obeys_assumption_2() -> None:
    fast, slow = slow_problem(0.2, 0.3).delays
    m = np.arange(1, 1000)
    assert [slow.survival_at(int(x)) for x in m] == pytest.approx(m**-0.3)
    assert [fast.survival_at(int(x)) for x in m] == pytest.approx(ADAPTIVE_C * m**-0.3)


@pytest.mark.parametrize("degrees", [1, 2, 3, 6, 9, 29, 100])
def test_intervals_are_students(degrees: int) -> None:
    assert student_quantile(degrees) == pytest.approx(stats.t.ppf(0.975, degrees))
    values = np.random.default_rng(degrees).exponential(size=degrees + 1)
    mean, low, high = student_interval(values)
    assert mean == pytest.approx(values.mean())
    expected = stats.t.interval(0.95, degrees, values.mean(), stats.sem(values))
    assert (low, high) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (7.4, "7"),
        (999, "999"),
        (10_000, "10⁴"),
        (72_508, "7.3·10⁴"),
        (2.9e12, "2.9·10¹²"),
        (math.inf, "–"),
    ],
)
def test_numbers_in_powers(number: float, shown: str) -> None:
    assert in_powers(number) == shown
