"""The posterior for people: equal to sums over a grid, calibrated on data from its own model, and sane at the extremes."""

from __future__ import annotations

import math

import naive
import numpy as np
import pytest

import patientbandits as pb
from patientbandits.policies import cure
from patientbandits.policies.base import named
from patientbandits.posteriors import fine_edges, posterior
from patientbandits.tempering import Prior, log_likelihood

PRIOR = Prior(math.log(5.0), 1.5, 1.0, 1.0)


def simulated(random, mu, tail, scale, pulls, span, unit=0.0):
    """(counts, conversions still to come) of pulls spread over ``span``; delays of the model, in whole units unless 0."""
    ages = span * random.random(pulls)
    delays = scale * (random.random(pulls) ** (-1 / tail) - 1)
    if unit:
        ages, delays = np.ceil(ages / unit) * unit, np.ceil(delays / unit) * unit
    converts = random.random(pulls) < mu
    seen = converts & (delays <= ages)
    return pb.CureCounts.of(ages[~seen], delays[seen]), int(converts.sum() - seen.sum())


def test_the_densities_are_the_policys():
    """Many draws at once against the plain functions that the policies use."""
    random = np.random.default_rng(1)
    counts, _ = simulated(random, 0.4, 0.6, 8.0, 300, 500.0)
    edges, waiting, converted = counts.columns
    theta = np.column_stack(
        [random.normal(0, 3, 50), random.normal(0, 2, 50), random.normal(0, 3, 50)]
    )
    prior = Prior(math.log(7.0), 0.8, 2.0, 5.0)
    numbers = named(**prior._asdict())
    for row, height, density in zip(
        theta, log_likelihood(theta, counts.filled()), prior.log_density(theta), strict=True
    ):
        assert height == pytest.approx(
            cure.log_likelihood(edges, waiting, converted, len(edges), *row), rel=1e-10
        )
        assert density == pytest.approx(cure.log_prior(numbers, *row), rel=1e-12)


@pytest.mark.parametrize(
    ("mu", "tail", "scale", "pulls"),
    [(0.5, 0.8, 4.0, 60), (0.1, 0.4, 20.0, 40), (0.9, 2.0, 3.0, 25)],
)
def test_against_sums_over_a_grid(mu, tail, scale, pulls):
    """Mean, interval, what is to come and the lag curve; bounds of four standard errors with 4000 draws."""
    counts, _ = simulated(np.random.default_rng(5), mu, tail, scale, pulls, 60.0)
    got = posterior([counts], draws=4000, times=[1.0, 10.0, 100.0])[0]
    rates, weights, to_come, lag = naive.cure_grid(
        *(column.tolist() for column in counts.columns), times=[1.0, 10.0, 100.0]
    )
    assert got.rate.mean == pytest.approx(np.sum(rates * weights), abs=0.01)
    middles, cells = np.unique(rates, return_inverse=True)
    ends, below = middles + middles[0], np.cumsum(np.bincount(cells, weights))
    for bound, share in ((got.rate.low, 0.025), (got.rate.high, 0.975)):
        assert np.interp(bound, np.append(0.0, ends), np.append(0.0, below)) == pytest.approx(
            share, abs=0.015
        )
    assert got.to_come.mean == pytest.approx(np.sum(to_come * weights), rel=0.05, abs=0.1)
    np.testing.assert_allclose(got.lag.mean, lag @ weights, atol=0.02)


def test_calibration():
    """Truth drawn from the prior: each 95 % interval covers in 95 % of the trials. 240 trials: 228 on average, standard deviation 3.4;
    fewer than 215 or more than 238 have a probability below 1e-3. An interval of half the width is the control."""
    random, trials, covered, halved = np.random.default_rng(11), 240, np.zeros(3), 0
    shortfall = []
    for trial in range(trials):
        logit, log_tail, log_scale = PRIOR.sample(1, random)[0]
        mu, tail, scale = 1 / (1 + math.exp(-logit)), math.exp(log_tail), math.exp(log_scale)
        counts, coming = simulated(
            random, mu, tail, scale, int(random.integers(20, 400)), 10 ** random.uniform(1, 3)
        )
        got = posterior([counts], draws=400, seed=trial, times=[10.0])[0]
        lag = 1 - (1 + 10.0 / scale) ** -tail
        covered += [
            got.rate.low <= mu <= got.rate.high,
            got.to_come.low <= coming <= got.to_come.high,
            got.lag.low[0] <= lag <= got.lag.high[0],
        ]
        halved += abs(mu - (got.rate.low + got.rate.high) / 2) <= (got.rate.high - got.rate.low) / 4
        shortfall.append((coming - got.to_come.mean) / got.pulls)
    assert np.all((covered >= 215) & (covered <= [238, 240, 238])), (
        covered
    )  # counts are whole: their interval may cover more
    assert halved < 200
    assert abs(np.mean(shortfall)) < 4 * np.std(shortfall) / math.sqrt(trials)


def test_probabilities_of_being_best():
    random = np.random.default_rng(3)
    arms = [simulated(random, mu, 0.8, 5.0, 2000, 2000.0)[0] for mu in (0.3, 0.3, 0.6)]
    got = posterior(arms)
    assert sum(arm.best for arm in got) == pytest.approx(1.0, abs=1e-12)
    assert got[2].best > 0.95
    assert [arm.rate for arm in posterior(arms)] == [arm.rate for arm in got]
    assert [arm.rate for arm in posterior(arms, seed=1)] != [arm.rate for arm in got]
    paid = [
        pb.CureCounts(*arms[j].columns, paid=share * arms[j].columns[2].sum())
        for j, share in ((0, 1.0), (2, 0.1))
    ]
    assert posterior(paid)[0].best > 0.95  # pays more, though it converts less often


@pytest.mark.parametrize("pulls", [0, 1, 10, 10**7])
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_extremes(pulls, share):
    """No pulls, none converted, all converted, very many: finite, ordered, and where the truth is plain, right."""
    converted = round(share * pulls)
    counts = pb.CureCounts.of(
        [1e4], [0.5], age_counts=[pulls - converted], delay_counts=[converted]
    )
    for arm in posterior([counts, counts], draws=500):
        for estimate in (arm.rate, arm.value, arm.rate_within, *([arm.matured] if pulls else [])):
            assert 0 <= estimate.low <= estimate.mean <= estimate.high <= 1
        assert 0 <= arm.to_come.low <= arm.to_come.high <= pulls
        assert 0 <= arm.to_come.mean <= pulls
        assert arm.pulls == pulls
        assert np.all(
            (arm.lag.low >= 0) & (arm.lag.low <= arm.lag.mean + 1e-12) & (arm.lag.high <= 1)
        )
        assert arm.warning
        if pulls == 10**7:
            assert arm.rate_within.mean == pytest.approx(share, abs=1e-3)
        if pulls == 0:
            assert arm.rate.low == pytest.approx(0.025, abs=0.02)
            assert math.isnan(arm.matured.mean)


def test_beyond_the_largest_age_is_extrapolation():
    """Data that end at the age of 10 cannot tell; the share within that age they do tell."""
    counts = simulated(np.random.default_rng(2), 0.9, 0.3, 10.0, 20_000, 10.0)[0]
    got = posterior([counts])[0]
    within = 0.9 * (1 - (1 + got.largest_age / 10.0) ** -0.3)
    assert got.rate_within.low - 0.02 <= within <= got.rate_within.high + 0.02
    assert got.rate.high - got.rate.low > 3 * (got.rate_within.high - got.rate_within.low)
    assert got.extrapolated > 0.3


def test_binning():
    counts = pb.CureCounts.of(
        [0.0, 0.3, 1.0, 1.5, 2.0**40], [0.1, 5.0], paid=1.5, delay_counts=[1, 7]
    )
    edges, waiting, converted = counts.columns
    assert edges.tolist() == fine_edges().tolist()
    assert waiting[[0, 1, -1]].tolist() == [3, 1, 1]
    assert converted[[0, 4]].tolist() == [1, 7]
    assert pb.CureCounts.of([], [30.0], unit=60.0).columns[2][0] == 1


@pytest.mark.parametrize("policy", [pb.PatientThompson(), pb.UCB1(), pb.PatientKL(0.5, 10.0)])
def test_of_a_bandit(policy):
    """Whatever the policy; with a clock in seconds."""
    bandit, random, pulls = pb.Bandit(policy, ["a", "b"], seed=2), np.random.default_rng(4), []
    for second in range(300):
        for pull in [p for p in pulls if p[2] <= second]:
            bandit.reward(pull[0], 0.5, time=1000.0 + second)
        pulls = [p for p in pulls if p[2] > second]
        made = bandit.pull(1000.0 + second)
        if random.random() < {"a": 0.3, "b": 0.7}[made.arm]:
            pulls.append((made.id, made.arm, second + random.exponential(20)))
    got = bandit.posterior(draws=500)
    assert list(got) == ["a", "b"]
    for arm, truth in (("a", 0.3), ("b", 0.7)):
        assert got[arm].pulls == bandit.pulls[arm]
        assert got[arm].conversions == 2 * bandit.rewards[arm]
        assert got[arm].rate.low <= truth <= got[arm].rate.high
        assert got[arm].value.mean == pytest.approx(got[arm].rate.mean / 2)
    assert bandit.posterior(1e6, draws=500)["a"].largest_age > 9e5


REFUSED = [
    ("CureCounts", lambda: pb.CureCounts([1.0, 1.0], [0, 0], [0, 0])),
    ("CureCounts", lambda: pb.CureCounts([1.0], [0, 0], [0])),
    ("CureCounts", lambda: pb.CureCounts([1.0], [-1], [0])),
    ("CureCounts", lambda: pb.CureCounts([1.0], [1], [math.nan])),
    ("CureCounts", lambda: pb.CureCounts([1.0], [1], [1], paid=math.inf)),
    ("CureCounts", lambda: pb.CureCounts.of(["soon"], [])),
    ("CureCounts", lambda: pb.CureCounts.of([1.0], [], age_counts=[1, 2])),
    ("CureCounts", lambda: pb.CureCounts.of([1.0], [], unit=0)),
    ("posterior", lambda: posterior([])),
    ("posterior", lambda: posterior([3])),
    ("posterior", lambda: posterior([pb.CureCounts.of([], [])], level=1)),
    ("posterior", lambda: posterior([pb.CureCounts.of([], [])], draws=10)),
    ("posterior", lambda: posterior([pb.CureCounts.of([], [])], scale=-1)),
    ("posterior", lambda: posterior([pb.CureCounts.of([], [])], times=[-1])),
]


@pytest.mark.parametrize(("owner", "call"), REFUSED)
def test_refused(owner, call):
    with pytest.raises(pb.InputError, match=rf"^{owner}: [^\n]+; got [^\n]+\.$"):
        call()
