"""Results in other people's tools: pandas, plots, LaTeX, PDF, obp; progress bars; generators."""

from __future__ import annotations

import csv
import shutil
import subprocess
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

import patientbandits as pb
from patientbandits.plotting import figure_files
from patientbandits.plotting.figure_files import TEX_PROGRAMS, FigureFiles
from patientbandits.plotting.figures import Line, Panel, _escaped, _places, draw
from patientbandits.plotting.latex import latex_table
from patientbandits.simulation.pull_counts import arms_by_pass

mpl.use("agg")

PROBLEM = pb.Problem([0.2, 0.5, 0.9], [pb.Pareto(1.0), pb.Pareto(0.3), pb.NoDelay()])


@pytest.fixture(scope="module")
def result() -> pb.Result:
    return pb.simulate(PROBLEM, pb.UCB1(), 200, 4, seed=3, record=[10, 50, 100], first_run=2)


def test_a_result_is_shown_in_one_line(result: pb.Result) -> None:
    assert repr(result) == f"Result(UCB1: 4 x 200 rounds, 3 arms, regret {result.final.mean():.4g})"


def test_indexing_by_run_and_round(result: pb.Result) -> None:
    assert len(result) == 4
    assert [run.tolist() for run in result] == result.regret.tolist()
    assert result[1].tolist() == result.regret[1].tolist()
    assert result[-1, 50] == result.regret[3, 1]
    assert result[:, 200].tolist() == result.final.tolist()
    assert result[1:3, 50:200].tolist() == result.regret[1:3, 1:].tolist()
    assert result[0, :100].tolist() == result.regret[0, :3].tolist()
    for place, rule in (
        (4, "run must be one of the 4; got run=4"),
        ((0, 51), "round must be one that was recorded; got round=51"),
        ((0, 201), "round must be one that was recorded"),
        ((0, slice(1, 9, 2)), "without a step"),
        ((0, 1, 2), "takes two places"),
    ):
        with pytest.raises(pb.InputError, match=rule):
            result[place]


def test_to_pandas(result: pb.Result) -> None:
    table = result.to_pandas()
    assert list(table.columns) == ["policy", "run", "round", "regret"]
    assert table.shape == (16, 4)
    wide = table.pivot(index="run", columns="round", values="regret")
    assert wide.index.tolist() == [2, 3, 4, 5]
    np.testing.assert_array_equal(wide.to_numpy(), result.regret)
    traced = pb.simulate(PROBLEM, pb.AdaptPatientBandits(0.7, 0.2, 0.5), 60, 2, record=3)
    np.testing.assert_array_equal(traced.to_pandas()["trace"], traced.trace.ravel())


@pytest.mark.parametrize("arms", [2, 3, 11])
def test_pulls_over_time(arms: int) -> None:
    """Against regret: with these gaps other counts give other sums. Eleven arms: two passes."""
    means = [0.9 - 0.07 * arm - 0.001 * arm**2 for arm in range(arms)]
    problem = pb.Problem(means, pb.Pareto(0.5))
    result = pb.simulate(problem, pb.UCB1(), 700, 5, seed=4, record=9, first_run=1)
    pulls = pb.pulls_over_time(result, workers=1)
    assert pulls.shape == (5, 9, arms)
    np.testing.assert_array_equal(pulls[:, -1], result.pulls)
    np.testing.assert_array_equal(pulls.sum(axis=2), np.tile(result.rounds, (5, 1)))
    np.testing.assert_allclose(pulls @ np.array(problem.gaps), result.regret, atol=1e-9)
    assert np.all(np.diff(pulls, axis=1) >= 0)


def test_pulls_fit_into_exact_numbers() -> None:
    """No pass counts beyond 2^53, and every arm is counted once."""
    from patientbandits.simulation.engine.run import Job

    for horizon in (2, 700, 10**5, 2**31 - 3):
        job = Job(pb.Problem([0.5] * 40), pb.UCB1(), np.array([horizon]), range(1), 0, False)
        passes = list(arms_by_pass(job))
        assert [arm for group in passes for arm in group] == list(range(40))
        assert all((horizon + 1) ** len(group) <= 2**53 for group in passes)


def test_plots(result: pb.Result) -> None:
    axis = result.plot(color="black")
    (line,) = axis.lines
    np.testing.assert_array_equal(line.get_ydata(), result.mean())
    assert line.get_label() == result.label
    assert len(axis.collections) == 1, "the band"
    axis = result.plot("pulls")
    assert [line.get_ydata()[-1] for line in axis.lines] == pytest.approx(result.pulls.mean(axis=0))
    with pytest.raises(pb.InputError, match=r"^Result\.plot: UCB1 records no trace"):
        result.plot("trace")
    with pytest.raises(pb.InputError, match=r"^Result\.plot: what must be one of"):
        result.plot("regrets")
    mpl.pyplot.close("all")


def test_latex_table() -> None:
    table = latex_table(["policy", "50 %"], [("a_b & c", 1.23456), (r"x\{}", 7)])
    assert table.splitlines() == [
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"policy & 50 \% \\",
        r"\midrule",
        r"a\_b \& c & 1.235 \\",
        r"x\textbackslash{}\{\} & 7 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_the_same_figure_is_the_same_bytes(tmp_path: Path) -> None:
    panel = Panel("a", "x", "y", [Line("one", [1, 2], [3, 4])])
    for name in ("first", "second"):
        draw([panel], tmp_path / name, files=FigureFiles(["pdf", "svg"]))
    for kind in ("pdf", "svg"):
        written = [(tmp_path / f"{name}.{kind}").read_bytes() for name in ("first", "second")]
        assert written[0] == written[1]


def test_a_last_row_that_is_not_full_fills_the_width() -> None:
    """Three panels in two columns: no empty place is left."""
    from matplotlib.figure import Figure

    for count, columns in ((3, 2), (4, 2), (5, 3), (1, 1)):
        figure = Figure()
        axes = [figure.add_subplot(place) for place in _places(figure, count, columns)]
        boxes = [axis.get_position() for axis in axes]
        left = min(box.x0 for box in boxes)
        right = max(box.x1 for box in boxes)
        rows = {round(box.y0, 6) for box in boxes}
        assert len(rows) == -(-count // columns)
        for row in rows:
            in_row = [box for box in boxes if round(box.y0, 6) == row]
            assert min(box.x0 for box in in_row) == pytest.approx(left)
            assert max(box.x1 for box in in_row) == pytest.approx(right)


NAMES = Panel("a_b", "x & y", "50 %", [Line("p_1 & #2 {x}", [1, 2], [3, 4])])
DOCUMENT = r"""\documentclass{article}
\usepackage{booktabs}
\usepackage{pgf}
\begin{document}
\input{table.tex}

\input{figure.pgf}
\end{document}
"""


def test_names_are_escaped_for_latex() -> None:
    panel = _escaped(NAMES)
    assert (panel.title, panel.xlabel, panel.ylabel) == (r"a\_b", r"x \& y", r"50 \%")
    assert panel.lines[0].name == r"p\_1 \& \#2 \{x\}"


@pytest.mark.parametrize("program", TEX_PROGRAMS)
def test_latex_compiles_table_and_figure(
    tmp_path: Path, program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"needs {program}")
    monkeypatch.setattr(figure_files, "TEX_PROGRAMS", (program,))
    draw([NAMES], tmp_path / "figure", files=FigureFiles(["pgf"], font_size=8))
    (tmp_path / "table.tex").write_text(latex_table(["a_b", "50 %"], [("x & y #1", 1.5)]))
    (tmp_path / "document.tex").write_text(DOCUMENT)
    command = [program, "-interaction=nonstopmode", "-halt-on-error", "document.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "document.pdf").read_bytes().startswith(b"%PDF")


def test_figure_formats_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(pb.InputError, match=r"^figure: format must be one of png, svg, pdf, pgf"):
        FigureFiles(["tiff"])
    with pytest.raises(pb.InputError, match=r"^figure: font_size must be"):
        FigureFiles(font_size=-1)
    monkeypatch.setattr(shutil, "which", lambda program: None)
    with pytest.raises(pb.InputError, match=r"^figure: format 'pgf' needs LaTeX"):
        FigureFiles(["pgf"])


def test_progress_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    pb.simulate(PROBLEM, pb.UCB1(), 60, 4, progress=True)
    assert "4.00/4.00" in capsys.readouterr().err
    pb.sweep([pb.Simulation(PROBLEM, pb.UCB1(), 60, 4)], progress=True)
    assert "240/240" in capsys.readouterr().err
    pb.simulate(PROBLEM, pb.UCB1(), 60, 4, progress=False)
    assert capsys.readouterr().err == ""


def test_delays_by_generator() -> None:
    law = pb.Pareto(0.7)
    by_seed = law.sample(50, 8, horizon=300)
    np.testing.assert_array_equal(law.sample(50, np.random.default_rng(8), horizon=300), by_seed)
    generator = np.random.default_rng(8)
    one_by_one = [law.sample(generator, horizon=300) for _ in range(50)]
    assert one_by_one == by_seed.tolist()
    assert isinstance(one_by_one[0], float)


def rows_of_a_log(count: int, seed: int) -> list[dict[str, object]]:
    """As the export has them: decisions at 3 to 1, one a minute; 20 % and 60 % convert."""
    generator = np.random.default_rng(seed)
    rows = []
    for number in range(count):
        arm = int(generator.random() < 0.25)
        converted = generator.random() < (0.2, 0.6)[arm]
        rows.append(
            {
                "decided": f"2026-01-{1 + number // 1440:02}T{number // 60 % 24:02}:"
                f"{number % 60:02}:00+00:00",
                "arm": ("blue", "green")[arm],
                "propensity": (0.75, 0.25)[arm],
                "value": 1.0 if converted else None,
                "counted": True if converted else None,
            }
        )
    return rows


def test_logs_for_the_open_bandit_pipeline(tmp_path: Path) -> None:
    """Inverse probability weighting on what it gets finds both rates: within 0.04, 4 errors each.

    Without the weights the mean is 0.3, far from both: the control.
    """
    rows = rows_of_a_log(8000, seed=5)
    feedback = pb.bandit_feedback(rows)
    assert feedback["n_rounds"] == 8000
    assert feedback["n_actions"] == 2
    assert feedback["context"].shape == (8000, 1)
    for action, rate in enumerate((0.2, 0.6)):
        weights = (feedback["action"] == action) / feedback["pscore"]
        assert np.mean(weights * feedback["reward"]) == pytest.approx(rate, abs=0.04)
        assert abs(np.mean(feedback["reward"]) - rate) > 0.08
    path = tmp_path / "log.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows({**row, "counted": str(row["counted"] or "").lower()} for row in rows)
    from_file = pb.bandit_feedback(path)
    table = pd.DataFrame(rows).to_dict("records")
    for other in (from_file, pb.bandit_feedback(table)):
        for name in ("action", "reward", "pscore"):
            np.testing.assert_array_equal(other[name], feedback[name])


def test_decisions_that_may_still_convert_are_left_out() -> None:
    rows = rows_of_a_log(100, seed=1)
    feedback = pb.bandit_feedback(rows, complete_after=30 * 60)
    assert feedback["n_rounds"] == 70
    with pytest.raises(pb.InputError, match="at least one decision must be 99999 s old"):
        pb.bandit_feedback(rows, complete_after=99999)


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"propensity": None}, "every decision must have a propensity"),
        ({"propensity": 0.0}, "every decision must have a propensity"),
        ({"arm": "red"}, "arm must be one of arms; got arm='red'"),
    ],
)
def test_logs_that_cannot_be_weighed_are_refused(change: dict[str, object], rule: str) -> None:
    rows = rows_of_a_log(10, seed=1)
    rows[4] |= change
    with pytest.raises(pb.InputError, match=rule):
        pb.bandit_feedback(rows, arms=["blue", "green"])
    with pytest.raises(pb.InputError, match="a column is missing; got column='decided'"):
        pb.bandit_feedback([{"arm": "blue"}])
