"""Decisions made column by column are those that are made one by one."""

from __future__ import annotations

import random

import pytest
from msgspec.structs import replace

from patientbandits import live
from patientbandits.live.commands import journal
from patientbandits.live.commands.plain_decisions import decided_plainly
from patientbandits.live.log.chain import LineRow, chained, chained_decisions
from patientbandits.live.log.records import DecisionColumns

ARMS = ["a", "b", "c"]


def some_columns(chance: random.Random, number: int) -> DecisionColumns:
    names = [None, "ann", 'q"uo,te', "ünï", "%s %d", "[null,null]", "\\"]
    first = chance.randrange(1, 10**9)
    return DecisionColumns(
        experiment=chance.randrange(1, 100),
        time=chance.randrange(10**16),
        seqs=range(first, first + number),
        arms=[chance.randrange(5) for _ in range(number)],
        propensities=[
            chance.choice([None, 1.0, chance.random(), 1e-17, 1 / 3]) for _ in range(number)
        ],
        units=[chance.choice(names) for _ in range(number)],
        keys=[chance.choice(names) for _ in range(number)],
    )


def test_chained_as_lines_are() -> None:
    chance = random.Random(5)
    for number in (1, 2, 64) * 20:
        columns = some_columns(chance, number)
        before = chance.choice([b"", chance.randbytes(16), chance.randbytes(20)])
        lines = [
            LineRow(columns.experiment, seq, "decision", columns.time, *others)
            for seq, *others in zip(*columns[2:], strict=True)
        ]
        one_by_one = chained(lines, before)
        assert chained_decisions(columns, before) == [row[-1] for row in one_by_one]


def played(address, clock, monkeypatch, plainly, **settings):
    """(answers, log, how many batches were plain) of the same requests, carried out either way."""
    counts = {True: 0, False: 0}

    def way(*arguments):
        found = plainly and decided_plainly(*arguments)
        counts[found] += 1
        return found

    monkeypatch.setattr(journal, "decided_plainly", way)
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
    plain = played(fresh("sqlite"), clock, monkeypatch, True, **settings)
    other = played(fresh("sqlite"), clock, monkeypatch, False, **settings)
    assert plain[0] == other[0]
    assert plain[1] == other[1]
    assert other[2][True] == 0
    if "control" not in settings:
        assert plain[2][True] >= 20
        assert plain[2][False] >= 10


def test_both_stores_write_the_same(fresh, clock, monkeypatch):
    plain = played(fresh("sqlite"), clock, monkeypatch, True, sticky=True)
    other = played(fresh("postgres"), clock, monkeypatch, True, sticky=True)
    assert plain == other
