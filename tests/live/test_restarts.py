"""When workers are started again, and when it is no use."""

from __future__ import annotations

import pytest

from patientbandits.live.http import supervisor
from patientbandits.live.http.supervisor import (
    LONGEST_PAUSE,
    MOST_FAILURES,
    WRITE_FAILED,
    Role,
    Running,
    Supervisor,
    pause_after,
)


def test_pauses_grow_to_a_limit():
    assert [pause_after(failures) for failures in range(6)] == [0, 0, 1, 2, 4, 8]
    assert pause_after(60) == LONGEST_PAUSE


WORKER = Role("worker", lambda: 0, ())


class Process:
    """A worker that has ended, or runs until it is told not to."""

    def __init__(self, exitcode=1):
        self.exitcode = exitcode
        self.told = False

    def terminate(self):
        self.told = True


@pytest.fixture
def watching(monkeypatch):
    """A supervisor, and the time."""
    now = [1000.0]
    monkeypatch.setattr(supervisor.time, "monotonic", lambda: now[0])
    return Supervisor(), now


def end(watching, lived, exitcode=1):
    made, now = watching
    process = Process(exitcode)
    made._running[process] = Running(now[0] - lived, WORKER)
    made._ended(process)


def test_workers_that_never_start_end_the_service(watching):
    made, _ = watching
    for _ in range(MOST_FAILURES):
        assert not made._stopping
        end(watching, 0.5)
    assert made._stopping
    assert made._cannot_start()


def test_healthy_workers_stay_while_others_cannot_start(watching):
    """PostgreSQL is away for a minute: workers that end are started again, later and later."""
    made, now = watching
    end(watching, 3600.0)
    healthy = Process()
    made._running[healthy] = Running(now[0], WORKER)
    made._due.clear()
    pauses = []
    for _ in range(8):
        end(watching, 0.5)
        pauses.append(made._due.pop().time - now[0])
    assert pauses == [0, 1, 2, 4, 8, 16, 30, 30]
    assert not made._stopping
    assert not healthy.told
    end(watching, 60.0)
    assert made._due.pop().time == now[0], "one that lived is replaced at once"


def test_a_database_that_fails_ends_the_service(watching):
    """What the disk holds is known only after it was opened anew, by whoever starts us again."""
    made, now = watching
    healthy = Process()
    made._running[healthy] = Running(now[0], WORKER)
    end(watching, 3600.0, WRITE_FAILED)
    assert healthy.told
    assert not made._due
    assert made._failed
