"""The commands of simulation and papers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from patientbandits import Result
from patientbandits.cli.main import parser
from patientbandits.policies import POLICIES
from patientbandits.problems.delays import LAWS

pytestmark = pytest.mark.slow


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


def test_every_command_that_simulates_has_its_own_seed() -> None:
    """`compare` also takes "fresh"; resolving the conflict took the option from all others."""
    top = parser()
    for command in (["reproduce"], ["adaptivity"], ["simulate", "study.toml"], ["compare"]):
        assert top.parse_args(command).seed is None
        assert top.parse_args([*command, "--seed", "7"]).seed == 7
    assert top.parse_args(["compare", "--seed", "fresh"]).seed >= 0
    with pytest.raises(SystemExit):
        top.parse_args(["reproduce", "--seed", "fresh"])


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
