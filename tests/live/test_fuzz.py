"""Damaged requests: none is answered with a failure or silence, and the others go on."""

from __future__ import annotations

import asyncio

import pytest
from fuzz import fuzzed, wrong_fates
from server_process import ServerProcess

from patientbandits import live
from patientbandits.live.operations.checks import check

pytestmark = pytest.mark.slow

REQUESTS = 2000


@pytest.mark.parametrize("workers", [1, 2])
def test_damaged_requests(tmp_path, workers):
    path = str(tmp_path / "shop.db")
    server = ServerProcess(path, "--workers", str(workers))
    try:
        new = {"name": "a", "arms": ["x", "y"], "policy": "UCB1"}
        assert server.ask("POST", "/v1/experiments", new)[0] == 201
        fates = asyncio.run(fuzzed(server.port, REQUESTS // workers, seed=workers))
        assert wrong_fates(fates) == []
        assert fates["201"] + fates["200"] > 20, fates  # some reach what they were sent to
        assert fates["400"] > 20, fates
        status, made = server.ask("POST", "/v1/experiments/a/decisions", {"unit": "sound"})
        assert (status, made["duplicate"]) == (201, False)
    finally:
        assert server.stop() == 0
    with live.open(path) as shop:
        assert check(shop.store)["wrong"] == []
