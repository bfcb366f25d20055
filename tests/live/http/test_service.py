"""What every answer stands on: threads for reading, and looks at the keys that nothing holds up."""

from __future__ import annotations

import asyncio
import time

import pytest

from patientbandits import live
from patientbandits.live.http import service
from patientbandits.live.http.messages import ProblemError
from patientbandits.live.http.service import Options, Service
from patientbandits.live.server import Writer


@pytest.fixture
def made(fresh, clock):
    with live.open(fresh("sqlite"), clock=clock) as shop:
        yield Service(shop, Options(), failed=lambda: None)


async def started(made, play):
    await made.start(Writer(made.shop, 100, lambda: None))
    try:
        return await play()
    finally:
        await made.stop()


def test_many_who_ask_at_once_whether_it_is_ready_are_told_the_same(made, monkeypatch):
    asked = []

    def slow():
        asked.append(True)
        time.sleep(0.2)

    async def play():
        await asyncio.gather(*(made.ask_database() for _ in range(1000)))

    monkeypatch.setattr(made, "_ping", slow)
    asyncio.run(started(made, play))
    assert len(asked) == 1


def test_too_many_reports_are_refused_and_do_not_hold_up_the_keys(made, monkeypatch):
    monkeypatch.setattr(service, "KEYS_EVERY", 0.05)
    loaded = []

    async def play():
        monkeypatch.setattr(made.keyring, "load", lambda: loaded.append(True))
        reports = [made.aside(lambda: time.sleep(0.02)) for _ in range(300)]
        answers = await asyncio.gather(*reports, return_exceptions=True)
        return [answer for answer in answers if isinstance(answer, ProblemError)]

    refused = asyncio.run(started(made, play))
    assert abs(len(refused) - (300 - service.MOST_ASIDE)) <= 1, "what reads the logs counts too"
    assert all(error.status == 503 for error in refused)
    assert loaded


def test_looking_at_the_keys_goes_on_whatever_happens(made, monkeypatch):
    monkeypatch.setattr(service, "KEYS_EVERY", 0.01)
    tries = []

    def broken():
        tries.append(True)
        raise RuntimeError("anything")

    async def play():
        monkeypatch.setattr(made.keyring, "load", broken)
        while len(tries) < 3:
            await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(started(made, play), 30))


def test_keys_are_looked_at_while_every_reader_is_busy(made, monkeypatch):
    monkeypatch.setattr(service, "KEYS_EVERY", 0.05)
    loaded = []

    async def play():
        monkeypatch.setattr(made.keyring, "load", lambda: loaded.append(True))
        reports = [made.aside(lambda: time.sleep(1.0)) for _ in range(2 * service.READERS)]
        under_way = asyncio.gather(*reports)
        await asyncio.sleep(0.1)
        loaded.clear()
        await asyncio.sleep(0.5)
        seen = len(loaded)
        await under_way
        return seen

    assert asyncio.run(started(made, play)) >= 1
