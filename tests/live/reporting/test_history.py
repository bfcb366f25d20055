"""Long histories in groups: `analyse` finds the same, and the room does not grow."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from patientbandits import live
from patientbandits.analysis import analyse
from patientbandits.analysis.comparison import paid_values, slots_of
from patientbandits.analysis.events.history import Events
from patientbandits.live.reporting import history
from patientbandits.live.reporting.history import DecisionGroups, DecisionRows, arm_history
from patientbandits.live.storage import base

DAY = 86400.0
WINDOW = 3 * DAY
ARMS = ("control", "blue")


def drawn(number, rng, days=10.0):
    """Decisions of two arms; blue converts more often and later, what is paid varies."""
    arms = rng.integers(0, 2, number)
    ages = np.sort(rng.uniform(0, days * DAY, number))[::-1]
    rate = np.where(arms == 1, 0.15, 0.1)
    delay = rng.exponential(np.where(arms == 1, DAY, DAY / 4))
    seen = (rng.random(number) < rate) & (delay <= ages)
    paid = np.where(seen, rng.integers(1, 1_000_000, number), 0).astype(float)
    return DecisionRows(
        arms=arms,
        days=np.floor(20_000 - ages / DAY).astype(np.int64),
        ages=ages,
        delays=np.where(seen, delay, np.inf),
        counts=np.ones(number),
        paid=paid,
        propensities=np.full(number, 0.5),
    )


def events(rows):
    histories = tuple(arm_history(name, rows, arm, 100.0) for arm, name in enumerate(ARMS))
    return Events(arms=histories, control="control", end=20_000 * DAY, window=WINDOW, valued=True)


def grouped(parts):
    groups = DecisionGroups(WINDOW)
    for part in parts:
        groups.add(part)
    return groups.rows


def test_analyse_finds_the_same_in_groups():
    rows = drawn(120_000, np.random.default_rng(1))
    few = grouped([rows])
    assert len(few.arms) < 20_000
    one = analyse(events(rows), by="revenue")
    whole = events(rows)
    counted = replace(events(few), slots=slots_of(whole), values=paid_values(whole))
    other = analyse(counted, by="revenue")
    for name in ARMS:
        exact, found = one.arms[name], other.arms[name]
        for count in ("decisions", "conversions", "matured_decisions", "matured_conversions"):
            assert getattr(found, count) == getattr(exact, count), count
        assert found.order_value == pytest.approx(exact.order_value, rel=1e-6)
        assert found.rate == pytest.approx(exact.rate, rel=2e-3)
        assert found.low == pytest.approx(exact.low, rel=5e-3)
        assert found.revenue.high == pytest.approx(exact.revenue.high, rel=5e-3)
        assert found.to_come == pytest.approx(exact.to_come, rel=2e-2)
    assert [row.leader for row in other.windows] == [row.leader for row in one.windows]
    for exact, found in zip(one.windows, other.windows, strict=True):
        for mine, theirs in zip(exact.arms, found.arms, strict=True):
            assert theirs.rate == pytest.approx(mine.rate, rel=2e-3)
    for exact, found in zip(one.cohorts, other.cohorts, strict=True):
        assert (found.arm, found.day, found.decisions) == (exact.arm, exact.day, exact.decisions)
        assert found.conversions == exact.conversions
        assert found.expected == pytest.approx(exact.expected, rel=1e-2)
    assert other.verdict.leader == one.verdict.leader
    assert other.verdict.probability == pytest.approx(one.verdict.probability, abs=0.01)


def test_a_short_history_is_not_grouped():
    rows = drawn(1000, np.random.default_rng(2))
    found = grouped([rows])
    assert all(np.array_equal(a, b) for a, b in zip(found, rows, strict=True))
    assert events(found).arms[0].group_sizes is None


def test_the_room_does_not_grow_with_the_history():
    """Ten times as many decisions in the same days: hardly more rows."""
    rng = np.random.default_rng(3)
    sizes = []
    for stretches in (5, 50):
        found = grouped(drawn(60_000, rng) for _ in range(stretches))
        assert found.counts.sum() == 60_000 * stretches
        sizes.append(len(found.arms))
    assert sizes[1] < 2 * sizes[0]


def test_a_live_log_read_in_stretches_and_groups(tmp_path, clock, monkeypatch):
    """The same answers, whether it is read at once or in pieces that are then joined."""
    rng = np.random.default_rng(4)
    with live.open(str(tmp_path / "shop.db"), clock=clock) as shop:
        button = shop.experiment(
            "button", list(ARMS), policy="Uniform", window="3d", seed=3, largest_value=100
        )
        for number in range(400):
            clock.now += DAY / 60
            made = button.decide(unit=f"u{number}")
            if rng.random() < 0.4:
                clock.now += 1
                button.convert(made.id, float(rng.integers(1, 100)))
            if number % 7 == 0:
                button.convert(unit=f"u{number}", order=f"o{number}", value=3.0)
        button.quarantine(unit="u20")
        before = button.analysis()
        report = button.report()
        monkeypatch.setattr(base, "LINES_IN_A_RANGE", 37)
        assert button.analysis() == before
        assert button.report() == report
        monkeypatch.setattr(history, "MOST_SINGLE", 50)
        after = button.analysis()
        with shop.store.reading() as reader:
            rows = history.events_of(reader, button.experiment, button.settings, shop.journal.now())
    assert rows.arms[0].group_sizes is not None
    assert rows.decisions == 399
    assert after["verdict"]["leader"] == before["verdict"]["leader"]
    for exact, found in zip(before["cohorts"], after["cohorts"], strict=True):
        assert {**found, "expected": 0} == {**exact, "expected": 0}
        assert found["expected"] == pytest.approx(exact["expected"], rel=0.02)
