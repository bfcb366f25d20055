"""From many requests to few commits."""

from __future__ import annotations

import asyncio
import time
from statistics import median

import pytest

from patientbandits import live
from patientbandits.live.http.messages import ProblemError
from patientbandits.live.server import Writer


def test_one_who_waits_no_more_or_fails_holds_up_nobody(fresh, clock):
    """A connection that was closed meanwhile once ended the writer, and all waited for ever."""

    def fail(_):
        raise RuntimeError("the transport is closed")

    async def play(shop):
        writer = Writer(shop, 10, failed=lambda: None)
        decide = shop.open("button").decide_command
        asyncio.get_running_loop().set_exception_handler(lambda *_: None)
        writer.carry_out([decide()]).add_done_callback(fail)
        writer.carry_out([decide()]).cancel()
        made = await asyncio.wait_for(writer.outcome(decide()), 120)
        made = await asyncio.wait_for(writer.outcome(decide()), 120)
        await writer.close()
        return made

    with live.open(fresh("sqlite"), clock=clock) as shop:
        shop.experiment("button", ["a", "b"], policy="UCB1")
        assert asyncio.run(play(shop)).arm in ("a", "b")


def test_many_clients_become_one_batch(fresh, clock, monkeypatch):
    """Who was answered comes back at once: two halves would wait for each other's commits."""
    clients = 40
    sizes = []

    def execute(commands):
        time.sleep(0.002)
        sizes.append(len(commands))
        for command in commands:
            command.outcome = True

    async def load(shop, handle):
        writer = Writer(shop, 1000, lambda: None)
        await writer.prepared()
        monkeypatch.setattr(shop.journal, "execute", execute)
        loop = asyncio.get_running_loop()

        def come_back():
            if len(sizes) < 9:
                answered = writer.carry_out((command(),))
                answered.add_done_callback(lambda _: loop.call_soon(come_back))

        def command():
            return handle.decide_command()

        for place in range(clients):
            loop.call_later(0.002 * (place % 2), come_back)
        while len(sizes) < 9:
            await asyncio.sleep(0.01)
        await writer.close()

    with live.open(fresh("sqlite"), clock=clock) as shop:
        handle = shop.experiment("button", ["a", "b"], policy="Uniform")
        asyncio.run(load(shop, handle))
    assert median(sizes[3:9]) > 0.9 * clients


def test_no_more_commands_wait_than_may(fresh, clock):
    async def play(shop):
        writer = Writer(shop, 3, failed=lambda: None)
        decide = shop.open("button").decide_command
        asked = [writer.carry_out([decide(), decide()])]
        with pytest.raises(ProblemError, match="2 requests wait already") as refusal:
            writer.carry_out([decide(), decide()])
        assert refusal.value.status == 503
        asked.append(writer.carry_out([decide()]))
        await asyncio.gather(*asked)
        assert (writer.waiting, writer.carried_out) == (0, 3)
        await writer.close()

    with live.open(fresh("sqlite"), clock=clock) as shop:
        shop.experiment("button", ["a", "b"], policy="UCB1")
        asyncio.run(play(shop))
