"""What is told to people: counts that are exact, and rates that are corrected for what is still to
come."""

from __future__ import annotations

import heapq
import random
from dataclasses import asdict

import numpy as np
import pytest

import patientbandits as pb
from patientbandits.analysis import analyse
from patientbandits.analysis.events import Events


def late_world(shop, clock, decisions=3000, seed=3):
    """Blue converts 10 % within hours, green 16 % within days; returns the experiment and how many
    are still to come, by arm."""
    button, world, pending = (
        shop.experiment("button", ["blue", "green"], policy=pb.Uniform(), seed=1),
        random.Random(seed),
        [],
    )
    for _ in range(decisions):
        clock.now += world.expovariate(1 / 240)
        batch = []
        while pending and pending[0][0] <= clock.now:
            batch.append(button.convert_command(heapq.heappop(pending)[1]))
        command = button.decide_command()
        shop.journal.execute([*batch, command])
        made = command.outcome
        if world.random() < (0.10 if made.arm == "blue" else 0.16):
            delay = (
                world.expovariate(1 / 3600)
                if made.arm == "blue"
                else world.lognormvariate(11.5, 1.0)
            )
            heapq.heappush(pending, (clock.now + delay, made.id, made.arm))
    return button, {arm: sum(entry[2] == arm for entry in pending) for arm in ("blue", "green")}


@pytest.mark.slow
def test_corrected_rates_see_through_the_delay(shop, clock):
    button, coming = late_world(shop, clock)
    found = button.report()
    blue, green = found["arms"]
    assert blue["pulls"] + green["pulls"] == 3000
    assert green["low"] < 0.16 < green["high"]
    assert blue["low"] < 0.10 < blue["high"]
    assert green["raw_rate"] < 0.155  # what a dashboard without a model would show
    assert green["to_come_low"] <= coming["green"] <= green["to_come_high"]
    assert green["matured"] < 0.95 < blue["matured"]
    assert green["best"] > 0.95
    assert blue["best"] + green["best"] == pytest.approx(1.0)
    seconds = np.array(found["lag"]["seconds"])
    day = np.searchsorted(seconds, 86400.0)
    shares = {curve["arm"]: curve["share"][day] for curve in found["lag"]["arms"]}
    assert shares["blue"] > 0.95 > 0.65 > shares["green"]
    assert "extrapolation" in found["notes"][0]


def test_nothing_yet(shop):
    button = shop.experiment("button", ["a", "b"])
    found = button.report()
    assert [arm["pulls"] for arm in found["arms"]] == [0, 0]
    assert [arm["raw_rate"] for arm in found["arms"]] == [None, None]
    assert found["lag"] is None
    assert found["notes"] == []
    assert button.timeseries() == []


def test_retired_arms_keep_their_counts_and_estimates(shop, clock):
    button = shop.experiment("button", ["a", "b"], policy=pb.Uniform())
    made = [button.decide() for _ in range(20)]
    for one in made:
        button.convert(one.id)
    button.change(retired=["a"])
    a, b = button.report()["arms"]
    assert (a["retired"], b["retired"]) == (True, False)
    assert a["pulls"] == a["conversions"] == sum(one.arm == "a" for one in made)
    assert a["low"] < a["rate"] < a["high"]
    assert a["best"] is None
    assert b["best"] == 1.0


ARMS = ["control", "blue"]


def test_a_verdict(shop, clock):
    """As `analyse` gives it on the same history, told in its own words."""
    button = shop.experiment(
        "verdict", ARMS, policy="Uniform", window="1d", control="control", seed=3
    )
    assert button.verdict()["words"] == "No data yet: there are no decisions"
    ages = {arm: [] for arm in ARMS}
    delays = {arm: [] for arm in ARMS}
    rate = {"control": 0.1, "blue": 0.3}
    made = []
    for number in range(400):
        clock.now += 600
        made.append((clock.now, button.decide(unit=f"u{number}").arm, number))
    for at, arm, number in made:
        delay = np.inf
        if number % 10 < 10 * rate[arm]:
            delay = 900.0 + 7 * number
        if at + delay <= clock.now:
            button.convert(unit=f"u{number}", order=f"o{number}", at=at + delay)
        else:
            delay = np.inf
        ages[arm].append(clock.now - at)
        delays[arm].append(delay)
    found = button.verdict()
    history = Events.of(
        {arm: (ages[arm], delays[arm]) for arm in ARMS},
        window=86400.0,
        control="control",
        end=clock.now,
    )
    must = asdict(analyse(history).verdict)
    must.pop("certain")  # the log knows how arms were drawn, the history does not
    assert {name: found[name] for name in must} == pytest.approx(must)
    assert found["leader"] == "blue"
    assert found["certain"]
