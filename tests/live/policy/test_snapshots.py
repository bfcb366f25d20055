"""Snapshots: a flipped bit is found, and none is ever taken for a memory."""

from __future__ import annotations

import random

import pytest
from folds import equal, running, same
from histories import busy

from patientbandits import live
from patientbandits.live.log.records import Snapshot
from patientbandits.live.operations.checks import check
from patientbandits.live.policy.state import PolicyState
from patientbandits.policies.parts import late_counts

FLIPS = 60


def flipped(data: bytes, bit: int) -> bytes:
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


@pytest.fixture
def saved(fresh, clock):
    """A shop whose experiment has a snapshot, and the state that it has."""
    path = fresh("sqlite")
    with live.open(path, clock=clock) as shop:
        button, _ = busy(shop, clock)
        expected = running(button)
    with live.open(path, clock=clock) as shop:
        yield shop, expected


def test_a_snapshot_with_joined_pulls_goes_on_as_the_whole_log(fresh, clock, monkeypatch):
    """Pulls are joined before it is taken and after; the policy decides as it would have."""
    monkeypatch.setattr(late_counts, "RECENT", 16)
    monkeypatch.setattr(late_counts, "JOINED_AT_ONCE", 4)
    path = fresh("sqlite")
    with live.open(path, clock=clock) as shop:
        busy(shop, clock)
    with live.open(path, clock=clock) as shop:
        button = shop.open("button")
        button.change(paused=False)
        before = running(button).memory.arrays.marks[late_counts.BUNCHES_USED]
        for number in range(100):
            clock.now += 5.0
            button.decide(key=f"later {number}")
        assert running(button).saved > 0
        assert running(button).memory.arrays.marks[late_counts.BUNCHES_USED] > before > 0
        assert same(button)


def store(shop, snapshot):
    with shop.store.transaction():
        shop.store.save_snapshot(1, snapshot)


def test_a_good_snapshot_is_used(saved, monkeypatch):
    shop, expected = saved
    monkeypatch.setattr(PolicyState, "_restart", None)  # would fail
    equal(PolicyState(shop.store, expected.experiment), expected)


@pytest.mark.parametrize("part", ["mark", "seal", "memory", "seq", "code"])
def test_a_flipped_bit_is_found_and_not_used(saved, part):
    shop, expected = saved
    good = shop.store.snapshot(1)
    chance = random.Random(part)
    for _ in range(FLIPS if part == "memory" else 5):
        bad = damaged(good, part, chance)
        store(shop, bad)
        equal(PolicyState(shop.store, expected.experiment), expected)
        wrong = check(shop.store)["wrong"]
        if part != "mark":  # then it is as one of an earlier version: not used
            assert any("damaged" in finding for finding in wrong), wrong
    store(shop, good)
    assert check(shop.store)["wrong"] == []


def damaged(good: Snapshot, part: str, chance: random.Random) -> Snapshot:
    if part == "seq":
        return good._replace(seq=good.seq - chance.randrange(1, 5))
    if part == "code":
        return good._replace(code=good.code[::-1])
    first, last = {"mark": (0, 13), "seal": (13, 45), "memory": (45, len(good.state))}[part]
    return good._replace(state=flipped(good.state, chance.randrange(8 * first, 8 * last)))


def test_the_snapshot_of_another_experiment_is_not_used(saved, clock):
    shop, _ = saved
    other = shop.experiment("other", ["blue", "=1+1"], window=100.0)
    other.decide()
    with shop.store.transaction():
        shop.store.save_snapshot(other.experiment.id, shop.store.snapshot(1))
    assert PolicyState(shop.store, other.experiment).memory.made == 1
