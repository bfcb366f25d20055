"""The client for programs with an event loop."""

from __future__ import annotations

import asyncio

import pytest
from lossy import LossyProxy

from patientbandits_client import AsyncClient
from patientbandits_client.errors import NotFoundError

pytestmark = pytest.mark.slow

ARMS = ["control", "blue"]


def test_the_asynchronous_client(running, shop, counted):
    async def play():
        with LossyProxy(running.url, share=1 / 4, seed=2) as proxy:
            async with AsyncClient(proxy.url, running.key, patience=60) as client:
                button = await client.experiment("async", ARMS, sticky=False, policy="UCB1")
                made = await asyncio.gather(*[button.decide() for _ in range(30)])
                await asyncio.gather(*[button.convert(one.id) for one in made[:10]])
                many = [{"id": one.id} for one in made[10:20]]
                assert all(one.counted for one in await button.convert_many(many))
                assert sum((await button.weights()).values()) == pytest.approx(1)
                pieces = [piece async for piece in button.export()]
                assert len(b"".join(pieces).splitlines()) == 31
                assert "async" in [one.name for one in await client.experiments()]
                with pytest.raises(NotFoundError):
                    await client.open("none").decide()
            return proxy.lost

    assert asyncio.run(play()) > 3
    counts = counted(running.db)["async"]
    assert (counts["decisions"], counts["conversions"]) == (30, 20)
