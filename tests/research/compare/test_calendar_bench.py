"""DelayBench 2, calendar: every shape of change, in three directions."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest
from tools.frozen_docs import DOCS, PAGE, calendar_table

from patientbandits import cli
from patientbandits.policies import POLICIES
from patientbandits.research import compare
from patientbandits.research.compare.calendar_bench import (
    CALENDAR_BENCH,
    LEFT_OUT,
    MEDIANS,
    RATES,
    RIVALS,
    SHAPES,
    calendar_contenders,
    calendar_suite,
)
from patientbandits.research.compare.cases import PROBLEM_KINDS
from patientbandits.research.compare.contenders import EXCLUDED
from patientbandits.research.compare.delay_bench import lead_in_slowness
from patientbandits.research.compare.frozen import rows_of_file
from patientbandits.research.compare.run import simulation_of

pytestmark = pytest.mark.slow

FOLDER = DOCS / "data" / "delay-bench-2-calendar"

FROZEN = "df556c16e8753e33"
"""What it is: changes of it belong into another one."""


def test_the_suite_is_frozen():
    known = [
        (case.name, case.problem.describe(), case.horizon, case.runs) for case in calendar_suite()
    ]
    digest = hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()[:16]
    assert (CALENDAR_BENCH, digest) == ("DelayBench 2, calendar", FROZEN)


def test_every_shape_in_every_direction():
    cases = {case.name: case for case in calendar_suite()}
    assert len(cases) == 27 == len(SHAPES) * len(MEDIANS)
    for case in cases.values():
        assert case.problem.rates == pytest.approx(RATES)
        assert set(case.kinds) <= set(PROBLEM_KINDS)
        assert case.counted
        lead = lead_in_slowness(case.problem, case.horizon)
        if not case.name.startswith("swap"):
            signs = {"same delays": 0, "slow arm best": 1, "slow arm worst": -1}
            assert np.sign(lead) == next(signs[kind] for kind in case.kinds if kind in signs)


def test_shapes_are_what_they_say():
    rates = {}
    for case in calendar_suite():
        phases = case.problem.phases_until(case.horizon)
        starts = np.array([start for start, _ in phases])
        rounds = np.arange(120, case.horizon, 240)  # noon
        at = np.searchsorted(starts, rounds, side="right") - 1
        rates[case.name] = np.array([phases[place][1].rates for place in at])
    for shape in SHAPES:
        for direction in ("_slow_best", "_slow_worst"):
            alike = rates[f"{shape.name}{direction}"]
            assert alike == pytest.approx(rates[shape.name])
    common = {name: own[:, 0] / 0.1 for name, own in rates.items()}
    assert np.ptp(common["constant"]) == pytest.approx(0)
    assert common["weekly"].mean() == pytest.approx(8 / 7)
    assert common["rise"][[0, -1]] == pytest.approx([0.5, 1.5])
    assert common["fall"][[0, -1]] == pytest.approx([1.5, 0.5])
    assert common["step"][[9, 10]] == pytest.approx([0.7, 1.4])
    assert common["spike"][[9, 10, 16, 17]] == pytest.approx([1, 2.5, 2.5, 1])
    assert rates["swap"][[20, 21]] == pytest.approx(np.array([RATES, RATES[::-1]]))
    best = rates["novelty"].argmax(axis=1)
    assert best[0] == 1
    assert best[-1] == 0
    assert np.ptp(rates["late"][:, 0]) < 1e-8


def test_who_plays():
    names = {player.name for player in calendar_contenders()}
    assert {"PatientThompson", "DeconfoundedThompson", "PartialLikelihoodThompson"} <= names
    assert "CalendarOracle" in names
    assert set(POLICIES) - names <= {*LEFT_OUT, *EXCLUDED}
    own = {player.name for player in RIVALS}
    assert not own & {player.name for player in compare.contenders()}, "DelayBench 1 is as it was"


@pytest.mark.parametrize(
    ("problem", "policy"),
    [
        ("weekly", "Uniform"),
        ("rise", "KLUCB"),
        ("step_slow_best", "DeconfoundedThompson"),
        ("spike_slow_worst", "PartialLikelihoodThompson"),
        ("swap", "CalendarOracle"),
    ],
)
def test_the_numbers_of_the_docs_played_again(problem, policy):
    rows = rows_of_file(FOLDER / "scores.csv")
    (row,) = (row for row in rows if (row["problem"], row["policy"]) == (problem, policy))
    cases = {case.name: case for case in calendar_suite()}
    players = {player.name: player for player in calendar_contenders()}
    simulation = simulation_of(cases[problem], players[policy], compare.SUITE_SEED)
    result = simulation.play(0, simulation.runs, 2)
    assert row["regret"] == repr(float(result.final.mean()))
    assert int(row["runs"]) == len(result.final)


def test_the_docs_have_these_numbers():
    assert calendar_table(rows_of_file(FOLDER / "scores.csv")) in PAGE.read_text()


def test_on_the_terminal(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    chosen = ["--suite", "delay-bench-2-calendar", "--problems", "rise", "--runs", "4"]
    assert cli.main(["compare", *chosen, "--policies", "Thompson", "CalendarOracle"]) == 0
    assert "knows the factors" in capsys.readouterr().out
    page = (tmp_path / "out/compare/comparison.html").read_text()
    assert "DelayBench 2, calendar" in page
    assert "nine shapes of change" in page
    data = json.loads((tmp_path / "out/compare/comparison.json").read_text())
    assert data["suite"] == CALENDAR_BENCH
    assert cli.main(["compare", "--suite", "delay-bench-3"]) == 2
    assert "suite must be one of delay-bench-1, delay-bench-2" in capsys.readouterr().err
    assert cli.main(["compare", "--suite", "delay-bench-2-calendar", "--freeze", "there"]) == 2
    assert "--freeze needs the whole of delay-bench-1" in capsys.readouterr().err
