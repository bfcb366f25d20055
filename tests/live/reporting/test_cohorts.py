"""Counts by arm, age and time equal those of a simple model."""

from __future__ import annotations

import random

import numpy as np
import pytest

import patientbandits as pb
from patientbandits import live
from patientbandits.live.reporting.cohorts import read_cohorts


def test_counts_equal_those_of_a_simple_model(shop, clock):
    """Classes of age hold each decision once: by the age it has, or by the delay after which it
    converted."""
    button, world = (
        shop.experiment("button", ["a", "b", "c"], policy=pb.Uniform(), window=5000.0, scale=4.0),
        random.Random(5),
    )
    model = []
    for _ in range(300):
        clock.now += world.expovariate(1 / 30)
        made = button.decide()
        model.append(
            {
                "arm": made.arm,
                "id": made.id,
                "time": clock.now,
                "delay": None,
                "value": 0.0,
                "retracted": False,
            }
        )
    for one in model:
        if world.random() < 0.5:
            one["delay"], one["value"] = (
                world.expovariate(1 / 3000),
                world.choice([0.0, 1.0, 2.5, 4.0]),
            )
            button.convert(one["id"], one["value"], at=min(one["time"] + one["delay"], clock.now))
            one["delay"] = min(one["delay"], clock.now - one["time"])
            if world.random() < 0.2:
                button.retract(one["id"])
                one["retracted"] = True
    for arm in button.report()["arms"]:
        mine = [one for one in model if one["arm"] == arm["arm"]]
        converted = [one for one in mine if one["delay"] is not None]
        counted = [one for one in converted if not one["retracted"] and one["delay"] <= 5000.0]
        assert arm["pulls"] == len(mine)
        assert arm["conversions"] == sum(one["value"] > 0 for one in counted)
        assert arm["retracted"] == sum(one["retracted"] for one in converted)
        assert arm["late"] == sum(
            not one["retracted"] and one["delay"] > 5000.0 for one in converted
        )
        assert arm["value"] == pytest.approx(sum(one["value"] for one in counted))
        assert arm["raw_rate"] == pytest.approx(sum(one["value"] for one in counted) / len(mine))
    with shop.store.reading() as reader:
        found = read_cohorts(reader, button.experiment.id, 3, None, int(clock.now * 1e6))
    for place, cohort in enumerate(found):
        name = "abc"[place]
        waiting = [
            clock.now - one["time"]
            for one in model
            if one["arm"] == name
            and (one["delay"] is None or one["retracted"] or one["value"] == 0)
        ]
        delays = [
            one["delay"]
            for one in model
            if one["arm"] == name
            and one["delay"] is not None
            and not one["retracted"]
            and one["value"] > 0
        ]
        assert cohort.waiting.sum() == len(waiting)
        assert cohort.converted.sum() == len(delays)
        assert (cohort.waiting >= 0).all()
        for classes, weights, exact in (
            (cohort.waiting_ages, cohort.waiting, waiting),
            (cohort.delays, cohort.converted, delays),
        ):
            expanded = np.repeat(classes, weights.astype(int))
            np.testing.assert_allclose(
                np.sort(expanded), np.sort(np.maximum(exact, 1.0)), rtol=0.011
            )


def test_time_series(shop, clock):
    clock.now = 1_700_000_000.0 - 1_700_000_000.0 % 3600
    button = shop.experiment("button", ["a", "b"], policy=pb.Uniform(), scale=2.0)
    made = []
    for _ in range(3):
        made += [button.decide() for _ in range(5)]
        clock.now += 3600
    button.convert(made[0].id, 1.5)
    rows = button.timeseries("hour")
    assert len({row["time"] for row in rows}) == 4
    assert sum(row["pulls"] for row in rows) == 15
    assert rows[-1] == {
        "time": rows[-1]["time"],
        "arm": made[0].arm,
        "pulls": 0,
        "conversions": 1,
        "value": 1.5,
    }
    assert len({row["time"] for row in button.timeseries("day")}) <= 2
    assert sum(row["pulls"] for row in button.timeseries()) == 15
    for bad in ("year", 0, -5, 10**9, True, 1.5):
        with pytest.raises(live.RefusedError, match="bucket"):
            button.timeseries(bad)
