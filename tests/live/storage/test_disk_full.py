"""A real disk that fills up, under the library and under the server: an error for whoever asks,
and all that was acknowledged is there."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from server_process import ServerProcess
from workload import ARMS, EXPERIMENT, Acknowledged, lost, traffic, whole

from patientbandits import live
from patientbandits.live.log.records import Snapshot
from patientbandits.live.policy import state as policy_state

pytestmark = pytest.mark.slow


class SmallDisk:
    def __init__(self, folder: Path, size: str) -> None:
        self.folder = folder
        folder.mkdir()
        self._mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder))

    def _mount(self, *arguments: str) -> None:
        done = subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)
        if done.returncode:
            raise PermissionError(done.stderr.strip())

    def grow(self, size: str) -> None:
        self._mount("-o", f"remount,size={size}", str(self.folder))

    def close(self) -> None:
        subprocess.run(["umount", str(self.folder)], check=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    try:
        small = SmallDisk(tmp_path / "disk", "2m")
    except (PermissionError, FileNotFoundError) as error:
        pytest.skip(
            f"NOT TESTED: a disk that is really full, for this user may not mount one: {error}"
        )
    yield small
    small.close()


def all_there(disk: SmallDisk, answers: list[Acknowledged]) -> None:
    disk.grow("64m")
    with live.open(str(disk.folder / "shop.db"), create=False) as shop:
        whole(shop)
        assert len(answers) > 100
        assert lost(shop, answers) == []
        shop.open(EXPERIMENT).decide()


def test_library(disk: SmallDisk) -> None:
    answers: list[Acknowledged] = []
    shop = live.open(str(disk.folder / "shop.db"))
    with pytest.raises(live.UnavailableError, match="full"):
        traffic(shop, 4, 100_000, answers, answers)
    with pytest.raises(live.UnavailableError):
        shop.open(EXPERIMENT).decide()
    shop.close()
    all_there(disk, answers)


def test_during_a_snapshot(disk: SmallDisk, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lines of its batch have room, the snapshot has none: none of it is acknowledged."""
    monkeypatch.setattr(policy_state, "SNAPSHOT_EVERY", 150)
    made = policy_state.PolicyState.snapshot
    tried = []

    def large(state: policy_state.PolicyState) -> Snapshot:
        tried.append(state.seq)
        return made(state)._replace(state=bytes(4_000_000))

    answers: list[Acknowledged] = []
    shop = live.open(str(disk.folder / "shop.db"))
    with monkeypatch.context() as patch:
        patch.setattr(policy_state.PolicyState, "snapshot", large)
        with pytest.raises(live.UnavailableError, match="full"):
            traffic(shop, 4, 100_000, answers, answers)
    assert len(tried) == 1
    with pytest.raises(live.UnavailableError):
        shop.open(EXPERIMENT).decide()
    shop.close()
    all_there(disk, answers)


def test_server(disk: SmallDisk) -> None:
    """503 from the first failure on, until the process ends by itself, with an exit code that says
    so."""
    answers: list[Acknowledged] = []
    server = ServerProcess(str(disk.folder / "shop.db"))
    try:
        assert (
            server.ask("POST", "/v1/experiments", {"name": EXPERIMENT, "arms": ARMS, "seed": 1})[0]
            == 201
        )
        statuses = []
        while not statuses or statuses[-1] != 0:
            key = f"k{len(statuses)}"
            status, made = server.ask(
                "POST", f"/v1/experiments/{EXPERIMENT}/decisions", {"key": key}
            )
            if status == 201:
                answers.append(Acknowledged(0, key, made["id"], made["arm"], None))
            statuses.append(status)
        assert server.end() not in (0, -9, -15)
    finally:
        if server.process.poll() is None:
            server.kill()
    failed = statuses.index(503)
    assert set(statuses[:failed]) == {201}
    assert set(statuses[failed:]) <= {503, 0}
    all_there(disk, answers)
