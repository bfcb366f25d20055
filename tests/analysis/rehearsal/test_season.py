"""The shop's own calendar is found in its history, and played."""

from __future__ import annotations

import numpy as np
import pytest

from patientbandits._util.durations import DAY
from patientbandits.analysis import Analysis, analyse
from patientbandits.analysis.events import Events
from patientbandits.analysis.rehearsal import rehearse
from patientbandits.analysis.rehearsal.page import write_rehearsal
from patientbandits.analysis.rehearsal.players import after_the_window
from patientbandits.analysis.rehearsal.season import season_of
from patientbandits.analysis.rehearsal.worlds import draw_worlds

DAYS = 56
SATURDAY = 2
"""Day 0 of 1970 was a Thursday."""


def weekends(day):
    return np.where((day - SATURDAY) % 7 < 2, 1.6, 1.0)


def growth(day):
    return 0.6 + day / DAYS


def shop(factor, seed=1, visitors=40_000):
    """Two arms of 5 and 6 %, delays of a day on average, a window of five."""
    random = np.random.default_rng(seed)
    arms = {}
    for name, rate, share in (("a", 0.05, 0.7), ("b", 0.06, 0.3)):
        count = round(visitors * share)
        seen = random.random(count) * DAYS
        delays = random.exponential(1.0, count)
        converts = random.random(count) < rate * factor(np.floor(seen))
        arms[name] = ((DAYS - seen) * DAY, np.where(converts, delays * DAY, np.inf))
    return analyse(Events.of(arms, window=5 * DAY, end=DAYS * DAY))


@pytest.fixture(scope="module")
def seasonal() -> Analysis:
    return shop(lambda day: weekends(day) * growth(day))


def test_weekdays_and_weeks(seasonal):
    season = season_of(seasonal)
    assert not season.plain
    weekdays = season.weekdays.factors
    assert weekdays[5:] / weekdays[:5].mean() == pytest.approx([1.6, 1.6], rel=0.12)
    assert weekdays[:5] / weekdays[:5].mean() == pytest.approx(np.ones(5), rel=0.15)
    expected = growth(7 * np.arange(1, 8))  # the first week, from a Thursday on, is cut off
    weeks = season.weeks.factors[1:-1]
    assert len(weeks) == 7
    assert weeks / weeks.mean() == pytest.approx(expected / expected.mean(), rel=0.15)


def test_what_is_chance_is_no_season():
    """With constant rates, one shop of twenty for each of two tests; worlds are as ever then."""
    seasons = [season_of(shop(lambda day: 1.0, seed, visitors=6000)) for seed in range(30)]
    assert sum(season.plain for season in seasons) >= 24
    plain = next(season for season in seasons if season.plain)
    assert plain.data() == {}
    assert "rates stay the same" in plain.words
    random = np.random.default_rng(1)
    assert plain.draw(10, random).tolist() == [1.0] * 10


def test_worlds_follow_it(seasonal):
    season = season_of(seasonal)
    worlds = draw_worlds(seasonal, season, 50.0, 28, draws=40, seed=2)
    factors = np.array([world.factors for world in worlds])
    assert factors.shape == (40, 28)
    weekday = np.arange(28) % 7
    ratio = factors[:, weekday >= 5].mean() / factors[:, weekday < 5].mean()
    assert ratio == pytest.approx(1.6, rel=0.12)
    assert factors.mean() == pytest.approx(1.0, abs=0.12)
    assert factors[:, :7].mean(axis=1).std() > 0.15, "worlds begin in different weeks"
    problem = worlds[0].problem
    phases = problem.phases_until(1400)
    assert [start for start, _ in phases] == [1 + 50 * day for day in range(28)]
    played = [phase.means[0] / problem.means[0] for _, phase in phases]
    assert played == pytest.approx(factors[0].tolist())
    assert after_the_window(worlds[0]).calendar == problem.calendar


def test_rates_stay_below_one():
    """A shop whose best day would convert more than everybody."""
    analysis = shop(lambda day: np.where(day % 7 == 2, 16.0, 4.0))
    worlds = draw_worlds(analysis, season_of(analysis), 20.5, 21, draws=10, seed=2)
    for world in worlds:
        assert max(max(phase.means) for _, phase in world.problem.phases_until(430)) <= 1.0


def test_a_rehearsal_plays_and_says_it(seasonal, tmp_path):
    found = rehearse(seasonal, traffic=30, days=14, policies=["KLUCB"], draws=4, workers=1)
    data = found.data()
    assert len(data["season"]["weekdays"]) == 7
    assert len(data["season"]["weeks"]) == 9
    page = write_rehearsal(found, tmp_path).read_text()
    assert found.season.words in page
    assert "from weekday to weekday and between" in page
