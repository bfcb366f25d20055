"""Problems and contenders by name, a few, and of a study file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from score_tables import SUITE

from patientbandits import cli
from patientbandits.research import compare
from patientbandits.research.compare.delay_bench import SUITE_SEED
from patientbandits.research.compare.selection import chosen

pytestmark = pytest.mark.slow


STUDY = """
horizon = 400
runs = 6
[problems.mine]
means = [0.2, 0.4]
delays = {law = "Fixed", delay = 30}
[policies.eager]
policy = "UCB1"
"""


def test_on_the_terminal_with_problems_and_policies_of_ones_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("study.toml").write_text(STUDY)
    chosen = [
        "--study",
        "study.toml",
        "--problems",
        "no_delay",
        "--policies",
        "KLUCB",
        "--runs",
        "4",
        "--out",
        "there",
    ]
    assert cli.main(["compare", *chosen]) == 0
    told = capsys.readouterr().out
    assert "eager" in told
    assert "there/comparison.html" in told
    assert "Bars" not in told, "not unless everything takes part"
    assert cli.main(["compare", *chosen, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert {(row["problem"], row["policy"]) for row in data["scores"]} == {
        (p, q) for p in ("no_delay", "mine") for q in ("KLUCB", "eager")
    }


def test_quick_plays_a_few_of_everything() -> None:
    cases, players = chosen(None, None, quick=True, seed=SUITE_SEED)
    assert 4 <= len(cases) < len(SUITE)
    assert {case.problem.arms for case in cases} == {2}, "one kernel for each policy to compile"
    assert {"PatientThompson", "PatientKL", "KLUCB"} <= {player.name for player in players}
    assert len(players) < len(compare.contenders())
    cases, players = chosen(["fifty_arms"], ["MOSS"], quick=True, seed=SUITE_SEED)
    assert [part.name for part in (*cases, *players)] == ["fifty_arms", "MOSS"], (
        "what is named takes part"
    )


def test_tuned_rivals_take_part_if_asked_for() -> None:
    tuned = {player.name for player in compare.tuned_contenders()}
    for asked in (False, True):
        _, players = chosen(None, None, False, SUITE_SEED, tuned=asked)
        expected = tuned if asked else set()
        assert {player.name for player in players if player.told == "tuned"} == expected
    _, named = chosen(["no_delay"], ["UCB1-tuned", "KLUCB"], False, SUITE_SEED)
    assert [player.name for player in named] == ["UCB1-tuned", "KLUCB"]
