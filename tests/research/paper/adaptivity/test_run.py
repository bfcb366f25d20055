"""`patientbandits adaptivity`, in small."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from patientbandits.errors import InputError
from patientbandits.research.paper.adaptivity import departures, over_gaps, over_time
from patientbandits.research.paper.adaptivity import run as adaptivity_run
from patientbandits.research.paper.adaptivity.data import read_study_data
from patientbandits.research.paper.adaptivity.page import adaptivity_page
from patientbandits.research.paper.adaptivity.variants import OtherNames

pytestmark = pytest.mark.slow

COMMAND = [sys.executable, "-m", "patientbandits"]


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments], cwd=cwd, capture_output=True, text=True, timeout=600
    )


def contents(folder: Path) -> dict[str, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("quick")
    done = run("adaptivity", "--quick", "--out", "there", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "", "quiet when piped"
    assert done.stdout == f"page: {Path('there') / 'adaptivity.md'}\n"
    return folder / "there"


def test_it_writes_page_figures_and_data(quick: Path) -> None:
    page = (quick / "adaptivity.md").read_text()
    found = read_study_data(quick / "data" / "adaptivity")
    assert page == adaptivity_page(found)
    assert "made at another size (10⁴ rounds, 2 runs)" in page
    pictures = re.findall(r"\]\(([^)]+)\)", page)
    assert len(pictures) == 2
    for name in pictures:
        assert (quick / name).stat().st_size > 1000
    assert len(found.departures) == len(departures.VARIANTS) * 8 + len(over_time.VARIANTS)
    assert len(found.gaps) == 7 * len(over_gaps.GAPS)
    variants = {variant.name for variant in over_time.VARIANTS}
    assert set(found.policies()) == variants | {*OtherNames.at(over_time.TAIL), over_time.THOMPSON}


def test_it_goes_on_where_it_stopped(quick: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in (quick / "pieces").glob("*.npz")}
    page = (quick / "adaptivity.md").read_bytes()
    removed = min(before)
    removed.unlink()
    done = run("adaptivity", "--quick", "--json", "--out", str(quick), cwd=quick)
    assert json.loads(done.stdout) == {"page": str(quick / "adaptivity.md")}
    after = {path: path.stat().st_mtime_ns for path in (quick / "pieces").glob("*.npz")}
    assert {path for path in after if after[path] != before[path]} == {removed}
    assert (quick / "adaptivity.md").read_bytes() == page


def test_processes_give_the_same_files(quick: Path, tmp_path: Path) -> None:
    options = ("--quick", "--processes", "--workers", "2", "--out", "there")
    done = run("adaptivity", *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert contents(tmp_path / "there") == contents(quick)


def test_the_old_name_gives_the_same_page(quick: Path) -> None:
    """It finds the pieces of the new one, so it does the same work."""
    before = contents(quick)
    done = run("reproduce", "--adaptivity", "--quick", "--out", str(quick), cwd=quick)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"page: {quick / 'adaptivity.md'}\n"
    assert contents(quick) == before


def test_the_old_name_is_not_offered(tmp_path: Path) -> None:
    usage = run("reproduce", "--help", cwd=tmp_path).stdout
    for option in ("--adaptivity", "--quick", "--horizon"):
        assert option not in usage


def test_workers_and_their_place_are_handed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, Any] = {}

    def no_sweep(
        simulations: list[Any], folder: Path, workers: int | None, progress: Any, on: str
    ) -> list[Any]:
        asked.update(folder=folder, workers=workers, on=on)
        raise InputError("enough")

    monkeypatch.setattr(adaptivity_run, "sweep", no_sweep)
    with pytest.raises(InputError, match="enough"):
        adaptivity_run.adaptivity(tmp_path, quick=True, workers=3, on="tcp://host:8786")
    assert asked == {"folder": tmp_path / "pieces", "workers": 3, "on": "tcp://host:8786"}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("adaptivity", "--horizon", "9999"), "horizon must be an integer >= 10000"),
        (("adaptivity", "--runs", "1"), "runs must be an integer >= 2"),
        (("adaptivity", "--quick", "--seed", "-1"), "seed must be an integer >= 0"),
        (("adaptivity", "--quick", "--workers", "0"), "workers must be an integer >= 1"),
        (("adaptivity", "--quick", "--cluster", "nowhere"), "the address of a Dask scheduler"),
        (("adaptivity", "--quick", "--cluster", "127.0.0.1:1"), "a Dask scheduler must answer"),
        (("reproduce", "--quick"), "--horizon and --quick belong to --adaptivity"),
        (("reproduce", "--horizon", "20000"), "--horizon and --quick belong to --adaptivity"),
        (("reproduce", "--adaptivity", "homogeneous"), "neither experiments nor presets"),
        (("reproduce", "--adaptivity", "--preset", "literal"), "neither experiments nor presets"),
        (("reproduce", "--adaptivity", "--cluster", "nowhere"), "the address of a Dask scheduler"),
    ],
)
def test_bad_arguments_are_refused_in_one_line(
    tmp_path: Path, arguments: tuple[str, ...], expected: str
) -> None:
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert expected in done.stderr
    assert os.listdir(tmp_path) == []
