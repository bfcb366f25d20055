"""Alerts: each has its stated false-alarm rate, finds what it is for, and ends when it is over."""

from __future__ import annotations

import math

import numpy as np
import pytest
from example_year import DAY, example_year, false_alarms, hours_to_find

from patientbandits.analysis.events.example import EXAMPLE_VARIANTS
from patientbandits.live.monitoring.ratio import BETS, FALSE_ALARMS, RatioTest
from patientbandits.live.monitoring.surprises import surprise
from patientbandits.live.operations.checks import check
from patientbandits.live.times import SteadyClock

pytestmark = pytest.mark.slow


def naive_evidence(arms, propensities, count):
    """(R) from its definition: the largest log evidence after any decision."""
    wealth = np.ones((count, len(BETS)))
    largest = 0.0
    for shown, propensity in zip(arms, propensities, strict=True):
        for arm in range(count):
            x = (shown == arm) / propensity
            for place, bet in enumerate(BETS):
                wealth[arm, place] *= 1.0 + bet * (x - 1.0)
        largest = max(largest, math.log(np.mean(wealth)))
    return largest


def test_ratio_by_its_definition():
    """In pieces of any size, also of a policy whose propensities wander."""
    random = np.random.default_rng(3)
    chances = random.dirichlet(np.ones(3), 400)
    arms = np.array([random.choice(3, p=p) for p in chances])
    propensities = chances[np.arange(400), arms]
    test = RatioTest(3)
    for begin, end in ((0, 1), (1, 150), (150, 150), (150, 400)):
        test.add(arms[begin:end], propensities[begin:end])
    assert test.largest == pytest.approx(naive_evidence(arms, propensities, 3))
    assert test.decisions == 400


def played(random, shares, truth, decisions):
    arms = (random.random(decisions) >= truth).astype(int)
    test = RatioTest(2)
    test.add(arms, np.where(arms == 0, shares, 1.0 - shares))
    return test.mismatch


def test_ratio_false_alarms_at_every_look():
    """1500 sound experiments of 3000 decisions, looked at after each: at most 0.01 of them raise an
    alarm. If it were 0.01, 30 or more would be seen with a chance below 0.0005."""
    random = np.random.default_rng(5)
    alarms = 0
    for _ in range(1500):
        shares = 0.5 + 0.45 * np.sin(random.uniform(0, 6) + np.arange(3000) / 300)
        alarms += played(random, shares, shares, 3000)
    assert alarms < 30
    assert FALSE_ALARMS == 0.01


def test_ratio_finds_a_leak():
    """2 % of all visitors are shown the other arm than is logged: found within 20 000, in at least
    55 of 60 experiments (0.99 of them are expected); with all visitors as logged in none."""
    random = np.random.default_rng(6)
    half = np.full(20_000, 0.5)
    assert sum(played(random, half, half + 0.02, 20_000) for _ in range(60)) >= 55
    assert sum(played(random, half, half, 20_000) for _ in range(60)) == 0


def test_surprise_bounds_the_chance():
    """Of Poisson counts, by their sums."""
    for mean in (0.3, 2.0, 15.0):
        terms = [math.exp(-mean + k * math.log(mean) - math.lgamma(k + 1)) for k in range(200)]
        for count in range(60):
            if count > mean:
                chance = sum(terms[count:])
            else:
                chance = sum(terms[: count + 1])
            assert math.exp(-surprise(count, mean)) >= chance * (1 - 1e-9)


def test_the_example_shop():
    """Four healthy weeks without an alarm; a pixel that breaks is told of within a day. The whole
    year: `python tests/live/example_year.py 365`."""
    year = example_year(45, seed=1)
    assert false_alarms(year, 15, 43, looks=2) == []
    assert hours_to_find(year, 40) <= 24


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
    return {arm["arm"]: arm["best"] for arm in handle.report()["arms"]}


@pytest.fixture
def attacked(tmp_path, clock):
    from patientbandits import live

    with live.open(str(tmp_path / "shop.db"), clock=clock) as shop:
        yield shop, told_shop(shop, clock)


def counts(handle):
    return [(arm["pulls"], arm["conversions"], arm["value"]) for arm in handle.report()["arms"]]


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
    assert best(handle)["control"] > chances["control"] + 0.3  # it worked
    raised = kinds(handle.alerts()) - quiet
    assert ("burst", "control") in raised
    clock.now += 60.0
    handle.quarantine(since=since, note="fakes")
    assert counts(handle) == before
    assert ("burst", "control") not in kinds(handle.alerts())
    assert check(shop.store)["wrong"] == []
    handle.release("q1")
    assert ("burst", "control") in kinds(handle.alerts())


def test_conversions_of_old_ids_are_told_and_undone(attacked, clock):
    """20 orders for visitors of weeks ago, with a key that was lost."""
    shop, handle = attacked
    before = counts(handle)
    quiet = kinds(handle.alerts())
    with shop.store.reading() as reader:
        orders = {line.unit for line in reader.lines_with_unit(handle.experiment.id, "order")}
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
