"""A history becomes a live experiment: once, however often it is told or interrupted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from killed_imports import killed_imports, written, wrong_with

from patientbandits import live
from patientbandits.analysis.events import read_events
from patientbandits.live.operations import importing
from patientbandits.live.operations.checks import check

pytestmark = pytest.mark.slow

START = 1_700_000_000
VARIANTS = ["blue", "control", "green"]


@pytest.fixture
def files(tmp_path):
    """600 exposures of 500 units and 300 orders, some of them of units that were never exposed."""
    rng = np.random.default_rng(3)
    times = np.sort(rng.integers(0, 50 * 86400, 600))
    units = rng.integers(0, 500, 600)
    shown = ["unit,time,variant"]
    shown += [f"u{u},{START + t},{VARIANTS[u % 3]}" for u, t in zip(units, times, strict=True)]
    bought = ["unit,time,value,order"]
    for number in range(300):
        unit, at = rng.integers(0, 550), START + rng.integers(0, 60 * 86400)
        bought.append(f"u{unit},{at},{rng.integers(1, 90)},o{number}")
    exposures, orders = tmp_path / "exposures.csv", tmp_path / "orders.csv"
    exposures.write_text("\n".join(shown) + "\n")
    orders.write_text("\n".join(bought) + "\n")
    return str(exposures), str(orders)


def conversions(button):
    return {arm["arm"]: (arm["pulls"], arm["conversions"]) for arm in button.report()["arms"]}


def expected(files):
    """As `analyse` counts the same files."""
    events = read_events(*files, window="30d", credit="first")
    return {
        arm.name: (arm.decisions, int(np.isfinite(arm.within(events.window)[1]).sum()))
        for arm in events.arms
    }


@pytest.fixture
def after(clock):
    clock.now = START + 90 * 86400.0
    return clock


def told(shop, files):
    return shop.import_history("checkout", *files, window="30d", scale=500)


def test_history_then_live(shop, after, files):
    made = told(shop, files)
    assert (made.repeated, made.too_old, made.refused) == (600 - made.exposures, 0, 0)
    button = shop.open("checkout")
    assert conversions(button) == expected(files)
    again = told(shop, files)
    assert (again.exposures, again.orders, again.duplicates) == (0, 0, 300)
    assert again.unmatched == made.unmatched == button.report()["orders"]["unmatched"]
    assert conversions(button) == expected(files)
    shown = Path(files[0]).read_text().splitlines()[1].split(",")[0]
    assert button.decide(unit=shown).duplicate  # keeps its arm
    for number in range(50):
        after.now += 60
        button.decide(unit=f"new {number}")
        button.convert(unit=f"new {number}", order=f"n{number}", value=5)
    assert check(shop.store)["wrong"] == []
    total = sum(pulls for pulls, _ in conversions(button).values())
    assert total == made.exposures + 50
    with pytest.raises(live.ConflictError):
        shop.import_history("checkout", *files, window="7d")


@pytest.mark.parametrize("at", [1, 2, 4, 7, 9])
def test_interrupted(address, after, files, monkeypatch, at):
    """Whatever was written stays, and the next import does the rest."""
    monkeypatch.setattr(importing, "EXPOSURES_AT_A_TIME", 100)
    monkeypatch.setattr(importing, "ORDERS_AT_A_TIME", 70)
    with live.open(address, clock=after) as shop:
        commit = type(shop.store).commit
        left = [at + 1]  # the first makes the experiment

        def stop(store):
            left[0] -= 1
            if left[0] < 0:
                raise KeyboardInterrupt
            commit(store)

        with monkeypatch.context() as patch:
            patch.setattr(type(shop.store), "commit", stop)
            with pytest.raises(KeyboardInterrupt):
                told(shop, files)
    with live.open(address, clock=after) as shop:
        told(shop, files)
        assert conversions(shop.open("checkout")) == expected(files)
        assert check(shop.store)["wrong"] == []


def test_older_than_what_is_there(shop, after, files):
    told(shop, files)
    more = files[0].replace("exposures", "more")
    Path(more).write_text(f"unit,time,variant\nlate,{START + 5},blue\n")
    made = shop.import_history("checkout", more, files[1])
    assert (made.exposures, made.too_old) == (0, 1)


def test_killed(tmp_path):
    """kill -9 while it writes; `python -m bench.torture` does it twenty times."""
    files, wanted = written(tmp_path, exposures=6000, orders=1500, seed=1)
    db = str(tmp_path / "shop.db")
    grown = killed_imports(db, files, kills=3, seed=1, pieces=(500, 100))
    assert grown[0] < 7500  # something was cut short
    assert wrong_with(db, files, wanted) == []
