"""Several processes on one PostgreSQL database."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time

import pytest
from service import Running

pytest.importorskip("patientbandits.live.store.postgres")


def children(pid):
    return [
        int(child)
        for child in subprocess.run(
            ["pgrep", "-P", str(pid)], capture_output=True, text=True
        ).stdout.split()
    ]


def test_workers_share_one_log_and_one_ring_of_keys(fresh):
    address = fresh("postgres")
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


def test_a_dead_worker_is_replaced(fresh):
    with Running(fresh("postgres"), "--workers", 2) as server:
        workers = [
            child
            for child in children(server.process.pid)
            if b"resource_tracker" not in cmdline(child)
        ]
        assert len(workers) == 2
        os.kill(workers[0], signal.SIGKILL)
        while not any('"a worker ended"' in line for line in server.log):
            time.sleep(0.05)
        server.until_ready()
        assert (
            server.api.post("/v1/experiments", json={"name": "a", "arms": ["x", "y"]}).status_code
            == 201
        )
        assert server.stop(signal.SIGTERM) == 0


def cmdline(pid):
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        return file.read()
