"""PostgreSQL away, under a service that stays, refuses, and goes on."""

from __future__ import annotations

import pytest
from outages import outage
from patience import PATIENCE
from server_process import ServerProcess
from servers import Server

pytestmark = pytest.mark.slow


def test_the_service_outlives_its_database():
    database = Server()
    try:
        server = ServerProcess(database.fresh())
        try:
            found = outage(database, server, seconds=3.0)
        finally:
            code = server.stop()
    finally:
        database.close()
    assert found.alive
    assert found.back < PATIENCE
    assert found.since > 0
    assert found.statuses[503] > 0
    assert set(found.statuses) <= {201, 503, 0}
    assert found.lost == 0
    assert code == 0
