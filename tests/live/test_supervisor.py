"""Several processes: one that writes, workers before it, on both stores."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time

import pytest
from service import Running

from patientbandits.live.http.supervisor import Supervisor

pytestmark = pytest.mark.slow

STORES = ["sqlite", "postgres"]


def children(pid):
    return [
        int(child)
        for child in subprocess.run(
            ["pgrep", "-P", str(pid)], capture_output=True, text=True
        ).stdout.split()
    ]


@pytest.mark.parametrize("store", STORES)
def test_workers_share_one_log_and_one_ring_of_keys(fresh, store):
    address = fresh(store)
    with Running(address, "--workers", 2) as server:
        assert (
            server.api.post("/v1/experiments", json={"name": "a", "arms": ["x", "y"]}).status_code
            == 201
        )
        made, lock = {}, threading.Lock()

        def decide(number):
            with server.client(server.key) as client:
                for n in range(20):
                    answer = client.post(
                        "/v1/experiments/a/decisions", json={"key": f"{number % 2}-{n}"}
                    )
                    with lock:
                        made.setdefault(f"{number % 2}-{n}", []).append(
                            (answer.status_code, answer.json()["id"])
                        )

        threads = [threading.Thread(target=decide, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(made) == 40
        for answers in made.values():
            assert sorted(status for status, _ in answers) == [200, 200, 200, 201]
            assert len({id for _, id in answers}) == 1
        assert server.stop(signal.SIGTERM) == 0


def processes(server):
    """The writer and the workers, in the order of their start."""
    found = sorted(children(server.process.pid))
    return [child for child in found if b"resource_tracker" not in cmdline(child)]


@pytest.mark.parametrize("place", [0, 1], ids=["writer", "worker"])
@pytest.mark.parametrize("store", STORES)
def test_a_dead_process_is_replaced(fresh, store, place):
    with Running(fresh(store), "--workers", 2) as server:
        running = processes(server)
        assert len(running) == 3
        os.kill(running[place], signal.SIGKILL)
        while not any('ended"' in line for line in server.log):
            time.sleep(0.05)
        server.until_ready()
        made = server.api.post("/v1/experiments", json={"name": "a", "arms": ["x", "y"]})
        assert made.status_code == 201
        assert len(processes(server)) == 3
        assert server.stop(signal.SIGTERM) == 0


def test_processes_end_with_the_one_that_watches(fresh):
    with Running(fresh("sqlite"), "--workers", 2) as server:
        running = processes(server)
        server.process.kill()
        server.process.wait()
        deadline = time.monotonic() + 30
        while any(os.path.exists(f"/proc/{pid}") for pid in running):
            assert time.monotonic() < deadline
            time.sleep(0.05)


def cmdline(pid):
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        return file.read()


def test_who_has_lived_is_started_again_however_often_it_fails():
    """As when the database is away for long; who never lived is given up."""
    watching = Supervisor()
    watching._failures = 100
    assert watching._cannot_start()
    watching._lived = True
    assert not watching._cannot_start()
