"""Alerts: each has its stated false-alarm rate, finds what it is for, and ends when it is over."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from example_year import DAY

from patientbandits.analysis.events.example import EXAMPLE_VARIANTS
from patientbandits.live.commands.journal import SteadyClock
from patientbandits.live.log.records import OrderLine
from patientbandits.live.monitoring import alerts
from patientbandits.live.monitoring.alerts import CHEAP, GROWTH, MAX_AGE, AnalysisCache, arm_models
from patientbandits.live.monitoring.watched_log import WatchedLog
from patientbandits.live.operations.checks import check


def kinds(alerts):
    return {(alert["kind"], alert["subject"]) for alert in alerts}


def told_shop(shop, clock, days=60, visitors=6000, seed=2):
    """A shop that splits its own traffic, and tells exposures and orders as they come."""
    random = np.random.default_rng(seed)
    names = [variant.name for variant in EXAMPLE_VARIANTS]
    handle = shop.experiment("button", names, control="control", policy="Uniform", seed=1)
    begin = clock.now
    events = []
    for number, seen in enumerate(np.sort(random.random(visitors)) * days * DAY):
        place = int(random.integers(3))
        variant = EXAMPLE_VARIANTS[place]
        events.append((seen, handle.expose_command, (f"v{number}", variant.name, None, 1 / 3)))
        if random.random() < variant.rate:
            wait = random.lognormal(np.log(variant.median_days * DAY), variant.spread)
            if seen + wait < days * DAY:
                events.append((seen + wait, handle.order_command, (f"v{number}", f"o{number}")))
    events.sort(key=lambda event: event[0])
    for first in range(0, len(events), 40):
        group = events[first : first + 40]
        clock.now = begin + group[-1][0]
        commands = [make(*said) for _, make, said in group]
        handle.journal.execute(commands)
        assert all(command.error is None for command in commands)
    clock.now = begin + days * DAY
    return handle


def best(handle):
    return {arm["arm"]: arm["best_so_far"] for arm in handle.report()["arms"]}


@pytest.fixture
def attacked(tmp_path, clock):
    from patientbandits import live

    with live.open(str(tmp_path / "shop.db"), clock=clock) as shop:
        yield shop, told_shop(shop, clock)


def counts(handle):
    return [(arm["pulls"], arm["conversions"], arm["value"]) for arm in handle.report()["arms"]]


@pytest.mark.slow
def test_faked_conversions_are_told_and_undone(attacked, clock):
    """43 new visitors on the worst arm who buy at once."""
    shop, handle = attacked
    before, chances = counts(handle), best(handle)
    quiet = kinds(handle.alerts())
    assert not quiet & {("burst", "control"), ("old", "control"), ("jump", "control")}
    since = clock.now
    for number in range(43):
        clock.now += 5.0
        handle.expose(f"fake-{number}", "control")
        handle.convert(unit=f"fake-{number}", order=f"fake-{number}")
    assert counts(handle) != before
    # arms are compared within slots of time: one busy slot says little
    assert chances["control"] < best(handle)["control"] < chances["control"] + 0.1
    raised = kinds(handle.alerts()) - quiet
    assert ("burst", "control") in raised
    clock.now += 60.0
    handle.quarantine(since=since, note="fakes")
    assert counts(handle) == before
    assert ("burst", "control") not in kinds(handle.alerts())
    assert check(shop.store)["wrong"] == []
    handle.release("q1")
    assert ("burst", "control") in kinds(handle.alerts())


@pytest.mark.slow
def test_conversions_of_old_ids_are_told_and_undone(attacked, clock):
    """20 orders for visitors of weeks ago, with a key that was lost."""
    shop, handle = attacked
    before = counts(handle)
    quiet = kinds(handle.alerts())
    with shop.store.reading() as reader:
        orders = {line.unit for line in reader.lines_with_unit(handle.experiment.id, OrderLine)}
        lines = reader.all_decided(handle.experiment.id)
    arms = {one.decision.unit: one.decision.arm for one in lines}
    unit = handle.journal.names.unit
    names = [f"v{number}" for number in range(6000)]
    old = [name for name in names if arms.get(unit(name)) == 0][:200]
    clock.now += 60.0
    for name in [name for name in old if unit(name) not in orders][:20]:
        command = handle.order_command(name, f"again-{name}")
        command.sender = "lost"
        handle.journal.execute([command])
        assert command.outcome.counted
        clock.now += 2.0
    raised = kinds(handle.alerts()) - quiet
    assert raised & {("old", "control"), ("burst", "control")}
    handle.quarantine(sender="lost")
    assert counts(handle) == before
    assert not kinds(handle.alerts()) & {("old", "control"), ("burst", "control")}
    assert check(shop.store)["wrong"] == []


def test_one_unit_and_a_mismatch(shop, clock):
    handle = shop.experiment("button", ["a", "b"], policy="Uniform", seed=1)
    commands = []
    for number in range(1500):
        arm = "a" if number % 5 else "b"  # logged as halves
        commands.append(handle.expose_command(f"u{number}", arm, None, 0.5))
    handle.journal.execute(commands)
    for number in range(12):
        handle.convert(unit="u1", order=f"o{number}")
    found = {alert["kind"]: alert for alert in handle.alerts()}
    line = found["unit"]["data"]["line"]
    assert found["unit"]["subject"] == f"line {line}"
    assert [arm["ratio"] > 1 for arm in found["ratio"]["data"]["arms"]] == [True, False]
    assert {alert["kind"] for alert in handle.report()["alerts"]} >= {"unit", "ratio"}
    assert handle.alerts() == handle.alerts()
    handle.quarantine(line=line)
    assert "unit" not in {alert["kind"] for alert in handle.alerts()}
    assert sum(conversions for _, conversions, _ in counts(handle)) == 0


@pytest.mark.slow
def test_a_leader_and_the_end(shop, clock):
    handle = shop.experiment("button", ["a", "b"], policy="Uniform", control="a", seed=1)
    for number in range(600):
        clock.now += 600.0
        arm = "ab"[number % 2]
        handle.journal.execute([handle.expose_command(f"u{number}", arm)])
        if number % 10 == 1 or number % 30 == 0:
            handle.convert(unit=f"u{number}")
    clock.now += DAY
    found = {alert["kind"]: alert for alert in handle.alerts()}
    assert found["leader"]["subject"] == "b"


def test_a_clock_that_jumps_and_an_experiment_that_fails(shop, monkeypatch):
    handle = shop.experiment("button", ["a", "b"])
    assert handle.alerts() == []
    wall, steady = [1000.0], [0.0]
    clock = SteadyClock(lambda: wall[0], lambda: steady[0])
    wall[0] += 4000.0
    clock()
    monkeypatch.setattr(shop.journal, "clock", clock)
    monkeypatch.setattr(shop.journal, "cause_of_failure", lambda experiment: "it is broken")
    assert kinds(handle.alerts()) == {("clock", None), ("failed", None)}


class Looks:
    """Looks at an experiment, and counts how often all of its log is read."""

    def __init__(self, handle: Any, monkeypatch: pytest.MonkeyPatch, takes: float) -> None:
        self.handle = handle
        self.now = 0.0
        self.spent = 0.0
        self.readings = 0
        self.takes = takes
        self.cache = AnalysisCache(clock=lambda: self.now, cost=lambda: self.spent)
        self.watched: WatchedLog | None = None
        read = alerts.verdict_on

        def verdict_on(*about: Any) -> Any:
            self.readings += 1
            self.spent += self.takes
            return read(*about)

        monkeypatch.setattr(alerts, "verdict_on", verdict_on)

    def look(self) -> list[Any]:
        handle = self.handle
        journal = handle.journal
        with journal.store.reading() as reader:
            if self.watched is None:
                self.watched = WatchedLog(handle.settings)
            self.watched.read_on(reader, handle.experiment.id)
            look = self.cache.get(
                reader, handle.experiment, handle.settings, self.watched.seq, journal.now()
            )
        return arm_models(look.curves, handle.settings, self.watched)

    def decide(self, number: int) -> None:
        self.handle.journal.execute([self.handle.decide_command() for _ in range(number)])


@pytest.fixture
def button(shop: Any) -> Any:
    found = shop.experiment("button", ["a", "b"], policy="Uniform")
    for _ in range(3):
        found.convert(found.decide().id)
    return found


def test_a_long_log_is_read_again_in_proportion_to_what_is_new(
    button: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = Looks(button, monkeypatch, takes=2 * CHEAP)
    looks.decide(640)
    looks.look()
    assert looks.readings == 1
    before = looks.watched.seq // GROWTH
    looks.decide(before)
    models = looks.look()
    assert looks.readings == 1
    assert sum(model.made.total for model in models) == 643 + before  # decisions are up to date
    looks.decide(1)
    looks.look()
    assert looks.readings == 2
    looks.look()
    assert looks.readings == 2


def test_it_is_read_again_after_an_hour_and_after_a_change(
    button: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = Looks(button, monkeypatch, takes=2 * CHEAP)
    looks.decide(200)
    looks.look()
    looks.now = MAX_AGE - 1.0
    looks.look()
    assert looks.readings == 1
    looks.now = MAX_AGE
    looks.look()
    assert looks.readings == 2
    button.change(window="30d")
    looks.look()
    assert looks.readings == 3


def test_what_is_quick_is_always_up_to_date(button: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = Looks(button, monkeypatch, takes=CHEAP / 2)
    for times in (1, 2, 3):
        looks.look()
        assert looks.readings == times
