"""Study files, carried out."""

from __future__ import annotations

from pathlib import Path

import pytest

import patientbandits as pb
from patientbandits.plotting import FigureFiles
from patientbandits.research import Study, read_study, run_study

PROBLEM = pb.Problem([0.2, 0.5, 0.9], [pb.Pareto(1.0), pb.Pareto(0.3), pb.NoDelay()])

FILE = """
horizon = 60
runs = 4

[problems.easy]
means = [0.2, 0.9]
delays = {law = "Geometric", p = 0.5}

[policies.ucb]
policy = "UCB1"
"""


def test_a_study_writes_latex_and_a_pdf_of_its_size(tmp_path: Path) -> None:
    study = Study({"p_1": PROBLEM}, {"ucb": pb.UCB1(), "random": pb.Uniform()}, 60, runs=4)
    files = FigureFiles(["pdf"], font="serif", font_size=8)
    rows = run_study(study, tmp_path, figure=files, size=(3.0, 2.0))
    lines = (tmp_path / "table.tex").read_text().splitlines()
    assert 1 <= rows[0].regret < 10 <= rows[1].regret < 100, "the larger one has four digits"
    assert lines[4].startswith(rf"p\_1 & ucb & {rows[0].regret:.2f} & ")
    pdf = (tmp_path / "regret.pdf").read_bytes()
    assert pdf.startswith(b"%PDF")
    assert not (tmp_path / "regret.png").exists()
    width = float(pdf.split(b"/MediaBox [ 0 0 ")[1].split()[0])
    assert width == pytest.approx(3.0 * 72)
    assert b"DejaVuSerif" in pdf
    assert b"DejaVuSans" not in pdf


def test_a_file_says_what_is_played(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text(FILE)
    study = read_study(file)
    problem = pb.Problem([0.2, 0.9], pb.Geometric(0.5))
    assert study == Study({"easy": problem}, {"ucb": pb.UCB1()}, horizon=60, runs=4)
    (simulation,) = study.simulations().values()
    assert (simulation.problem, simulation.policy) == (problem, pb.UCB1())
    assert (simulation.horizon, simulation.runs, simulation.seed) == (60, 4, 0)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("horizon = 60\n", "", "study: horizon is needed"),
        ("horizon = 60", "horizon = 1", "horizon must be at least the number of arms, 2"),
        ("runs = 4", "rums = 4", "Did you mean 'runs'"),
        ("runs = 4", "runs = 1", "runs must be an integer >= 2"),
        ("means = [0.2, 0.9]", "name = 'heterogenous'", "Did you mean 'heterogeneous'"),
        ("means", "mean", "problems.easy: key must be"),
        ("[policies.ucb]\npolicy", "policy", r"at least one \[policies.NAME\] is needed"),
    ],
)
def test_errors_name_the_table_and_the_rule(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    file = tmp_path / "study.toml"
    assert old in FILE
    file.write_text(FILE.replace(old, new))
    with pytest.raises(pb.InputError, match=message):
        read_study(file)
