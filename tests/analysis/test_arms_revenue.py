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
from patientbandits.analysis.arms import amount
from patientbandits.analysis.events import Events
from patientbandits.analysis.page import write_analysis
from patientbandits.errors import InputError

DECISIONS = 8000


def shop_with(
    rates: dict[str, float],
    prices: dict[str, float],
    seed: int = 1,
    sigma: float = 0.5,
    decisions: int = DECISIONS,
) -> Events:
    """All mature; what is paid is log-normal, its mean the price."""
    random = np.random.default_rng(seed)
    arms = {}
    for name, rate in rates.items():
        ages = random.uniform(10.3, 40, decisions) * DAY
        delays = np.where(
            random.random(decisions) < rate, random.exponential(DAY, decisions), np.inf
        )
        arms[name] = (ages, delays)
    events = Events.of(arms, window=10 * DAY, end=1.78e9)
    paid = []
    for arm in events.arms:
        noise = random.lognormal(-(sigma**2) / 2, sigma, len(arm.order_delays))
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


def test_revenue_is_rate_times_worth_and_known_as_both_are(shop: Events) -> None:
    """Each half-width on the logarithmic scale is the hypotenuse of the rate's and the worth's."""
    arms = analyse(shop, by="revenue", cap=None).arms
    for arm in shop.arms:
        finding = arms[arm.name]
        assert finding.revenue is not None
        paid = arm.paid_by_decision(shop.window)
        assert finding.order_value == pytest.approx(paid.mean())
        assert finding.revenue.mean == pytest.approx(finding.rate * paid.mean())
        worth = 1.96 * math.sqrt(math.exp(0.25) - 1) / math.sqrt(len(paid))
        rate = math.log(finding.high / finding.rate)
        wide = math.log(finding.revenue.high / finding.revenue.mean)
        assert wide == pytest.approx(math.hypot(rate, worth), rel=0.06)


@pytest.mark.parametrize("sigma", [0.5, 1.5])
def test_the_interval_covers(sigma: float) -> None:
    """150 shops of 2500 decisions an arm, all mature: 95 % within 90 to 99."""
    covered = 0
    truth = 0.03 * 30.0
    for seed in range(150):
        events = shop_with({"a": 0.03, "b": 0.03}, {"a": 30.0, "b": 30.0}, seed, sigma, 2500)
        money = analyse(events, by="revenue", cap=None).arms["b"].revenue
        assert money is not None
        covered += money.low <= truth <= money.high
    assert 0.90 <= covered / 150 <= 0.99


def test_an_arm_without_orders_borrows_from_the_others() -> None:
    events = shop_with({"a": 0.05, "b": 0.0}, {"a": 20.0, "b": 20.0})
    analysis = analyse(events, by="revenue")
    one, other = analysis.arms.values()
    assert one.order_value == other.order_value
    assert other.revenue is not None
    assert other.revenue.low == 0.0
    assert analysis.verdict.leader == "a"


def test_large_values_are_capped_at_ten_medians(shop: Events) -> None:
    dear = shop.arms[1]
    values = dear.order_values.copy()
    values[5] = 100_000.0
    events = replace(shop, arms=(shop.arms[0], replace(dear, order_values=values)))
    capped, whole = analyse(events, by="revenue"), analyse(events, by="revenue", cap=None)
    assert capped.capped == 1
    assert capped.cap == pytest.approx(10 * 30, rel=0.5)
    assert whole.capped == 0
    assert whole.arms["dear"].revenue.mean > 2 * capped.arms["dear"].revenue.mean
    assert analyse(events, by="revenue", cap=50).cap == 50
    with pytest.raises(InputError, match="cap must be"):
        analyse(events, by="revenue", cap=-1)


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


def test_windows_are_compared_by_what_the_verdict_goes_by(shop: Events, analysis: Analysis) -> None:
    by_rate = analyse(shop).windows[-1]
    by_revenue = analysis.windows[-1]
    assert (by_rate.leader, by_revenue.leader) == ("control", "dear")
    for place, arm in enumerate(shop.arms):
        paid = arm.order_values[arm.order_delays <= by_revenue.window].sum()
        assert by_revenue.arms[place].rate == pytest.approx(paid / arm.decisions, rel=0.02)
        assert by_rate.arms[place].rate == pytest.approx(by_revenue.arms[place].rate / 30, rel=0.6)


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
