"""A server of the library for every test file, and a client of it."""

from __future__ import annotations

import json

import pytest
from service import Running, command

from patientbandits_client import Client


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with Running(tmp_path_factory.mktemp("client") / "shop.db") as server:
        yield server


@pytest.fixture(scope="module")
def shop(running):
    with Client(running.url, running.key) as client:
        yield client


@pytest.fixture
def counted():
    """Counts by experiment, as `check` reports them for a database, which must be in order."""

    def count(db):
        done = command("check", "--db", db, "--json")
        assert done.returncode == 0, done.stdout
        return {one["experiment"]: one for one in json.loads(done.stdout)["experiments"]}

    return count
