"""SIGKILL under load, again and again: clients keep what was acknowledged, and repeat the rest."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import msgspec
from server_process import Connection, ServerProcess, post
from workload import ARMS, EXPERIMENT, Acknowledged

DECISIONS, CONVERSIONS = (
    f"/v1/experiments/{EXPERIMENT}/decisions",
    f"/v1/experiments/{EXPERIMENT}/conversions",
)


class Client:
    """Decides with a key of its own each time and converts some; a request without an answer is
    sent again, as it was, until it has one."""

    def __init__(self, number: int, seed: int, answers: list[Acknowledged]) -> None:
        self.number, self.answers = number, answers
        self._chance = random.Random(f"{seed}/{number}")
        self._sent, self._cycle = 0, 0
        self._open: tuple[bytes, Any] | None = None
        self.repeated = 0
        self.refused = 0
        self.over = False
        self._port = 0

    @property
    def done(self) -> bool:
        """Whether nothing is left to be answered, once it is over."""
        return self._open is None

    async def start(self, port: int, cycle: int) -> None:
        self._cycle = cycle
        self._port = port
        self.connection = connection = await Connection.open(port, self._answered)
        self.repeated += self._open is not None
        self._next(connection)

    def _next(self, connection: Connection) -> None:
        if self._open is None:
            self._sent += 1
            key = f"{self.number}-{self._sent}"
            self._open = (
                post(DECISIONS, msgspec.json.encode({"key": key})),
                Acknowledged(0, key, "", "", None),
            )
        connection.send(*self._open)

    def _answered(self, connection: Connection, status: int, body: bytes) -> None:
        about: Acknowledged = connection.waiting
        connection.waiting = None
        if status == 0:
            return  # killed
        if status not in (200, 201):
            raise AssertionError(f"{status} {body!r}")
        self._open = None
        if about.value is None:
            made = msgspec.json.decode(body)
            about = Acknowledged(self._cycle, about.key, made["id"], made["arm"], None)
            if self._chance.random() < 0.4:
                value = round(self._chance.random(), 3)
                request = post(CONVERSIONS, msgspec.json.encode({"id": about.id, "value": value}))
                self._open = request, about._replace(value=value)
        self.answers.append(about._replace(when=self._cycle))
        if self._open is not None or not self.over:
            self._next(connection)


def kills(
    db: str, cycles: int, clients: int = 8, seed: int = 1, longest: float = 0.4
) -> tuple[list[Acknowledged], list[float], int]:
    """Start, load, kill, ``cycles`` times; (what was acknowledged, seconds until ready at each
    restart, requests repeated)"""
    chance, answers, ready = random.Random(seed), list[Acknowledged](), list[float]()
    all_clients = [Client(number, seed, answers) for number in range(clients)]

    async def load(server: ServerProcess, cycle: int) -> None:
        await asyncio.gather(*(client.start(server.port, cycle) for client in all_clients))
        await asyncio.sleep(chance.uniform(0.02, longest))
        server.kill()
        await asyncio.sleep(0)

    for cycle in range(cycles):
        server = ServerProcess(db)
        try:
            if cycle == 0:
                status, _ = server.ask(
                    "POST", "/v1/experiments", {"name": EXPERIMENT, "arms": ARMS, "seed": 1}
                )
                assert status == 201
            else:
                ready.append(server.ready)
            asyncio.run(load(server, cycle))
        finally:
            if server.process.poll() is None:
                server.kill()
    return answers, ready, sum(client.repeated for client in all_clients)
