"""Revenue per decision: its interval, and a verdict that goes by it."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from patientbandits._util.durations import DAY
from patientbandits.analysis import Analysis, analyse
from patientbandits.analysis.arms import Z95, amount, revenues_of, worths_of
from patientbandits.analysis.events import Events
from patientbandits.analysis.page import write_analysis
from patientbandits.analysis.records import OrderWorth
from patientbandits.errors import InputError
from patientbandits.inference.posterior import ArmPosterior, CureCounts, Estimate, posterior

DECISIONS = 8000


def shop_with(rates: dict[str, float], prices: dict[str, float], seed: int = 1) -> Events:
    """All mature; what is paid is log-normal around the price."""
    random = np.random.default_rng(seed)
    arms = {}
    for name, rate in rates.items():
        ages = random.uniform(10, 40, DECISIONS) * DAY
        delays = np.where(
            random.random(DECISIONS) < rate, random.exponential(DAY, DECISIONS), np.inf
        )
        arms[name] = (ages, delays)
    events = Events.of(arms, window=10 * DAY, end=1.78e9)
    paid = []
    for arm in events.arms:
        noise = random.lognormal(-0.125, 0.5, len(arm.order_delays))
        paid.append(replace(arm, order_values=prices[arm.name] * noise))
    return replace(events, arms=tuple(paid), valued=True, currency="EUR")


@pytest.fixture(scope="module")
def shop() -> Events:
    """The second arm sells less often, and dearer things."""
    return shop_with({"control": 0.06, "dear": 0.05}, {"control": 20.0, "dear": 40.0})


@pytest.fixture(scope="module")
def analysis(shop: Events) -> Analysis:
    return analyse(shop, by="revenue")


def test_the_verdict_goes_by_what_was_asked(shop: Events, analysis: Analysis) -> None:
    by_rate = analyse(shop)
    assert by_rate.verdict.by == "rate"
    assert by_rate.verdict.currency == ""
    assert by_rate.verdict.leader == "control"
    verdict = analysis.verdict
    assert (verdict.by, verdict.currency, verdict.leader) == ("revenue", "EUR", "dear")
    money = analysis.arms["dear"].revenue
    assert money is not None
    assert verdict.probability == money.best > 0.99
    assert verdict.threshold == pytest.approx(analysis.tolerance * money.mean, rel=1e-6)
    assert verdict.days_left == 0
    assert verdict.lift == pytest.approx(0.05 * 40 / (0.06 * 20) - 1, abs=0.25)
    assert verdict.words.startswith(
        "dear leads by revenue, with a probability of more than 99 % of being the best arm; "
        "the expected loss of stopping now is "
    )
    assert "EUR per visitor" in verdict.words
    assert not verdict.certain


def test_close_arms_take_days(shop: Events) -> None:
    close = shop_with({"a": 0.05, "b": 0.05}, {"a": 30.0, "b": 30.6}, seed=3)
    verdict = analyse(close, by="revenue").verdict
    assert verdict.days_left is None or verdict.days_left > 1
    assert verdict.expected_loss > verdict.threshold


def stub(mean: float, spread: float) -> ArmPosterior:
    (some,) = posterior([CureCounts.of([1.0, 2.0], [1.0])])
    return replace(some, rate=Estimate(mean, mean - Z95 * spread, mean + Z95 * spread))


def test_race_and_loss_are_those_of_draws() -> None:
    """Rates and mean worths drawn apart: best and expected loss within 4 standard errors."""
    rates = [(0.05, 0.003), (0.045, 0.002)]
    worths = [OrderWorth(20.0, 30.0, 400), OrderWorth(23.0, 20.0, 300)]
    parts = revenues_of([stub(*rate) for rate in rates], worths)
    random = np.random.default_rng(2)
    drawn = np.stack(
        [
            random.normal(*rate, 400_000)
            * random.normal(worth.mean, worth.spread / math.sqrt(worth.count), 400_000)
            for rate, worth in zip(rates, worths, strict=True)
        ]
    )
    wins = (drawn.argmax(axis=0)[:, None] == np.arange(2)).mean(axis=0)
    lost = drawn.max(axis=0).mean() - drawn.mean(axis=1)
    for place, part in enumerate(parts):
        assert part.best == pytest.approx(wins[place], abs=0.01)
        assert part.expected_loss == pytest.approx(lost[place], rel=0.03)
        assert part.spread == pytest.approx(drawn[place].std(), rel=0.02)
    assert parts[0].lift is None
    assert parts[1].lift is not None


def test_the_interval_covers() -> None:
    """400 shops of 3000 decisions, all mature: 95 % within 91.5 to 98; half as wide fails."""
    random = np.random.default_rng(4)
    covered = halved = 0
    truth = 0.05 * 30.0
    for _ in range(400):
        sold = int(random.binomial(3000, 0.05))
        paid = 30.0 * random.lognormal(-0.18, 0.6, sold)
        rate = sold / 3000
        worth = OrderWorth(float(paid.mean()), float(paid.std(ddof=1)), sold)
        (part,) = revenues_of([stub(rate, math.sqrt(rate * (1 - rate) / 3000))], [worth])
        covered += part.low <= truth <= part.high
        halved += abs(truth - part.mean) <= Z95 * part.spread / 2
    assert 0.915 <= covered / 400 <= 0.98
    assert halved / 400 < 0.8


def test_an_arm_without_orders_borrows_from_the_others() -> None:
    events = shop_with({"a": 0.05, "b": 0.0}, {"a": 20.0, "b": 20.0})
    worths = worths_of(events.arms, events.window)
    assert worths is not None
    assert worths[1].mean == worths[0].mean
    assert worths[1].count == 1
    analysis = analyse(events, by="revenue")
    assert analysis.verdict.too_early
    assert analysis.arms["b"].order_value is None


def test_needs_values(shop: Events) -> None:
    bare = replace(shop, valued=False)
    assert analyse(bare).arms["dear"].revenue is None
    with pytest.raises(InputError, match="by='revenue' needs orders with values; there are none"):
        analyse(bare, by="revenue")
    with pytest.raises(InputError, match="by must be one of rate, revenue; got by='profit'"):
        analyse(shop, by="profit")


def test_page_and_data_show_it(analysis: Analysis, tmp_path: Path) -> None:
    page = write_analysis(analysis, tmp_path).read_text()
    assert "dear has the highest revenue per decision" in page
    assert "By rate, control is the best arm with a probability of" in page
    assert page.count("data:image/svg+xml;base64,") == 6
    data = json.loads((tmp_path / "analysis.json").read_text())
    assert data["verdict"]["by"] == "revenue"
    assert {"mean", "low", "high", "best", "expected_loss", "lift"} <= set(
        data["arms"][1]["revenue"]
    )


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0.0, "0.00 EUR"),
        (0.01617, "0.0162 EUR"),
        (0.00001234, "0.0000123 EUR"),
        (0.5, "0.500 EUR"),
        (1.239, "1.24 EUR"),
        (12345.6, "12,345.60 EUR"),
        (-0.02, "-0.0200 EUR"),
    ],
)
def test_amounts(value: float, words: str) -> None:
    assert amount(value, "EUR") == words
