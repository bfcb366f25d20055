"""The model of late conversions: equal to its definition, and to the same bits compiled."""

from __future__ import annotations

import math

import numpy as np
import pytest
from naive import model as naive_model

from patientbandits.inference.posterior import CureCounts, portable
from patientbandits.inference.posterior.gammas import digamma, trigamma
from patientbandits.inference.posterior.grid import bin_edges, bin_points
from patientbandits.inference.posterior.laws import laws
from patientbandits.inference.posterior.observed import observe
from patientbandits.inference.posterior.pooling import pool_of, refresh_arm, spread_news
from patientbandits.inference.posterior.work import CHOICE, MISFIT, RATE, TAIL, WITHIN, room
from patientbandits.simulation.engine.compile import compiled

CASES = {
    "alone": [(0.3, lambda r, n: r.exponential(20, n))],
    "two alike": [(0.3, lambda r, n: r.exponential(20, n)), (0.2, lambda r, n: r.pareto(0.7, n))],
    "a misfit": [
        (0.5, lambda r, n: np.where(r.random(n) < 0.5, 2.0, 50.0)),
        (0.4, lambda r, n: np.full(n, 9.0)),
    ],
    "nothing yet": [(0.0, lambda r, n: np.ones(n)), (0.5, lambda r, n: np.ones(n))],
}


def world(case, seed=1, pulls=300, span=100):
    """Ages and delays of each arm, in whole units; every arm has a pull of age ``span``."""
    random = np.random.default_rng(seed)
    arms = []
    for mu, law in CASES[case]:
        ages = np.append(span, random.integers(1, span + 1, pulls - 1)).astype(float)
        delays = np.ceil(law(random, pulls) + 1e-9)
        came = (random.random(pulls) < mu) & (delays <= ages)
        arms.append((ages[~came].tolist(), delays[came].tolist()))
    return arms


def refreshed(arms, window=None, refresh=refresh_arm):
    """Each arm's results, every arm having told the others."""
    pool = pool_of(laws(), len(arms))
    work = room(laws())
    known = [observe(CureCounts.of(*arm, window=window), 1.0, window) for arm in arms]
    found = []
    for last in (False, True):
        for number, arm in enumerate(known):
            refresh(arm.laws(), arm.seen, pool, number, work)
            if last:
                bins = len(arm.seen.points)
                found.append((work.hazards[:bins].copy(), work.found.copy(), work.cells.copy()))
        spread_news(pool)
    return found


def until(window, ages, delays):
    """Who converts after the window waits at its end."""
    if window is None:
        return ages, delays
    late = [d for d in delays if d > window]
    return [min(a, window) for a in [*ages, *late]], [d for d in delays if d <= window]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("window", [None, 1000.0, 64.0, 60.0, 20.0])
def test_equals_the_definition(case, window):
    """Also where the window is no point of the grid, 2^(j/4), and where it has passed."""
    arms = world(case)
    twins = [naive_model.Arm(*until(window, *arm), window) for arm in arms]
    for number, (hazards, found, _) in enumerate(refreshed(arms, window)):
        expected, tail, misfit, rate, choice = naive_model.fit(twins, number, window)
        np.testing.assert_allclose(hazards, expected, rtol=1e-6, atol=1e-12)
        assert found[TAIL] == pytest.approx(tail, rel=1e-6, abs=1e-9)
        assert found[MISFIT] == pytest.approx(misfit, rel=1e-6, abs=1e-9)
        assert found[RATE] == pytest.approx(rate, rel=1e-6)
        assert found[CHOICE] == pytest.approx(choice, rel=1e-6)
    assert (refreshed(arms)[0][1][MISFIT] > 0.1) == (case == "a misfit")


def test_few_pulls_are_not_underestimated():
    """30 old pulls, of which half convert: their rate is 1/2 in the mean over 150 data sets.

    Standard error 0.007. Weights that fall with a bin's own count made it 0.45.
    """
    random = np.random.default_rng(3)
    rates = []
    for _ in range(150):
        came = random.random(30) < 0.5
        ages = random.integers(1200, 2000, 30).astype(float)
        delays = np.ceil(random.exponential(100, 30))
        rates.append(refreshed([(ages[~came].tolist(), delays[came].tolist())])[0][1][WITHIN])
    assert np.mean(rates) == pytest.approx(0.5, abs=0.03)


def test_compiled_to_the_same_bits():
    kernel = compiled(refresh_arm)
    for case in CASES:
        for plain, fast in zip(
            refreshed(world(case)), refreshed(world(case), refresh=kernel), strict=True
        ):
            for a, b in zip(plain, fast, strict=True):
                assert a.tobytes() == b.tobytes()


def test_arithmetic():
    random = np.random.default_rng(0)
    x = np.concatenate([[-1000.0, -64.0, -1e-9, 0.0], -60 * random.random(500)])
    out = np.empty_like(x)
    portable.exponentials(x, 0.0, out)
    np.testing.assert_allclose(out, np.exp(np.maximum(x, -64)), rtol=2e-9)
    y = np.exp(random.uniform(-300, 300, 500))
    logs = np.empty_like(y)
    portable.logarithms(y, logs)
    np.testing.assert_allclose(logs, np.log(y), rtol=1e-9, atol=1e-10)
    assert [portable.logarithm(v) for v in y.tolist()] == logs.tolist()
    for size in (1, 2, 7, 100, 101):
        values = random.random(size)
        assert portable.fold(values.copy()) == pytest.approx(values.sum(), rel=1e-14)
        assert portable.largest(values) == values.max()
    assert digamma(1.0) == pytest.approx(-0.5772156649015329, abs=1e-9)
    assert trigamma(1.0) == pytest.approx(math.pi**2 / 6, abs=1e-9)
    assert digamma(0.5) == pytest.approx(-1.9635100260214235, abs=1e-9)


LOOPS = [value for value in vars(portable).values() if hasattr(value, "loops")]


def arguments(function, random):
    """For each of the functions in two forms."""
    table = random.random((50, 20))
    rows = random.random(50)
    columns = random.random(20)
    return {
        "add_scaled": (rows, random.random(50), 0.3),
        "exponentials": (-50 * rows, 0.0, np.empty(50)),
        "logarithms": (rows, np.empty(50)),
        "fold": (rows,),
        "fold_copy": (rows, np.empty(60)),
        "largest": (rows,),
        "row_sums": (table, columns, np.empty(50)),
        "add_ratios": (rows, random.random(50) + 1, 0.7, 0.2),
        "column_sums": (table, columns),
        "scale_table": (table, rows, columns),
        "outer_sum": (table, rows, columns),
        "add_outer": (table, rows, columns, 0.4),
        "weighted_squares": (rows, random.random(50), random.random(50), np.empty(60)),
        "products": (rows, random.random(500), np.array([3, 200, 77]), np.empty(60), np.zeros(3)),
    }[function.__name__]


@pytest.mark.parametrize("function", LOOPS, ids=lambda function: function.__name__)
def test_both_forms_give_the_same_bits(function):
    """Whole arrays, loops interpreted, loops compiled; what is only room may differ."""
    results = []
    for form in (function, function.loops, compiled(function)):
        given = arguments(function, np.random.default_rng(3))
        answer = form(*given)
        kept = [x.tobytes() for x in given if isinstance(x, np.ndarray) and len(x) != 60]
        results.append((answer, kept))
    assert results[0] == results[1] == results[2]


def test_the_grid():
    """Bins as in the docstring; each holds a whole number of its own."""
    edges = bin_edges()
    assert edges[:5].round(2).tolist() == [1, 2, 3.36, 4, 5.66]
    whole = np.floor(edges)
    assert np.all(np.diff(whole) >= 1)
    assert np.all(np.diff(bin_points())[4:] == 1)
    assert edges[-1] == 2.0**30
