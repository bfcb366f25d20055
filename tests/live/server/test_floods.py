"""A client without a key that wants all the memory, all the connections or all the files."""

from __future__ import annotations

import math
import socket

import pytest
from floods import MEGABYTES, attack, floods, health
from service import Running

pytestmark = pytest.mark.slow

CONNECTIONS = 300
SECONDS = 1.5
FLOODS = list(floods(CONNECTIONS))


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Running(tmp_path_factory.mktemp("floods") / "shop.db") as running:
        yield running


@pytest.mark.parametrize(
    "flood", FLOODS, ids=[f"{one.name}, {one.connections}, {one.fetched}" for one in FLOODS]
)
def test_a_flood_takes_no_memory(server, flood):
    damage = attack(server.url, server.process.pid, flood, SECONDS)
    assert damage.grown < MEGABYTES
    assert damage.kept < MEGABYTES
    assert damage.slowest < math.inf
    assert server.api.get("/readyz").status_code == 200


def test_files_are_left_when_connections_are_many(tmp_path):
    """With 1024 open files and 1400 connections a server once reset all others."""
    few = ["sh", "-c", 'ulimit -n 400; exec "$0" "$@"']
    with Running(tmp_path / "shop.db", before=few) as server:
        made = server.api.post("/v1/experiments", json={"name": "button", "arms": ["a", "b"]})
        assert made.status_code == 201
        port = int(server.url.rsplit(":", 1)[1])
        idle = []
        for _ in range(500):
            connection = socket.create_connection(("127.0.0.1", port), 30)
            connection.sendall(b"GET / HT")
            idle.append(connection)
        assert health(server.url, server.process.pid) < math.inf
        with server.client(server.key) as late:
            assert late.get("/readyz").status_code == 200
            assert late.get("/v1/experiments/button/report").status_code == 200
        assert server.api.post("/v1/experiments/button/decisions", json={}).status_code == 201
        for connection in idle:
            connection.close()
        assert server.stop() == 0
        assert not any("Traceback" in line for line in server.log)
