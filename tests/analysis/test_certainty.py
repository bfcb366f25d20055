"""Certainty whatever the season: from logged chances, from even splits, or not at all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from patientbandits._util.durations import DAY
from patientbandits.analysis import analyse
from patientbandits.analysis.certainty import even_draws, logged_draws, shares_changed
from patientbandits.analysis.events import ConvertedDraws, Events
from patientbandits.inference import Strata

WINDOW = 5 * DAY
END = 1_780_000_000.0


def shop(shares, season=1.0, rates=(0.05, 0.05), visitors=20_000, seed=1, logged=True):
    """Two arms over 40 days; from the middle on rates are ``season`` times as high and the second
    arm has the other of the two ``shares``."""
    random = np.random.default_rng(seed)
    ages = random.uniform(0, 40, visitors) * DAY
    late = ages < 20 * DAY
    chance = np.where(late, shares[1], shares[0])
    drew = random.random(visitors) < chance
    rate = np.where(drew, rates[1], rates[0]) * np.where(late, season, 1.0)
    delays = np.where(random.random(visitors) < rate, random.exponential(DAY, visitors), np.inf)
    arms = {name: (ages[own], delays[own]) for name, own in (("a", ~drew), ("b", drew))}
    events = Events.of(arms, window=WINDOW, end=END)
    came = delays <= np.minimum(ages, WINDOW)
    draws = (
        ConvertedDraws(ages[came & ~drew], 1 - chance[came & ~drew]),
        ConvertedDraws(ages[came & drew], chance[came & drew]),
    )
    return replace(events, draws=draws if logged else None)


def test_a_common_rise_is_never_certain_of_equal_arms():
    verdicts = [analyse(shop((0.2, 0.9), 3.0, seed=seed)).verdict for seed in range(15)]
    assert sum(verdict.certain for verdict in verdicts) <= 1


def test_a_better_arm_becomes_certain_and_its_lift_is_inside():
    analysis = analyse(shop((0.4, 0.7), 2.0, (0.05, 0.07)))
    assert analysis.verdict.certain
    low, high = analysis.arms["b"].anytime_lift
    assert 0 < low < 0.4 < high
    assert analysis.arms["a"].anytime_lift is None


def test_files_with_an_even_split_are_read_as_such():
    assert analyse(shop((0.5, 0.5), 2.0, (0.05, 0.08), logged=False)).verdict.certain


def test_files_whose_shares_changed_are_never_certain():
    analysis = analyse(shop((0.3, 0.7), 2.0, (0.04, 0.08), logged=False))
    assert analysis.verdict.probability > 0.95
    assert not analysis.verdict.certain
    assert analysis.arms["b"].anytime_lift == (-1.0, np.inf)


def test_logged_draws_are_the_mature_ones():
    events = shop((0.5, 0.8))
    draws = logged_draws(events, 1, 0)
    mature = [(arm.ages >= WINDOW) & (arm.delays <= WINDOW) for arm in events.arms]
    assert draws.first.sum() == mature[1].sum()
    assert (~draws.first).sum() == mature[0].sum()
    assert set(np.round(np.unique(draws.chances), 6)) == {0.5, 0.8}


def test_more_arms_need_constant_chances():
    events = shop((0.5, 0.5))
    three = replace(events, more_arms=1)
    thirds = tuple(own._replace(chances=np.full(len(own.ages), 1 / 3)) for own in events.draws)
    assert np.all(logged_draws(replace(three, draws=thirds), 1, 0).chances == pytest.approx(0.5))
    moving = (thirds[0], thirds[1]._replace(chances=np.linspace(0.2, 0.4, len(thirds[1].ages))))
    assert logged_draws(replace(three, draws=moving), 1, 0) is None
    unknown = (thirds[0], thirds[1]._replace(chances=np.full(len(thirds[1].ages), np.nan)))
    assert logged_draws(replace(events, draws=unknown), 1, 0) is None


def test_an_arm_that_was_shown_earlier_counts():
    few = analyse(shop((0.5, 0.5), 1.0, (0.05, 0.07)))
    many = analyse(replace(shop((0.5, 0.5), 1.0, (0.05, 0.07)), more_arms=0, draws=None))
    more = analyse(replace(shop((0.5, 0.5), 1.0, (0.05, 0.07)), more_arms=5, draws=None))
    assert many.arms["b"].anytime_lift[0] > more.arms["b"].anytime_lift[0]
    assert few.arms["b"].anytime_high < more.arms["b"].anytime_high


def test_shares_change_if_the_slots_say_so():
    random = np.random.default_rng(1)
    even = random.binomial(100, [[0.5]] * 60)
    assert not shares_changed(np.hstack([even, 100 - even]).astype(float))
    moving = random.binomial(100, np.linspace(0.4, 0.6, 60)[:, None])
    assert shares_changed(np.hstack([moving, 100 - moving]).astype(float))
    strata = Strata.of(np.hstack([even, 100 - even]), np.hstack([even, 100 - even]) // 10)
    draws = even_draws(strata, 0, 1)
    assert len(draws.first) == strata.conversions.sum()
    assert draws.chances[0] == pytest.approx(even.sum() / 6000)
