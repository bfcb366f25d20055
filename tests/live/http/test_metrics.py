"""Metrics of each arm are the log's counts, on both stores, and are not counted too often."""

from __future__ import annotations

from collections import Counter

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from patientbandits.live.http import metrics as http_metrics
from patientbandits.live.http.metrics import ArmMetrics


def told(metrics):
    """{metric: {(experiment, arm): value}}, as Prometheus reads them."""
    registry = CollectorRegistry()
    registry.register(metrics)
    text = generate_latest(registry).decode()
    found = {}
    for family in text_string_to_metric_families(text):
        found[family.name.removeprefix("patientbandits_")] = {
            (sample.labels["experiment"], sample.labels["arm"]): sample.value
            for sample in family.samples
        }
    return found


def test_counts(shop, clock):
    button = shop.experiment("button", ["a", "b", "never"], policy="UCB1", largest_value=50)
    quiet = shop.experiment("quiet", ['x "1"', "y\\z"])
    button.change(retire=["never"])
    made = Counter()
    value = Counter()
    for number in range(20):
        clock.now += 5
        decision = button.decide(f"v{number}")
        made[decision.arm] += 1
        if number % 4 == 0:
            button.convert(decision.id, 10)
            value[decision.arm] += 10
        elif number % 4 == 1:
            button.convert(unit=f"v{number}", order="A" + str(number), value=5)
            button.convert(unit=f"v{number}", order="B" + str(number), value=5)
            value[decision.arm] += 10
    button.evaluate("promised", provisional=True)
    metrics = ArmMetrics(shop)
    metrics.count()
    found = told(metrics)
    for arm in ("a", "b", "never"):
        assert found["decisions"]["button", arm] == made[arm]
        assert found["conversions"]["button", arm] == value[arm] / 10
        assert found["value"]["button", arm] == value[arm]
    assert found["decisions"][quiet.name, 'x "1"'] == 0
    assert found["decisions"][quiet.name, "y\\z"] == 0


def test_how_often(shop, monkeypatch):
    shop.experiment("button", ["a", "b"])
    now = [0.0]
    counted = []

    def slow(reader, experiment):
        counted.append(now[0])
        now[0] += 2.0
        return []

    monkeypatch.setattr(http_metrics, "counted", slow)
    metrics = ArmMetrics(shop, clock=lambda: now[0])
    assert metrics.due
    metrics.count()
    assert not metrics.due
    now[0] = 2.0 + 100 * 2.0 - 0.1
    assert not metrics.due
    now[0] += 0.2
    assert metrics.due
    metrics.count()
    assert len(counted) == 1, "nothing was added to the log"
    shop.open("button").decide()
    metrics.count()
    assert len(counted) == 2
