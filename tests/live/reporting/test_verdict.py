"""The verdict and what stands beside it: windows, cohorts, what is compared."""

from __future__ import annotations

from datetime import date

import numpy as np
import pytest
from service import Running

from patientbandits import live
from patientbandits.analysis.verdict import FEWEST_CONVERSIONS

pytestmark = pytest.mark.slow

ARMS = ["control", "blue"]
DAY = 86400


@pytest.fixture
def shop(tmp_path, clock):
    with live.open(str(tmp_path / "shop.db"), clock=clock) as opened:
        yield opened


def played(shop, clock, worth, rates=(0.2, 0.4), **settings):
    """Ten days of visitors; each who buys brings in ``worth`` of its arm."""
    button = shop.experiment(
        "button", ARMS, policy="Uniform", window="3d", control="control", seed=3, **settings
    )
    rng = np.random.default_rng(1)
    for number in range(600):
        clock.now += DAY / 60
        made = button.decide(unit=f"u{number}")
        if rng.random() < rates[ARMS.index(made.arm)]:
            told = {"unit": f"u{number}", "order": f"o{number}", "value": worth[made.arm]}
            clock.now += 1
            button.convert(**told)
    return button


def test_conversions_with_values_are_compared_by_revenue(shop, clock):
    """What the policy goes by; blue converts more and brings in less."""
    button = played(shop, clock, {"control": 90.0, "blue": 10.0}, largest_value=100, currency="EUR")
    found = button.verdict()
    assert (found["by"], found["leader"]) == ("revenue", "control")
    assert "EUR per visitor" in found["words"]
    assert button.verdict(by="rate")["leader"] == "blue"
    with pytest.raises(live.RefusedError, match="by must be rate or revenue"):
        button.verdict(by="fame")


def test_without_values_rates_are_compared(shop, clock):
    button = played(shop, clock, {"control": 1.0, "blue": 1.0})
    assert button.verdict()["by"] == "rate"
    with pytest.raises(live.ConflictError, match="needs conversions with values"):
        button.verdict(by="revenue")


def test_windows_and_cohorts(shop, clock):
    """Cohorts hold every decision once; windows end at the one in use."""
    button = played(shop, clock, {"control": 1.0, "blue": 1.0})
    found = button.analysis()
    report = {arm["arm"]: arm for arm in button.report()["arms"]}
    for arm in ARMS:
        rows = [row for row in found["cohorts"] if row["arm"] == arm]
        assert sum(row["decisions"] for row in rows) == report[arm]["pulls"]
        assert sum(row["conversions"] for row in rows) == report[arm]["conversions"]
        assert all(row["expected"] >= row["conversions"] for row in rows)
        assert all(date.fromisoformat(row["day"]) for row in rows)
    assert found["cohort_days"] == 1
    last = found["windows"][-1]
    assert (last["window_text"], last["in_use"]) == ("3d", True)
    assert [row["in_use"] for row in found["windows"]].count(True) == 1
    assert {arm["arm"]: arm["lift"] for arm in found["arms"]}["control"] is None


def test_an_arm_that_nobody_has_seen_leaves_the_rest_to_be_read(shop, clock):
    button = played(shop, clock, {"control": 1.0, "blue": 1.0})
    button.change(add_arms=["green"], control="green")
    found = button.analysis()
    assert found["verdict"]["words"].endswith("; green not shown yet")
    assert found["verdict"]["leader"] == "blue"
    assert {row["arm"] for row in found["cohorts"]} == set(ARMS)


def test_traffic_that_has_ended_is_told(shop, clock):
    """That it takes more than a year at the present traffic would be true, and help nobody."""
    button = played(shop, clock, {"control": 1.0, "blue": 1.0}, rates=(0.3, 0.3))
    for arm in button.report()["arms"]:
        assert arm["conversions"] >= FEWEST_CONVERSIONS
    assert "lately" not in button.verdict()["words"]
    clock.now += 30 * DAY
    assert "there were no visitors lately" in button.verdict()["words"]


def test_over_http_and_the_scopes_of_a_key(tmp_path):
    with Running(tmp_path / "shop.db") as server:
        server.api.post("/v1/experiments", json={"name": "button", "arms": ARMS})
        found = server.api.get("/v1/experiments/button/analysis").json()
        assert found["verdict"]["leader"] is None
        for part in ("verdict", "analysis"):
            for by in ("fame", ""):
                refused = server.api.get(f"/v1/experiments/button/{part}", params={"by": by})
                assert refused.status_code == 422, (part, by)
        assert server.api.get("/v1/scopes").json()["scopes"] == ["admin"]
        new = server.api.post("/v1/keys", json={"scopes": ["read", "convert"]}).json()
        with server.client(new["key"]) as reader:
            assert reader.get("/v1/scopes").json()["scopes"] == ["convert", "read"]
