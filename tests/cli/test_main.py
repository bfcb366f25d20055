"""The program: help, version, exit codes, pipes and interrupts, through a real process."""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from service import environment

from patientbandits import Result, __version__
from patientbandits.cli.main import parser

pytestmark = pytest.mark.slow


ROOT = Path(__file__).parents[2]


COMMAND = [sys.executable, "-m", "patientbandits"]


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments], cwd=cwd, capture_output=True, text=True, timeout=300
    )


def test_help_imports_nothing_heavy(tmp_path: Path) -> None:
    code = """
import sys
from patientbandits.cli import main
try:
    main(["--help"])
except SystemExit:
    pass
print([m for m in ("numba", "scipy", "matplotlib", "numpy") if m in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    assert done.stdout.strip().endswith("[]")


def test_help_answers_at_once(tmp_path: Path) -> None:
    """What takes time is importing: little of our own, and of others argparse above all."""
    command = [sys.executable, "-X", "importtime", *COMMAND[1:], "--help"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0
    imported = [line.split("|")[-1].strip() for line in done.stderr.splitlines()]
    ours = [name for name in imported if name.startswith("patientbandits")]
    assert len(ours) <= 40
    assert len(imported) - len(ours) <= 160  # bare Python: about 30 to 60


@pytest.mark.parametrize("module", ["patientbandits", "patientbandits.cli"])
def test_the_package_runs_as_a_program(module: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", module, "--version"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, f"patientbandits {__version__}\n")


def test_every_command_and_option_is_documented(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "command-line.md").read_text()
    usage = run("--help", cwd=tmp_path).stdout
    commands = [
        line.split()[0]
        for line in usage.partition("commands:")[2].splitlines()
        if line.startswith("    ") and line[4] != " "
    ]
    commands = [command for command in commands if command != "COMMAND"]
    live = {
        "serve",
        "experiments",
        "keys",
        "decide",
        "convert",
        "retract",
        "report",
        "export",
        "check",
        "backup",
        "restore",
        "import",
        "track",
        "alias",
        "verdict",
        "expose",
        "weights",
        "alerts",
        "webhooks",
        "quarantine",
        "release",
        "erase",
        "forget",
        "units",
        "new-era",
    }
    assert (
        set(commands)
        == {"reproduce", "adaptivity", "simulate", "compare", "field", "policies", "laws"}
        | {"analyse", "rehearse", "example"}
        | live
    )
    for command in commands:
        assert f"patientbandits {command}" in page
    for option in ("--json", "--out", "--runs", "--preset"):
        assert option in page


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("reproduce", "homogenous"), "'homogeneous'"),
        (
            ("reproduce", "alpha_sweep", "--preset", "printed"),
            "preset must be one of published, literal",
        ),
        (("reproduce", "alpha_sweep", "--runs", "0"), "runs must be an integer >= 2"),
        (("reproduce", "alpha_sweep", "--seed", "-1"), "seed must be an integer >= 0"),
        (("reproduce", "alpha_sweep", "--workers", "0"), "workers must be an integer >= 1"),
        (("reproduce", "alpha_sweep", "--cluster", "nowhere"), "the address of a Dask scheduler"),
        (
            ("reproduce", "alpha_sweep", "--cluster", "127.0.0.1:1"),
            "a Dask scheduler must answer at '127.0.0.1:1'",
        ),
        (("simulate", "missing.toml"), "the file must exist"),
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


def test_a_closed_pipe_is_no_error(tmp_path: Path) -> None:
    done = subprocess.run(
        f"{sys.executable} -m patientbandits laws | head -1",
        shell=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.stdout == "delays:\n"
    assert done.stderr == ""


def listen_to_interrupts() -> None:
    """Whoever is started in a shell's background is told to ignore them, and so would this be."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.parametrize(
    "workers", [["--workers", "1"], ["--workers", "2"], ["--workers", "2", "--processes"]]
)
def test_interrupted_work_leaves_valid_files_and_goes_on(
    tmp_path: Path, workers: list[str]
) -> None:
    """As Ctrl-C does it: everybody is told."""
    arguments = ["reproduce", "gap_sweep", "--preset", "literal", "--out", "out", *workers]
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=listen_to_interrupts,
    )
    pieces = tmp_path / "out" / "pieces"
    while not pieces.exists() or len(list(pieces.glob("*.npz"))) < 3:
        assert process.poll() is None, "it should still be at work"
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "interrupted" in stderr
    assert "Traceback" not in stderr
    kept = {path.name: path.read_bytes() for path in pieces.glob("*.npz")}
    assert 3 <= len(kept) < 150
    for path in pieces.glob("*.npz"):
        Result.load(path)
    assert not (tmp_path / "out" / "report.html").exists()
    assert run(*arguments, cwd=tmp_path).returncode == 0
    assert {name: (pieces / name).read_bytes() for name in kept} == kept
    assert (tmp_path / "out" / "report.html").exists()


def test_help_waits_for_nothing():
    code = (
        "import sys\nfrom patientbandits.cli import parser\nparser()\n"
        "print(*(set(sys.modules) & {'numpy', 'msgspec', 'httptools', 'apsw'}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment(), check=True
    )
    assert done.stdout.strip() == ""


def test_every_command_has_words_of_help():
    shown = parser().format_help()
    for name in (
        "serve",
        "experiments",
        "decide",
        "convert",
        "retract",
        "report",
        "export",
        "keys",
    ):
        assert re.search(rf"^ +{name}\s+\w", shown, re.MULTILINE), name


def test_the_parser_of_a_command_is_built_alone() -> None:
    every = commands_of(parser())
    assert len(every) > 30
    assert len(set(every)) == len(every)
    for name in every:
        assert commands_of(parser(name)) == [name]
    assert commands_of(parser("nonsense")) == every


def commands_of(top: argparse.ArgumentParser) -> list[str]:
    """The commands that its help lists."""
    return re.findall(r"^ {4}([a-z-]+)", top.format_help().partition("commands:")[2], re.MULTILINE)
