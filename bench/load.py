"""Load for a server: requests, and so many of them per second."""

from __future__ import annotations

import asyncio
import itertools
import random
import time
from collections import deque
from collections.abc import Coroutine
from typing import Any, NamedTuple

import numpy as np
import uvloop
from server_process import Connection, ServerProcess, post

from bench.closed_loop import Request

__all__ = [
    "Latencies",
    "Request",
    "ServerProcess",
    "at_rate",
    "decisions",
    "nothing",
]

EXPERIMENT, ARMS = "bench", ["blue", "green", "red"]
DECISIONS, CONVERSIONS = (
    f"/v1/experiments/{EXPERIMENT}/decisions",
    f"/v1/experiments/{EXPERIMENT}/conversions",
)
CREATED = (200, 201)


def decisions() -> Request:
    """Decisions, each with a key of its own, at random as clients make them: in the index they are
    neighbours of nothing."""
    bits = random.SystemRandom().getrandbits(64) | 1
    keys = itertools.count(bits, 0x9E3779B97F4A7C15)
    return lambda: post(
        DECISIONS, b'{"key":"%016x-%016x"}' % (next(keys) & 0xFFFFFFFFFFFFFFFF, bits)
    )


def nothing() -> bytes:
    return NOTHING


NOTHING = post("/v1/nothing", b"")


def run(work: Coroutine[Any, Any, Any]) -> Any:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(work)


class Latencies(NamedTuple):
    """In milliseconds, from when the request should have been sent to its answer."""

    decisions: np.ndarray[Any, np.dtype[np.float64]]
    conversions: np.ndarray[Any, np.dtype[np.float64]]


def at_rate(
    port: int, clients: int, seconds: float, per_second: int, conversions: int
) -> Latencies:
    """Send ``per_second`` decisions and ``conversions`` at even intervals, whether or not earlier
    ones are answered."""
    return run(_open(port, clients, seconds, per_second, conversions))


async def _open(
    port: int, clients: int, seconds: float, per_second: int, per_second_conversions: int
) -> Latencies:
    chance, decide = random.Random(1), decisions()
    idle: list[Connection] = []
    late: deque[tuple[bytes, tuple[float, bool]]] = deque()
    ids: list[bytes] = []
    latencies: tuple[list[float], list[float]] = ([], [])
    bad: list[bytes] = []

    def answered(connection: Connection, status: int, body: bytes) -> None:
        due, converts = connection.waiting
        connection.waiting = None
        latencies[converts].append(1000 * (time.perf_counter() - due))
        if status not in CREATED:
            bad.append(b"%d " % status + body)
        elif not converts:
            begin = body.index(b'"id":"') + 6
            ids.append(body[begin : body.index(b'"', begin)])
        if late:
            connection.send(*late.popleft())
        else:
            idle.append(connection)

    idle += [await Connection.open(port, answered) for _ in range(clients)]
    everyone = list(idle)
    schedule = sorted(
        [(j / per_second, False) for j in range(int(seconds * per_second))]
        + [
            ((j + 0.5) / per_second_conversions, True)
            for j in range(int(seconds * per_second_conversions))
        ]
    )
    began = time.perf_counter() + 0.1
    for offset, converts in schedule:
        due = began + offset
        ahead = due - time.perf_counter()
        if ahead > 0:
            await asyncio.sleep(ahead)
        if converts:
            if not ids:
                continue
            place = chance.randrange(len(ids))
            ids[place], ids[-1] = ids[-1], ids[place]
            request = post(CONVERSIONS, b'{"id":"%s"}' % ids.pop())
        else:
            request = decide()
        if idle:
            idle.pop(0).send(request, (due, converts))  # in turn: none is idle for long
        else:
            late.append((request, (due, converts)))
    while len(idle) < len(everyone) and not bad:
        await asyncio.sleep(0.01)
    for connection in everyone:
        connection.close()
    if bad:
        raise RuntimeError(f"the server refused: {bad[0]!r}")
    return Latencies(np.array(latencies[0]), np.array(latencies[1]))
