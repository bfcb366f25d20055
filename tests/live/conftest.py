"""Both stores for every test: SQLite in a file, PostgreSQL on a server that is started once per
test process."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))  # cases, naive

from servers import Server

from patientbandits import live

STORES = ("sqlite", pytest.param("postgres", marks=pytest.mark.slow))
"""Each test process that uses PostgreSQL starts a server."""


@pytest.fixture(scope="session")
def server():
    running = Server()
    yield running
    running.close()


@pytest.fixture
def fresh(request, tmp_path):
    """fresh(store): the address of a new, empty database of that kind."""
    made = []

    def make(store):
        if store == "sqlite":
            return str(tmp_path / f"{len(list(tmp_path.iterdir()))}.db")
        running = request.getfixturevalue("server")
        made.append(running.fresh())
        return made[-1]

    yield make
    for address in made:
        request.getfixturevalue("server").drop(address)


@pytest.fixture(params=STORES)
def address(request, fresh):
    return fresh(request.param)


class Clock:
    """Seconds since 1970, as we please."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def clear_shop(address, clock):
    """One that keeps names as they are sent."""
    opened = live.open(address, clock=clock, units="clear")
    yield opened
    opened.close()


@pytest.fixture
def shop(address, clock):
    opened = live.open(address, clock=clock)
    yield opened
    opened.close()
