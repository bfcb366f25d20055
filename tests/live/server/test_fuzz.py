"""Damaged requests: none is answered with a failure or silence, and the others go on."""

from __future__ import annotations

import asyncio

import pytest
from fuzz import fuzzed, wrong_fates
from server_process import ServerProcess

from patientbandits import live
from patientbandits.live.operations.checks import check

pytestmark = pytest.mark.slow

REQUESTS = 3000


def test_damaged_requests(tmp_path):
    path = str(tmp_path / "shop.db")
    server = ServerProcess(path)
    try:
        new = {"name": "a", "arms": ["x", "y"], "policy": "UCB1"}
        assert server.ask("POST", "/v1/experiments", new)[0] == 201
        fates = asyncio.run(fuzzed(server.port, REQUESTS, seed=1))
        assert wrong_fates(fates) == []
        assert fates["201"] + fates["200"] > 20, fates  # some reach what they were sent to
        assert fates["400"] > 20, fates
        status, made = server.ask("POST", "/v1/experiments/a/decisions", {"unit": "sound"})
        assert (status, made["duplicate"]) == (201, False)
    finally:
        assert server.stop() == 0
    with live.open(path) as shop:
        assert check(shop.store)["wrong"] == []
