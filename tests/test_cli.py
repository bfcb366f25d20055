"""The command line, through a real process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from patientbandits import Result, __version__
from patientbandits.cli.common import table_lines
from patientbandits.cli.main import parser
from patientbandits.policies import POLICIES
from patientbandits.problems.delays import LAWS

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
COMMAND = [sys.executable, "-m", "patientbandits"]

STUDY = """
horizon = 500
runs = 20

[problems.slow]
means = [0.6, 0.8]
delays = [{law = "Pareto", tail = 1.0}, {law = "Pareto", tail = 0.3}]

[problems.figure-4]
name = "heterogeneous"
preset = "published"

[policies.patient]
policy = "PatientBandits"
alpha = 0.3

[policies.ucb]
policy = "UCB1"
"""


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


def test_every_command_that_simulates_has_its_own_seed() -> None:
    """`compare` also takes "fresh"; resolving the conflict took the option from all others."""
    top = parser()
    for command in (["reproduce"], ["adaptivity"], ["simulate", "study.toml"], ["compare"]):
        assert top.parse_args(command).seed is None
        assert top.parse_args([*command, "--seed", "7"]).seed == 7
    assert top.parse_args(["compare", "--seed", "fresh"]).seed >= 0
    with pytest.raises(SystemExit):
        top.parse_args(["reproduce", "--seed", "fresh"])


def test_tables_have_columns_as_wide_as_they_must_be() -> None:
    rows = [("name", "n", ""), ("a long name", "10", "x"), ("b", "1000", "")]
    assert table_lines(rows) == ["name         n", "a long name  10    x", "b            1000"]


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


def test_policies_and_laws_list_what_there_is(tmp_path: Path) -> None:
    text, data = (
        run("policies", cwd=tmp_path),
        json.loads(run("policies", "--json", cwd=tmp_path).stdout),
    )
    assert text.returncode == 0
    assert [row["name"] for row in data["policies"]] == list(POLICIES)
    assert all(name + "(" in text.stdout for name in POLICIES)
    laws = json.loads(run("laws", "--json", cwd=tmp_path).stdout)
    assert [row["name"] for row in laws["delays"]] == list(LAWS)
    assert all(row["what"] for row in laws["delays"] + laws["rewards"] + data["policies"])


def test_simulate_gives_table_figure_and_results(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    done = run("simulate", "study.toml", "--out", "there", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "", "quiet when piped"
    assert "slow" in done.stdout
    assert "best" in done.stdout
    for name in ("table.csv", "regret.png", "regret.svg"):
        assert (tmp_path / "there" / name).stat().st_size > 100
    result = Result.load(tmp_path / "there" / "results" / "slow--patient.npz")
    assert result.regret.shape[0] == 20
    rows = json.loads(
        run("simulate", "study.toml", "--out", "there", "--json", cwd=tmp_path).stdout
    )
    assert [(row["problem"], row["policy"]) for row in rows] == [
        (p, q) for p in ("slow", "figure-4") for q in ("patient", "ucb")
    ]
    assert rows[0]["regret"] == pytest.approx(float(result.final.mean()))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('"UCB1"', '"UBC1"', "'UCB1'"),
        ('law = "Pareto", tail = 1.0', 'law = "Paretto", tail = 1.0', "'Pareto'"),
        ("alpha = 0.3", "alhpa = 0.3", "'alpha'"),
        ("alpha = 0.3", "alpha = nan", "alpha must be a finite number > 0"),
        ("alpha = 0.3", "alpha = -1", "got alpha=-1"),
        ("means = [0.6, 0.8]", "means = [0.6, 1.8]", "must be in [0, 1]"),
        ("means = [0.6, 0.8]", "means = [0.6, 0.8, 0.9]", "delays"),
        ("horizon = 500", "horizon = 1", "horizon must be at least the number of arms, 2"),
        ("horizon = 500", "horizn = 500", "'horizon'"),
        ("runs = 20", "runs = 0", "runs must be an integer >= 2"),
        ('"heterogeneous"', '"hetrogeneous"', "'heterogeneous'"),
        ('preset = "published"', 'preset = "publshed"', "preset must be one of"),
        ('law = "Pareto", tail = 1.0', "law = [1]", "law must be one of"),
        ('law = "Pareto", tail = 1.0', 'law = "Mixture", laws = 3', "laws must be a list"),
        ('"UCB1"', "[1]", "policy must be one of"),
        ("horizon = 500", "horizon = ", "not a readable TOML file"),
    ],
)
def test_a_bad_study_is_refused_in_one_line(
    tmp_path: Path, old: str, new: str, expected: str
) -> None:
    assert old in STUDY
    (tmp_path / "study.toml").write_text(STUDY.replace(old, new))
    done = run("simulate", "study.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert expected in done.stderr
    assert os.listdir(tmp_path) == ["study.toml"], "nothing half-written"


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
