"""Decisions of a batch that are carried out and stored in bulk are those made one by one."""

from __future__ import annotations

import random

import pytest
from msgspec.structs import replace

from patientbandits import live
from patientbandits.live.log.chain import decision_columns
from patientbandits.live.log.records import OpenDecision
from patientbandits.live.policy.memory import PolicyMemory
from patientbandits.live.storage import base

ARMS = ["a", "b", "c"]


def decide_one_by_one(memory, first, number, time):
    """As `PolicyMemory.decide`, with a record for each."""
    lines = [OpenDecision(experiment=1, seq=seq, time=time) for seq in range(first, first + number)]
    return memory.apply([memory.decision(line) for line in lines], deciding=True)[0]


def played(address, clock, monkeypatch, bulk, **settings):
    """(answers, log, appends in bulk and others) of the same requests, either way."""
    counts = {True: 0, False: 0}

    def columns(lines):
        found = decision_columns(lines) if bulk else None
        counts[found is not None] += 1
        return found

    monkeypatch.setattr(base, "decision_columns", columns)
    if not bulk:
        monkeypatch.setattr(PolicyMemory, "decide", decide_one_by_one)
    clock.now = 1_700_000_000.0
    chance = random.Random(11)
    answers = []
    with live.open(address, clock=clock, units="clear") as shop:
        button = shop.experiment("button", arms=ARMS, seed=7, **settings)
        for turn in range(60):
            clock.now += chance.random() * 100
            names = [f"{turn}-{j}" for j in range(chance.randrange(1, 130))]
            commands = [
                button.decide_command(
                    unit=chance.choice([None, name, f"old {chance.randrange(50 + 300 * turn)}"]),
                    key=chance.choice([None, name]),
                )
                for name in names
            ]
            if turn % 3 == 0:
                commands = [button.decide_command(key=name) for name in names]
            shop.journal.execute(commands)
            answers += [(one.outcome[1:], str(one.error)) for one in commands]
            if turn % 5 == 0 and commands[0].outcome.id:
                button.convert(commands[0].outcome.id)
        with shop.store.reading() as reader:
            lines = reader.lines(button.experiment.id, 1)
            assert reader.broken_chain(button.experiment.id) is None
    return answers, [replace(line, chain=line.chain[16:]) for line in lines], counts


@pytest.mark.parametrize(
    "settings",
    [
        {"sticky": False},
        {"sticky": True},
        {"sticky": False, "policy": "Uniform"},
        {"sticky": False, "shares": {"minimum": 0.1}},
        {"sticky": False, "shares": {"control": 0.2}, "control": "a"},
    ],
    ids=["plain", "sticky", "uniform", "shares", "control"],
)
def test_the_same_log_either_way(fresh, clock, monkeypatch, settings):
    bulk = played(fresh("sqlite"), clock, monkeypatch, True, **settings)
    other = played(fresh("sqlite"), clock, monkeypatch, False, **settings)
    assert bulk[0] == other[0]
    assert bulk[1] == other[1]
    assert other[2][True] == 0
    assert bulk[2][True] >= 20
    assert bulk[2][False] >= 10


def test_both_stores_write_the_same(fresh, clock, monkeypatch):
    one = played(fresh("sqlite"), clock, monkeypatch, True, sticky=True)
    other = played(fresh("postgres"), clock, monkeypatch, True, sticky=True)
    assert one == other
