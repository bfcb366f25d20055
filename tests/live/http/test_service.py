"""What every answer stands on: threads for reading, and looks at the keys that nothing holds up."""

from __future__ import annotations

import asyncio
import threading

import pytest
from patience import PATIENCE, eventually_async

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
    go_on = threading.Event()

    def slow():
        asked.append(True)
        assert go_on.wait(PATIENCE)

    async def play():
        everybody = [asyncio.create_task(made.ask_database()) for _ in range(1000)]
        await eventually_async(lambda: asked)
        for _ in range(10):  # by now all of them have asked
            await asyncio.sleep(0)
        go_on.set()
        await asyncio.gather(*everybody)

    monkeypatch.setattr(made, "_ping", slow)
    asyncio.run(started(made, play))
    assert len(asked) == 1


def test_too_many_reports_are_refused_and_do_not_hold_up_the_keys(made, monkeypatch):
    monkeypatch.setattr(service, "KEYS_EVERY", 0.05)
    loaded = []
    go_on = threading.Event()

    async def play():
        monkeypatch.setattr(made.keyring, "load", lambda: loaded.append(True))
        reports = [asyncio.create_task(made.aside(go_on.wait)) for _ in range(300)]
        await eventually_async(lambda: loaded)
        go_on.set()
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

    asyncio.run(asyncio.wait_for(started(made, play), 120))


def test_keys_are_looked_at_while_every_reader_is_busy(made, monkeypatch):
    monkeypatch.setattr(service, "KEYS_EVERY", 0.05)
    loaded = []
    reading = []
    go_on = threading.Event()

    def read():
        reading.append(True)
        assert go_on.wait(PATIENCE)

    async def play():
        monkeypatch.setattr(made.keyring, "load", lambda: loaded.append(True))
        reports = [made.aside(read) for _ in range(2 * service.READERS)]
        under_way = asyncio.gather(*reports)
        await eventually_async(lambda: len(reading) >= service.READERS)
        loaded.clear()
        await eventually_async(lambda: len(loaded) > 1)
        assert len(reading) == service.READERS, "nobody was free meanwhile"
        go_on.set()
        await under_way

    asyncio.run(started(made, play))
