"""Traffic whose answers are remembered, and what must be found in the log for it."""

from __future__ import annotations

import random
from collections.abc import Sized
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from patientbandits.live.log.records import Line
from patientbandits.live.operations.checks import remembered
from patientbandits.live.policy.state import PolicyState
from patientbandits.live.shop import Shop
from patientbandits.live.storage.sqlite import SQLiteStore

EXPERIMENT, ARMS = "checkout", ["blue", "green", "red"]


class Acknowledged(NamedTuple):
    """An answer, and how much the disk had done when it came."""

    when: int
    key: str
    id: str
    arm: str
    value: float | None
    """None: a decision; else its conversion"""


def ids(shop: Shop) -> dict[str, tuple[str, str]]:
    """Of each key, as it is in the log: (id, arm). None twice."""
    number = shop.open(EXPERIMENT).experiment.id
    rows = shop.store.rows(
        "SELECT key, seq, arm FROM log WHERE experiment = ? AND kind = 'decision'", number
    )
    assert len({key for key, *_ in rows}) == len(rows), "a decision is doubled"
    return {key: (shop.journal.signer.name(number, seq), ARMS[arm]) for key, seq, arm in rows}


def conversions(shop: Shop) -> dict[str, float]:
    """Of each converted key, as it is in the log: the value. None twice."""
    rows = shop.store.rows(
        "SELECT d.key, c.value FROM log c JOIN log d "
        "ON d.experiment = c.experiment AND d.seq = c.decision WHERE c.kind = 'conversion'"
    )
    assert len({key for key, _ in rows}) == len(rows), "a conversion is doubled"
    return {key: value / 1e6 for key, value in rows}


def lost(shop: Shop, acknowledged: list[Acknowledged]) -> list[Acknowledged]:
    """The answers that the log does not bear out."""
    if not acknowledged:
        return []
    if shop.store.experiment(EXPERIMENT) is None:
        return acknowledged
    decided = ids(shop)
    converted = conversions(shop)
    found = []
    for answer in acknowledged:
        key = shop.journal.names.key(answer.key)
        untold = answer.value is not None and converted.get(key) != answer.value
        if untold or decided.get(key) != (answer.id, answer.arm):
            found.append(answer)
    return found


def whole(shop: Shop) -> list[Line]:
    """The log, which must have no gap; the file, which must be sound; the state, which must be
    that of the log alone."""
    assert shop.store.check() == []
    found = shop.store.experiment(EXPERIMENT)
    if found is None:
        return []
    log = shop.store.lines(found.id, 0)
    assert [line.seq for line in log] == list(range(1, len(log) + 1))
    quick, slow = PolicyState(shop.store, found), PolicyState(shop.store, found, use_snapshot=False)
    assert quick.different == slow.different == 0
    for one, other in zip(
        remembered(quick),
        remembered(slow),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)
    return log


def traffic(
    shop: Shop, clients: int, each: int, when: Sized, answers: list[Acknowledged], seed: int = 1
) -> None:
    """``clients`` threads decide ``each`` times, with keys, and convert some; ``answers`` holds
    what was answered, even if it raises.

    when  its length is the time
    """
    experiment = shop.experiment(EXPERIMENT, ARMS, seed=1)

    def client(number: int) -> None:
        chance = random.Random(seed * 1000 + number)
        for j in range(each):
            key = f"{number}-{j}"
            decision = experiment.decide(key=key)
            answers.append(Acknowledged(len(when), key, decision.id, decision.arm, None))
            if chance.random() < 0.4:
                value = round(chance.random(), 3)
                experiment.convert(decision.id, value)
                answers.append(Acknowledged(len(when), key, decision.id, decision.arm, value))

    if clients == 1:
        client(0)
    else:
        with ThreadPoolExecutor(clients) as pool:
            for done in [pool.submit(client, number) for number in range(clients)]:
                done.result()


def shrink_wal(shop: Shop, pages: int) -> None:
    """Checkpoint often, so that a short test sees many."""
    assert isinstance(shop.store, SQLiteStore)
    shop.store.connection.pragma("wal_autocheckpoint", pages)
