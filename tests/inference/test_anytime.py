"""The interval that holds whenever one looks: its ends, and its promise under peeking."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from patientbandits.errors import InputError
from patientbandits.inference.anytime import anytime_interval, anytime_window_interval, log_evidence

DELTA = 0.05
RUNS = 400
PULLS = 1500


def naive_evidence(pulls: int, conversions: int, rate: float) -> float:
    """The mixture from its definition: the mean over q of the product of likelihood ratios."""
    missed = pulls - conversions

    def product(q: float) -> float:
        return (q / rate) ** conversions * ((1 - q) / (1 - rate)) ** missed

    return integrate.quad(product, 0, 1, points=[conversions / pulls], limit=200)[0]


@pytest.mark.parametrize(
    ("pulls", "conversions", "rate"), [(1, 0, 0.3), (7, 7, 0.6), (40, 3, 0.2), (60, 50, 0.7)]
)
def test_the_evidence_is_the_mixture(pulls: int, conversions: int, rate: float) -> None:
    expected = naive_evidence(pulls, conversions, rate)
    assert math.exp(log_evidence(pulls, conversions, rate)) == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize(("pulls", "conversions"), [(1, 0), (1, 1), (20, 3), (10_000, 310), (9, 9)])
def test_the_ends_are_where_the_evidence_reaches_the_limit(pulls: int, conversions: int) -> None:
    low, high = anytime_interval(pulls, conversions, DELTA)
    assert 0 <= low <= conversions / pulls <= high <= 1
    for end in (low, high):
        if 0 < end < 1:
            assert log_evidence(pulls, conversions, end) == pytest.approx(
                math.log(1 / DELTA), abs=1e-6
            )


def test_nothing_known_excludes_nothing() -> None:
    assert anytime_interval(0, 0, DELTA) == (0.0, 1.0)


def test_young_pulls_can_only_raise_the_lower_end() -> None:
    alone = anytime_interval(500, 20, DELTA)
    with_young = anytime_window_interval(500, 20, 2000, 120, DELTA)
    assert with_young[0] > alone[0]
    assert with_young[1] == alone[1]
    assert anytime_window_interval(500, 20, 2000, 20, DELTA) == alone


@pytest.mark.parametrize(
    "wrong", [(3, 4, 0.1), (3, -1, 0.1), (3.5, 1, 0.1), (3, 1, 0.0), (3, 1, math.nan)]
)
def test_refuses(wrong: tuple[float, float, float]) -> None:
    with pytest.raises(InputError, match="anytime_interval"):
        anytime_interval(*wrong)  # type: ignore[arg-type]


LOG_FACTORIAL = np.array([math.lgamma(1 + k) for k in range(PULLS + 2)])


def evidence(counts: np.ndarray, sums: np.ndarray, rate: float) -> np.ndarray:
    """`log_evidence` of whole arrays."""
    missed = counts - sums
    against = -sums * math.log(rate) - missed * math.log(1 - rate)
    return against + LOG_FACTORIAL[sums] + LOG_FACTORIAL[missed] - LOG_FACTORIAL[counts + 1]


def fixed_sample_excludes(
    counts: np.ndarray, sums: np.ndarray, rate: float, delta: float
) -> np.ndarray:
    """Clopper and Pearson's test of the rate, as if this look were the only one."""
    below = stats.binom.cdf(sums, counts, rate) < delta / 2
    above = stats.binom.sf(sums - 1, counts, rate) < delta / 2
    return below | above


def test_evidence_of_arrays() -> None:
    counts, sums = np.array([1, 5, 700]), np.array([0, 5, 30])
    expected = [log_evidence(int(k), int(s), 0.1) for k, s in zip(counts, sums, strict=True)]
    assert evidence(counts, sums, 0.1) == pytest.approx(expected)


@pytest.mark.parametrize("rate", [0.05, 0.4])
def test_peeking_after_every_pull(rate: float) -> None:
    """An adversary who stops at the first exclusion. He may succeed in 5 % of 400 runs: more than
    35 has
    probability below 0.1 %. Against the interval for a fixed sample he must succeed more often."""
    random = np.random.default_rng(5)
    sums = np.cumsum(random.random((RUNS, PULLS)) < rate, axis=1)
    counts = np.broadcast_to(np.arange(1, PULLS + 1), sums.shape)
    ours = evidence(counts, sums, rate) >= math.log(1 / DELTA)
    theirs = fixed_sample_excludes(counts, sums, rate, DELTA)
    assert ours.any(axis=1).sum() <= 35
    assert theirs.any(axis=1).sum() > 35 * 3


def test_adaptive_allocation_with_delays() -> None:
    """A greedy policy sees conversions late, later on one arm; one looks at both arms after every
    pull.

    With delta / 2 for each arm a run may be lost in 5 % of 400 (at most 35, as above); the
    interval for a fixed sample must lose more.
    """
    ours, theirs = play_greedy(
        np.random.default_rng(8), means=(0.3, 0.4), scales=(5, 60), window=80
    )
    assert ours.sum() <= 35
    assert theirs.sum() > 35


def play_greedy(
    random: np.random.Generator,
    means: tuple[float, float],
    scales: tuple[float, float],
    window: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Whether the anytime intervals, and the fixed ones, ever miss a rate within the window; run
    by run.

    Exponential delays. A pull's outcome within the window is known when it is as old as the window.
    """
    runs = np.arange(RUNS)
    truth = [
        mean * (1 - math.exp(-window / scale)) for mean, scale in zip(means, scales, strict=True)
    ]
    arriving = np.zeros((RUNS, 2, PULLS + window + 2), int)
    maturing = np.zeros_like(arriving)
    maturing_sold = np.zeros_like(arriving)
    pulls, visible, matured, sold = (np.zeros((RUNS, 2), int) for _ in range(4))
    ours, theirs = np.zeros(RUNS, bool), np.zeros(RUNS, bool)
    for now in range(PULLS):
        visible += arriving[:, :, now]
        matured += maturing[:, :, now]
        sold += maturing_sold[:, :, now]
        greedy = ((visible + 1) / (pulls + 2)).argmax(axis=1)
        arm = np.where(random.random(RUNS) < 0.1, random.integers(0, 2, RUNS), greedy)
        wait = random.exponential(np.array(scales)[arm])
        converts = (random.random(RUNS) < np.array(means)[arm]) & (wait <= window)
        arriving[runs, arm, now + 1 + np.minimum(wait, window).astype(int)] += converts
        maturing[runs, arm, now + 1 + window] += 1
        maturing_sold[runs, arm, now + 1 + window] += converts
        pulls[runs, arm] += 1
        for place, rate in enumerate(truth):
            k, s = matured[:, place], sold[:, place]
            n, v = pulls[:, place], visible[:, place]
            limit = math.log(2 / DELTA)
            ours |= evidence(k, s, rate) >= limit
            ours |= (evidence(n, v, rate) >= limit) & (v > n * rate)
            theirs |= fixed_sample_excludes(k, s, rate, DELTA / 2)
    return ours, theirs
