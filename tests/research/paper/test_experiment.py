"""Experiments: one file each, known by their names."""

from __future__ import annotations

from pathlib import Path

import pytest

from patientbandits.research import paper
from patientbandits.research.paper import report
from patientbandits.research.paper.experiment import PublishedFigure
from patientbandits.research.paper.report import EXPERIMENTS, experiments_in, reproduce

pytestmark = pytest.mark.slow


COMPARED = ("alpha_sweep", "gap_sweep", "homogeneous", "heterogeneous")

FIGURES = (*COMPARED, "adaptive")


def test_the_experiments_are_known_by_their_names() -> None:
    studies = ["classical", "log_growth", "worst_case", "many_arms", "theory"]
    assert list(EXPERIMENTS) == [*FIGURES, *studies]
    published = [n for n, one in EXPERIMENTS.items() if isinstance(one, PublishedFigure)]
    assert published == list(FIGURES)


NEW_EXPERIMENT = """
from patientbandits.problems.delays import Fixed
from patientbandits.plotting.figures import Panel
from patientbandits.research.paper.claims import Claim, verdict
from patientbandits.research.paper.curve import Curve
from patientbandits.research.paper.experiment import SimulatedExperiment
from patientbandits.policies import UCB1
from patientbandits.problems.problem import Problem
from patientbandits.simulation.sweeps import Simulation


class AllWait(SimulatedExperiment):
    name = "all_wait"
    heading = "Everybody waits"
    text = "Both arms pay after fifty rounds."

    def curves(self, preset):
        problem = Problem([0.2, 0.8], Fixed(50))
        return [Curve("UCB1", [Simulation(problem, UCB1(), 500, 4)])]

    def panels(self, found):
        return [Panel("regret", "round", "regret", [c.line() for c in found[""].values()])]

    def claims(self, curves, preset):
        last = curves["UCB1"].last
        better = verdict(last < curves["UCB1"].random_regret())
        return [Claim("a thought", "UCB1 learns", better, f"{last:.1f}")]
"""


def test_a_new_experiment_is_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the file says is found, run, drawn, written and checked."""
    (tmp_path / "figure9_new.py").write_text(NEW_EXPERIMENT)
    monkeypatch.setattr(paper, "__path__", [*paper.__path__, str(tmp_path)])
    (found,) = experiments_in("figure9_new")
    monkeypatch.setitem(EXPERIMENTS, found.name, found)
    monkeypatch.setattr(report, "NAMES", tuple(EXPERIMENTS))
    out = tmp_path / "out"
    summary = reproduce(out, [found.name])
    assert [claim["verdict"] for claim in summary["claims"]] == ["holds"]
    assert (out / "figures" / "all_wait.png").exists()
    assert "UCB1,500," in (out / "data" / "all_wait.csv").read_text()
    page = (out / "report.html").read_text()
    assert "Everybody waits</h2>" in page
    assert "Both arms pay after fifty rounds." in page
