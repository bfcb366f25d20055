"""Starting and stopping the service: signals, exit codes, options that went."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest
from service import Running, environment

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_it_stops_in_good_order(tmp_path, how):
    with Running(tmp_path / "shop.db") as server:
        assert server.api.get("/healthz").status_code == 200
        assert server.stop(how) == 0
    assert "Traceback" not in "".join(server.log)


def test_one_process_serves_however_many_workers_are_wanted(tmp_path):
    with Running(tmp_path / "shop.db", "--workers", 2) as server:
        assert server.api.get("/readyz").status_code == 200
        assert server.stop() == 0
    told = [line for line in server.log if "--workers is deprecated" in line]
    assert len(told) == 1
    assert "can only be 1" in told[0]


def test_a_server_holds_no_more_than_it_needs():
    """What only single reports need is imported by them."""
    code = "import patientbandits.live.server.run, sys; print('scipy' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment(), check=True
    )
    assert done.stdout.strip() == "False"
