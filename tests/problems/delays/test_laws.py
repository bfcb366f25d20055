"""Delay laws against SciPy, against their definition,
and inside the engine far beyond its table.
"""

from __future__ import annotations

import math

import naive
import numpy as np
import pytest
from laws import EVERY, HALVES, SCIPY
from scipy import stats

import patientbandits as pb
from patientbandits.problems.delays import LAWS


@pytest.mark.parametrize(
    ("law", "expected", "shift"),
    SCIPY,
    ids=lambda value: str(value) if isinstance(value, pb.Delay) else "",
)
def test_survival_is_that_of_the_rounded_law(law, expected, shift):
    """P(ceil X > m) = P(X > m) and P(floor X > m) = P(X > m + 1)."""
    m = np.concatenate([np.arange(300), [10**4, 10**6, 10**9]])
    np.testing.assert_allclose(law.survival(m), expected.sf(m + shift), rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(law.cdf(m), 1 - law.survival(m))


@pytest.mark.parametrize("law", EVERY, ids=str)
def test_survival_and_inverse_by_definition(law):
    survival, rng = naive.survival(law.describe()), np.random.default_rng(1)
    for m in [*range(100), 10**5]:
        assert law.survival(m) == pytest.approx(survival(m), rel=1e-12, abs=1e-300), m
        assert law.survival(m + 0.99) == law.survival(m)
    jumps = [law.survival(m) for m in range(40)]  # the inverse must be exact at the jumps too
    for u in [0.0, 1 - 2**-53, *rng.random(200), *jumps, *np.nextafter(jumps, 1.0)]:
        if 0 <= u < 1 and (delay := law.inverse(u)) < 5000:
            assert delay == next(m for m in range(5001) if law.survival(m) <= u), u
        elif u < 1:
            assert law.survival(5000) > u, u


def test_every_law_is_tested():
    assert {type(law).__name__ for law in EVERY} >= set(LAWS), (
        "SCIPY or EVERY in tests/laws.py needs each law"
    )


EDGES = np.array([0, 1, 2, 3, 5, 9, 20, 60, 200, 1000, math.inf])


def p_value(law, claimed):
    """Chi-square of 20 000 samples of ``law`` against ``claimed``."""
    sample = law.sample(20_000, seed=3, horizon=2000)
    counts = np.array(
        [
            np.sum((sample > low) & (sample <= high))
            for low, high in zip([-1, *EDGES[:-1]], EDGES, strict=True)
        ]
    )
    tail = np.append(claimed.survival(EDGES[:-1]), 0.0)
    expected = 20_000 * -np.diff(np.append(1.0, tail))
    used = expected > 5
    assert np.all(counts[expected == 0] == 0)
    counts, expected = (
        np.append(counts[used], counts[~used].sum()),
        np.append(expected[used], expected[~used].sum()),
    )
    return (
        1.0
        if used.sum() <= 1
        else stats.chisquare(
            counts[expected > 0], expected[expected > 0] * counts.sum() / expected.sum()
        ).pvalue
    )


def test_samples_follow_the_law():
    """19 laws, each at level 1e-3: an error rate below 2 %, once, since the seed is fixed."""
    for law in EVERY:
        assert p_value(law, law) > 1e-3, law


def test_samples_do_not_follow_another_law():
    """Negative control: the tail index is 10 % off, the mixture's weight 20 %."""
    assert p_value(pb.Pareto(0.7), pb.Pareto(0.77)) < 1e-6
    assert p_value(HALVES, pb.Mixture(HALVES.laws, [0.6, 0.4])) < 1e-6


LATE = pb.Mixture([pb.NoDelay(), pb.Fixed(40_000)], [0.9, 0.1])

LIMITS = {
    pb.Lomax(0.7, 0.1): 0.7,
    pb.Pareto(0.3, 2.5): 0.3,
    pb.problems.ThinnedPareto(): 0.3,
    HALVES: 0.0,
    pb.Lomax(2, 0.3, "floor"): 2,
    pb.LogLogistic(0.4, 3): 3,
}

"""-log S(m) / log m as m grows, where that is not more than its minimum over m up to 10^5"""


@pytest.mark.parametrize("law", dict.fromkeys([*EVERY, *LIMITS, pb.Weibull(0.2, 3), LATE]), ids=str)
def test_max_alpha(law):
    """inf over m >= 2 of -log S(m) / log m: by brute force up to 10^5, and its limit."""
    m = np.arange(2, 100_001)
    with np.errstate(divide="ignore"):
        brute = max(0.0, np.min(-np.log(law.survival(m)) / np.log(m)))
    alpha = law.max_alpha()
    assert alpha == pytest.approx(
        min(brute, LIMITS.get(law, math.inf)), rel=1e-4, abs=1e-3 if law is HALVES else 1e-12
    )
    assert alpha == math.inf or (law.satisfies(alpha) and not law.satisfies(alpha * 1.001 + 1e-6))


def test_empirical_and_mixture():
    assert pb.Empirical([5, 1, 1], [2, 1, 1]) != pb.Empirical([5, 1], [2, 2])
    np.testing.assert_allclose(
        pb.Empirical([5, 1, 1], [2, 1, 1]).survival([0, 1, 4, 5]), [1, 0.5, 0.5, 0]
    )
    np.testing.assert_allclose(
        pb.Mixture([pb.Fixed(2), pb.Fixed(9)], [0.25, 0.75]).survival([1, 2, 8, 9]),
        [1, 0.75, 0.75, 0],
    )
    assert pb.Empirical([0] * 10**5 + [7]).inverse(0.0) == 7


def test_huge_delays_never_overflow():
    assert pb.Pareto(1e-3).inverse(1e-9) == math.inf
    assert pb.Never().inverse(0.999) == math.inf
    assert pb.Never().survival([0, 2**53, 1e300, math.inf]).tolist() == [1, 1, 1, 1]
    assert pb.Pareto(0.1).survival(1e16) > 0.02  # never, not arrived
    assert np.all(pb.Pareto(1e-9).sample(50) == math.inf)
    for light in (
        pb.Weibull(50),
        pb.Weibull(1, 1e-300),
        pb.Lomax(1e6, 1e-300),
        pb.Pareto(1e6, 1e-300),
        pb.LogNormal(1e-300, 1e-300),
        pb.LogLogistic(1e-300, 2),
    ):
        assert light.survival([1000, 2**53, math.inf]).tolist() == [0, 0, 0]
        assert light.max_alpha() == math.inf
    for law in (pb.Pareto(1e-9), pb.Fixed(2**62), pb.LogNormal(1e300, 1)):
        pulls = pb.simulate(pb.Problem([1.0, 1.0], law), pb.MOSS(), 200, 3).pulls
        np.testing.assert_array_equal(
            pulls, pb.simulate(pb.Problem([1.0, 1.0], pb.Never()), pb.MOSS(), 200, 3).pulls
        )
