"""PostgreSQL is away for a while, under load: what was acknowledged, and what came after."""

from __future__ import annotations

import threading
import time
from collections import Counter
from typing import Any, NamedTuple

from patience import PATIENCE, eventually
from server_process import ServerProcess

EXPERIMENT = {"name": "a", "arms": ["x", "y"], "policy": "UCB1"}
DECISIONS = "/v1/experiments/a/decisions"
CONVERSIONS = "/v1/experiments/a/conversions"
CLIENTS = 8


class Outage(NamedTuple):
    alive: bool
    """whether the service was still there at its end"""
    back: float
    """seconds from the database's return till the service was ready"""
    since: int
    """decisions acknowledged after that"""
    acknowledged: int
    lost: int
    statuses: Counter[int]


def outage(database: Any, server: ServerProcess, seconds: float) -> Outage:
    """``database`` is killed under load, and back after so many seconds."""
    assert server.ask("POST", "/v1/experiments", EXPERIMENT)[0] == 201
    ids: list[str] = []
    statuses: Counter[int] = Counter()
    over = threading.Event()

    def client(number: int) -> None:
        turn = 0
        while not over.is_set():
            turn += 1
            status, answer = server.ask("POST", DECISIONS, {"key": f"{number}-{turn}"})
            statuses[status] += 1
            if status == 201:
                ids.append(answer["id"])
            else:
                time.sleep(0.1)

    threads = [threading.Thread(target=client, args=(number,)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    eventually(lambda: len(ids) > 10 * CLIENTS)
    database.kill()
    time.sleep(seconds)
    eventually(lambda: server.process.poll() is not None or statuses[503] > CLIENTS)
    before = len(ids)
    alive = server.process.poll() is None
    database.start()
    began = time.monotonic()
    while server.ask("GET", "/readyz")[0] != 200 and time.monotonic() - began < PATIENCE:
        time.sleep(0.1)
    back = time.monotonic() - began
    if server.process.poll() is None:
        eventually(lambda: len(ids) > before + CLIENTS)
    over.set()
    for thread in threads:
        thread.join()
    told = [server.ask("POST", CONVERSIONS, {"id": id})[0] for id in ids]
    return Outage(
        alive=alive,
        back=back,
        since=len(ids) - before,
        acknowledged=len(ids),
        lost=sum(status != 201 for status in told),
        statuses=statuses,
    )
