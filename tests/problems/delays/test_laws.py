"""Delay laws against SciPy, against their definition,
and inside the engine far beyond its table.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import naive
import numpy as np
import pytest
from scipy import stats

import patientbandits as pb
from patientbandits.problems.delays import LAWS
from patientbandits.simulation.engine import delay_tables, worlds
from patientbandits.simulation.engine.compile import compiled

HALVES = pb.Mixture(
    [pb.Pareto(0.3), pb.Mixture([pb.LogNormal(50, 2), pb.Never()], [0.9, 0.1])], [0.5, 0.5]
)

SCIPY = [
    (pb.Pareto(0.7), stats.pareto(0.7), 0),
    (pb.Pareto(1.3, 4.5), stats.pareto(1.3, scale=4.5), 0),
    (pb.Pareto(0.7, rounding="floor"), stats.pareto(0.7), 1),
    (pb.Lomax(0.4, 10), stats.lomax(0.4, scale=10), 0),
    (pb.Lomax(2, 0.3, "floor"), stats.lomax(2, scale=0.3), 1),
    (pb.Weibull(0.6, 20), stats.weibull_min(0.6, scale=20), 0),
    (pb.LogNormal(8, 1.2), stats.lognorm(1.2, scale=8), 0),
    (pb.LogLogistic(12, 0.8), stats.burr12(0.8, 1, scale=12), 0),
    (pb.LogLogistic(0.4, 3), stats.burr12(3, 1, scale=0.4), 0),
    (pb.Geometric(0.13), stats.geom(0.13), 0),
    (pb.UniformDelay(3, 40), stats.randint(3, 41), 0),
    (pb.Fixed(6), stats.randint(6, 7), 0),
    (pb.NoDelay(), stats.randint(0, 1), 0),
]

EVERY = [law for law, _, _ in SCIPY] + [
    pb.Empirical([0, 3, 3, 17]),
    pb.Empirical([9, 2], [1, 5]),
    pb.Never(),
    HALVES,
    pb.Within(pb.LogNormal(8, 1.2), 25),
    pb.problems.ThinnedPareto(),
]


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
    assert {type(law).__name__ for law in EVERY} >= set(LAWS)


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


FAR = [
    pb.Pareto(0.1),
    pb.Pareto(0.4),
    pb.Lomax(0.25, 1e4),
    pb.Weibull(0.1, 30),
    pb.LogNormal(1e5, 3),
    pb.LogLogistic(1e5, 0.6),
    pb.Geometric(1e-6),
    HALVES,
]


@dataclass(frozen=True)
class Steps(pb.Delay):
    """A law of the user's, without a formula: S(m) = 2^-floor(log2(m + 1) / 2)."""

    def survival_at(self, m):
        return 2.0 ** -((m + 1).bit_length() // 2)


def engine_delays(laws, horizon, us, left):
    world = worlds.world_of(pb.Problem([0.5] * len(laws), laws), horizon)
    delay_of = compiled(delay_tables.delay_of)
    return [
        [delay_of(world.delays, world.law[arm], u, left) for u in us] for arm in range(len(laws))
    ]


def test_engine_far_beyond_its_table():
    """min{m : S(m) <= u} for horizon 10^7, exact around every knot as well."""
    horizon, rng = 10**7, np.random.default_rng(4)
    assert horizon > 100 * delay_tables.HEAD
    us = rng.random(400) ** np.repeat([1, 4], 200)
    near = [
        delay_tables.HEAD - 1,
        delay_tables.HEAD,
        delay_tables.HEAD + 1,
        delay_tables.HEAD + delay_tables.HEAD // 64,
        10**6,
        horizon - 1,
        horizon,
        horizon + 1,
    ]
    beyond = 0
    for law in FAR:
        exact = [law.survival(m) for m in near]
        for u, delay in zip(
            [*us, *exact, 0.0],
            engine_delays([law], horizon, [*us, *exact, 0.0], horizon)[0],
            strict=True,
        ):
            expected = law.inverse(u) if u < 1 else 0.0
            assert delay == expected or (delay > horizon and expected > horizon), (law, u)
            beyond += delay_tables.HEAD < delay <= horizon
    assert beyond > 400


def turns_of(law, horizon):
    """At and beside the places where the delay changes, for delays of all lengths."""
    lengths = np.unique(np.geomspace(1, 0.9 * horizon, 400).astype(int))
    turns = np.array([law.survival_at(int(m)) for m in lengths])
    if isinstance(law, pb.Mixture):  # whose terms may be added in another order: not at the place
        us = np.concatenate([turns * (1 - 1e-13), turns * (1 + 1e-13)])
    else:
        us = np.concatenate([turns, np.nextafter(turns, 0), np.nextafter(turns, 1)])
    return us[(us > 0) & (us < 1)]


def wrong_delays(law, horizon, us, delays):
    found = np.minimum(delays, horizon + 1)
    expected = [min(law.inverse(u), horizon + 1) for u in us]
    return np.count_nonzero(found != expected)


@pytest.mark.parametrize("law", dict.fromkeys([*EVERY, *FAR]), ids=str)
def test_delays_change_where_the_law_says(law):
    for horizon in (3000, 10**6):
        us = turns_of(law, horizon)
        delays = engine_delays([law], horizon, us, horizon)[0]
        assert wrong_delays(law, horizon, us, delays) == 0


@pytest.mark.parametrize("law", [pb.UniformDelay(2, 8347), pb.UniformDelay(3, 12_000)], ids=str)
def test_delays_that_are_never_drawn_bend_no_line(law):
    """In the cell below 1 nobody has a delay at which S is still 1."""
    us = 1.0 - np.geomspace(2.0**-53, 2.0**-12, 200)
    delays = engine_delays([law], 3000, us, 3000)[0]
    assert wrong_delays(law, 3000, us, delays) == 0


def test_lines_without_doubt_are_wrong(monkeypatch):
    """Negative control: lines that are trusted everywhere miss."""
    law = pb.Pareto(0.3)
    horizon = 3000
    tables = delay_tables.tables_of((law,), horizon)
    us = turns_of(law, horizon)
    us = us[us < 0.5]
    trusting = [delay_tables.delay_of(tables, 0, u, horizon) for u in us]
    assert wrong_delays(law, horizon, us, trusting) == 0
    monkeypatch.setattr(delay_tables, "is_sure", lambda line, place: True)
    trusting = [delay_tables.delay_of(tables, 0, u, horizon) for u in us]
    assert wrong_delays(law, horizon, us, trusting) > 10


def test_most_delays_need_no_search():
    """The chance of a cell without a line, or of a place too near a whole number."""
    for tail, most in ((0.3, 0.02), (1.0, 0.003)):
        tables = delay_tables.tables_of((pb.Pareto(tail),), 10**6)
        unsure = 0
        for u in np.random.default_rng(6).random(20_000):
            line = int(tables.lines[0, delay_tables.cell_of(u)])
            unsure += not delay_tables.is_sure(line, delay_tables.line_at(line, u))
        assert 0 < unsure / 20_000 < most


@pytest.mark.parametrize("horizon", [1, 2, 50, 3000])
def test_engine_within_its_table(horizon):
    us = [0.0, *np.random.default_rng(5).random(300), 1 - 2**-53]
    laws = [*EVERY, Steps()]
    for left in {horizon, horizon // 2}:
        for law, delays in zip(laws, engine_delays(laws, horizon, us, left), strict=True):
            for u, delay in zip(us, delays, strict=True):
                assert min(delay, left + 1) == min(law.inverse(u), left + 1), (law, u)


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
