"""The odds of arms among those who converted: against slow twins, and in worlds that change."""

import numpy as np
import pytest
from scipy.optimize import minimize

from patientbandits.inference import Strata, fit_odds
from patientbandits.inference.conversion_odds import RIDGE, _pseudo, independent_errors


def world(random, rates, strata=40, visitors=80.0, season=0.5):
    """Counts in strata with any common factor, and shares that follow it."""
    factors = np.exp(random.uniform(-season, season, strata))
    shares = random.dirichlet(np.ones(len(rates)), strata)
    shown = random.poisson(visitors * shares)
    return Strata.of(shown, random.binomial(shown, np.outer(factors, rates)))


def slow_fit(strata, extra=()):
    """beta by a general optimiser, conversion by conversion."""
    useful = strata.informative()
    counts = useful.conversions + _pseudo(useful)
    arms = counts.shape[1]

    def against(beta):
        total = 0.5 * RIDGE * ((beta - beta.mean()) ** 2).sum()
        for shown, converted in zip(useful.exposure, counts, strict=True):
            weights = shown * np.exp(beta)
            for arm in range(arms):
                if converted[arm] > 0:
                    total -= converted[arm] * np.log(weights[arm] / weights.sum())
        return total

    beta = minimize(
        against,
        np.zeros(arms),
        method="Nelder-Mead",
        options={"xatol": 1e-7, "fatol": 1e-10, "maxiter": 20_000},
    ).x
    return beta - beta.mean()


@pytest.mark.parametrize("rates", [(0.04, 0.06), (0.1, 0.12, 0.05)])
def test_fit_is_the_maximum_of_the_likelihood(rates):
    strata = world(np.random.default_rng(1), rates, strata=15)
    assert fit_odds(strata).logs == pytest.approx(slow_fit(strata), abs=2e-5)


def test_variance_is_the_sandwich_written_out():
    strata = world(np.random.default_rng(2), (0.3, 0.4, 0.2), strata=6)
    fit = fit_odds(strata)
    useful = strata.informative()
    counts = useful.conversions + _pseudo(useful)
    bread = np.zeros((3, 3))
    filling = np.zeros((3, 3))
    for shown, converted in zip(useful.visitors, counts, strict=True):
        weights = shown * np.exp(fit.logs)
        q = weights / weights.sum()
        events = converted.sum()
        bread += events * (np.diag(q) - np.outer(q, q))
        score = np.eye(3) - np.outer(q, np.ones(3))
        noise = np.diag(
            [
                events * q[arm] * (1 - min(events * q[arm] / max(shown[arm], 1e-12), 1.0))
                for arm in range(3)
            ]
        )
        filling += score @ noise @ score.T
    ridge = RIDGE * (np.eye(3) - 1 / 3)
    inverse = np.linalg.pinv(bread + ridge, rcond=1e-9)
    whole = inverse @ (filling + ridge) @ inverse
    for arm, other in [(0, 1), (1, 2), (0, 2)]:
        slow = whole[arm, arm] + whole[other, other] - 2 * whole[arm, other]
        assert fit.contrast(arm, other)[1] == pytest.approx(np.sqrt(slow), rel=1e-6)


@pytest.mark.parametrize("rates", [(0.04, 0.04), (0.03, 0.05), (0.35, 0.45), (0.05, 0.05, 0.03)])
def test_intervals_cover_whatever_the_season(rates):
    random = np.random.default_rng(4)
    runs, covered = 300, 0
    truth = np.log(rates[1] / rates[0])
    for _ in range(runs):
        difference, error = fit_odds(world(random, rates)).contrast(1, 0)
        covered += abs(difference - truth) <= 1.96 * error
    assert 0.91 <= covered / runs <= 0.99


def test_pooling_would_be_wrong_where_odds_are_right():
    # good days go to the second arm: its pooled rate is twice the first's, and the arms are equal
    shown = np.array([[900, 100], [100, 900]])
    strata = Strata.of(np.tile(shown, (50, 1)), np.tile([[18, 2], [4, 36]], (50, 1)))
    difference, error = fit_odds(strata).contrast(1, 0)
    assert abs(difference) < error
    pooled = strata.conversions.sum(axis=0) / strata.visitors.sum(axis=0)
    assert pooled[1] > 1.5 * pooled[0]


def test_arms_that_were_never_shown_together_are_not_compared():
    fit = fit_odds(Strata.of([[100, 0], [0, 100]] * 20, [[5, 0], [0, 9]] * 20))
    assert fit.contrast(1, 0)[1] > 2.0


def test_an_arm_without_conversions_is_known_to_be_hardly_known():
    fit = fit_odds(Strata.of([[500, 500]], [[20, 0]]))
    difference, error = fit.contrast(1, 0)
    assert difference == pytest.approx(np.log(0.5 / 20.5), abs=0.1)
    assert 1.2 < error < 1.8


def test_visible_shares_stand_for_visitors_whose_orders_are_not_in_yet():
    visitors, visible = np.array([[1000.0, 1000.0]]), np.array([[1.0, 0.5]])
    fit = fit_odds(Strata(visitors, np.array([[50.0, 25.0]]), visible), extra=[0.0, 0.04])
    difference, error = fit.contrast(1, 0)
    assert difference == pytest.approx(0.0, abs=0.02)
    assert error > 0.2


@pytest.mark.parametrize("arms", [2, 3, 5])
def test_independent_errors_give_back_the_contrasts_of_independent_arms(arms):
    own = np.random.default_rng(arms).uniform(0.05, 0.4, arms)
    errors = independent_errors(np.diag(own**2), 1 / own**2)
    assert errors == pytest.approx(own, rel=1e-6)
