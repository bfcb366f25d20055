"""DelayBench's committed numbers: complete, replayed in part to the last bit, told in the docs.

A fresh seed's random part agrees with the frozen one.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread
from tools import benchmark_pages
from tools.frozen_docs import (
    FRONTIER,
    MAP,
    STUDY,
    choice_part,
    draw_frontier_of,
    draw_map,
    least_of,
    losses_in_words,
    with_table,
)

import patientbandits as pb
from patientbandits import cli
from patientbandits.research import compare
from patientbandits.research.compare.contenders import NOT_COUNTED
from patientbandits.research.compare.delay_bench import SUITE_SEED
from patientbandits.research.compare.frozen import (
    ALL_PROBLEMS,
    exact,
    ratio_cell,
    rows_of_file,
    standing_rows,
    summary_table,
    write_frozen,
    write_lines,
)
from patientbandits.research.compare.run import simulation_of
from patientbandits.research.compare.spread import interval, told_apart
from patientbandits.research.study import read_study

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[3] / "docs"
FOLDER = DOCS / "data" / "delay-bench-1"
SUITE = {case.name: case for case in compare.suite()}
PLAYERS = {player.name: player for player in (*compare.contenders(), *compare.tuned_contenders())}
JOINED_LATER = {
    "PatientBandits-tight",
    "DelayedEXP3-skipping",
    *(player.name for player in compare.tuned_contenders()),
}
FIRST_NUMBERS = "ade6bccd92499469b860e29cd6dd259338a19d9f294d71d87304cdddee8d2ff3"
"""SHA-256 of the rows of 0.2.0, sorted"""

frozen = pytest.mark.skipif(not FOLDER.exists(), reason="make freeze has not been run")

REPLAYED = [
    ("no_delay", "KLUCB"),
    ("slow_is_worst", "Thompson"),
    ("too_late", "WindowThompson"),
    ("drifting_delays", "UCB1"),
    ("random_03", "DelayedUCB1"),
    ("heterogeneous", "PatientThompson"),
    ("homogeneous", "PatientBandits-tight"),
    ("random_07", "DelayedEXP3-skipping"),
    ("log_normal", "UCB1-tuned"),
]


def played(problem: str, policy: str) -> pb.Result:
    one = simulation_of(SUITE[problem], PLAYERS[policy], SUITE_SEED)
    return one.play(0, one.runs, 2)


@frozen
@pytest.mark.parametrize(("problem", "policy"), REPLAYED)
def test_a_part_played_again_is_the_same_to_the_last_bit(problem: str, policy: str) -> None:
    rows = rows_of_file(FOLDER / "scores.csv")
    (row,) = (row for row in rows if (row["problem"], row["policy"]) == (problem, policy))
    result = played(problem, policy)
    assert row["regret"] == exact(float(result.final.mean()))
    assert int(row["runs"]) == len(result.final) == SUITE[problem].runs


@frozen
def test_the_numbers_of_0_2_0_are_still_there() -> None:
    """Who joins later adds rows, and changes no number of those that were there."""
    lines = (FOLDER / "scores.csv").read_text().splitlines()[1:]
    first = sorted(line for line in lines if line.split(",")[1] not in JOINED_LATER)
    assert len(first) == 32 * len(SUITE)
    assert hashlib.sha256("\n".join(first).encode()).hexdigest() == FIRST_NUMBERS


@frozen
def test_intervals_are_those_of_the_frozen_ratios() -> None:
    """Low, high and level of the standings, from the scores beside them."""
    logs: dict[str, dict[str, float]] = {}
    for row in rows_of_file(FOLDER / "scores.csv"):
        if row["ratio"]:
            log = math.log(max(float(row["ratio"]), 1e-3))
            logs.setdefault(row["policy"], {})[row["problem"]] = log
    standings = [
        row for row in rows_of_file(FOLDER / "standings.csv") if row["kind"] == ALL_PROBLEMS
    ]
    counted = [row for row in standings if row["group"] not in NOT_COUNTED]
    best = logs[counted[0]["policy"]]
    for row in standings:
        own = logs[row["policy"]]
        assert interval(own) == pytest.approx((float(row["low"]), float(row["high"])))
        level = row in counted and not told_apart(own, best)
        assert row["level"] == str(level), row["policy"]


@frozen
def test_the_page_tells_what_pairing_mirrors_does() -> None:
    logs: dict[str, dict[str, float]] = {}
    for row in rows_of_file(FOLDER / "scores.csv"):
        if row["ratio"]:
            logs.setdefault(row["policy"], {})[row["problem"]] = math.log(float(row["ratio"]))
    ours, theirs = (logs[name] for name in ("PatientThompson", "BootstrappedThompson"))
    both = {problem: ours[problem] - theirs[problem] for problem in ours}
    drawn = {problem: log for problem, log in both.items() if problem.startswith("random")}
    apart = {f"problem {number}": log for number, log in enumerate(both.values())}
    page = " ".join((DOCS / "compare.md").read_text().split())
    forms = ("{} times the regret of BootstrappedThompson ({} to {})", "{} times ({} to {})")
    for form, sample in zip((*forms, "{} ({} to {})"), (both, drawn, apart), strict=True):
        mean = math.exp(sum(sample.values()) / len(sample))
        numbers = (mean, *(interval(sample) or ()))
        assert form.format(*(f"{number:.2f}" for number in numbers)) in page
    tuned = {problem: log - ours[problem] for problem, log in logs["UCB1-tuned"].items()}
    mean = math.exp(sum(tuned.values()) / len(tuned))
    form = "{:.2f} times the regret of PatientThompson ({:.2f} to {:.2f})"
    assert form.format(mean, *(interval(tuned) or ())) in page


@frozen
def test_everybody_is_there_and_means_are_means() -> None:
    rows = rows_of_file(FOLDER / "scores.csv")
    found = {(row["problem"], row["policy"]) for row in rows}
    assert found == {(problem, policy) for problem in SUITE for policy in PLAYERS}
    assert len(rows) == len(found)
    for standing in rows_of_file(FOLDER / "standings.csv"):
        if standing["kind"] == ALL_PROBLEMS:
            own = [row for row in rows if row["policy"] == standing["policy"]]
            ratios = [max(float(row["ratio"]), 1e-3) for row in own if row["ratio"]]
            typical = math.exp(np.mean(np.log(ratios)))
            assert float(standing["typical"]) == pytest.approx(typical)
            assert float(standing["worst"]) == pytest.approx(max(ratios))


@frozen
def test_the_docs_tell_these_numbers() -> None:
    table = (FOLDER / "summary.md").read_text()
    scores = rows_of_file(FOLDER / "scores.csv")
    standings = rows_of_file(FOLDER / "standings.csv")
    assert table == summary_table(standings)
    assert table in (DOCS / "compare.md").read_text()
    assert choice_part(scores, standings) in (DOCS / "which-policy.md").read_text()


@frozen
def test_the_heat_map_is_drawn_from_these_numbers(tmp_path: Path) -> None:
    draw_map(rows_of_file(FOLDER / "standings.csv"), tmp_path / "map")
    assert np.array_equal(imread(tmp_path / "map.png"), imread(MAP))


@frozen
def test_the_frontier_is_drawn_from_these_numbers(tmp_path: Path) -> None:
    draw_frontier_of(rows_of_file(FOLDER / "scores.csv"), tmp_path / "frontier")
    assert np.array_equal(imread(tmp_path / "frontier.png"), imread(FRONTIER))


@frozen
def test_the_first_figure_tells_what_its_study_gives() -> None:
    """PatientThompson's part played again; with all it takes a minute."""
    study = read_study(STUDY)
    name = "PatientThompson, told nothing"
    alone = replace(study, policies={name: study.policies[name]})
    (simulation,) = alone.simulations().values()
    regret = simulation.play(0, simulation.runs, 2).final.mean()
    assert f"PatientThompson {regret:.0f}." in (DOCS.parent / "README.md").read_text()


def made_up_scores(folder: Path) -> None:
    columns = ("problem", "policy", "group", "regret", "ratio", "tied")
    rows = []
    for place, policy in enumerate(benchmark_pages.SHOWN):
        rows.append(("a_b", policy, "nothing", str(10.0 + place), str(1 + place / 10), "False"))
        rows.append(("even", policy, "nothing", "0.0", "", "True"))
    rows[0] = (*rows[0][:5], "True")
    rows.append(("a_b", "Seer", "reports", "1.0", "0.1", "False"))
    rows.append(("even", "Seer", "reports", "0.0", "", "False"))
    write_lines(folder / "scores.csv", columns, rows)


def test_the_site_shows_results_as_soon_as_there_are_some(tmp_path: Path) -> None:
    assert "Not frozen yet" in benchmark_pages.results_page(tmp_path)
    made_up_scores(tmp_path)
    page = benchmark_pages.results_page(tmp_path)
    best = benchmark_pages.SHOWN[0]
    assert f"| a\\_b | {best} | 10.0 | **1.00** | 1.10 | 1.20 |" in page, "reports are not counted"
    assert "| even | | 0 | |" in page
    assert "Not frozen" not in page


@frozen
def test_the_site_has_every_problem() -> None:
    page = benchmark_pages.results_page()
    for problem in SUITE:
        assert f"| {benchmark_pages.cell_text(problem)} |" in page


def test_losses_are_told() -> None:
    """Where PatientThompson is worst, with the name of the winner; wins are not."""
    rows = []
    for problem, ratio, tied in (
        ("p", "3.0", "False"),
        ("q", "1.0", "True"),
        ("r", "9.0", "False"),
    ):
        ours = {"policy": "PatientThompson", "ratio": ratio, "tied": tied, "regret": ratio}
        other = {"policy": "Other", "ratio": "1.0", "tied": "True", "regret": "1.0"}
        rows += [{"problem": problem, "group": "nothing", **row} for row in (ours, other)]
    words = " ".join(losses_in_words(rows))
    assert "on 1 of 3 problems" in words
    assert "r (9.0 times Other) and p (3.0 times Other)" in words
    assert "q (" not in words


@pytest.mark.parametrize("name", ["docs/compare.md", "docs/which-policy.md"])
def test_the_table_goes_between_its_marks(name: str) -> None:
    page = (DOCS.parent / name).read_text()
    changed = with_table(page, "| a |\n")
    assert "\n| a |\n" in changed
    assert with_table(changed, "| b |\n") == with_table(page, "| b |\n")


def log_ratios(seed: int, policy: str, other: str, runs: int = 12) -> np.ndarray:
    """log of regret over the other's, on the random problems of this seed."""
    found = []
    for case in compare.suite(seed):
        if "random" in case.kinds:
            few = replace(case, runs=runs)
            pair = [simulation_of(few, PLAYERS[name], seed) for name in (policy, other)]
            ours, theirs = (one.play(0, runs, 2).final.mean() for one in pair)
            found.append(math.log(max(ours, 0.1) / max(theirs, 0.1)))
    return np.array(found)


def agrees(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether the 99 % interval of the difference of two means holds 0."""
    difference = first.mean() - second.mean()
    error = math.sqrt(first.var(ddof=1) / len(first) + second.var(ddof=1) / len(second))
    return abs(difference) < 2.6 * error


@pytest.mark.parametrize("policy", ["PatientThompson", "Thompson"])
def test_a_fresh_seed_agrees_with_the_frozen_one(policy: str) -> None:
    """Error rate 1 %; a policy that is as much worse as Uniform is found out."""
    ours = log_ratios(SUITE_SEED, policy, "KLUCB")
    assert agrees(ours, log_ratios(777, policy, "KLUCB"))
    assert not agrees(ours, log_ratios(777, "Uniform", "KLUCB"))


def test_only_the_whole_suite_is_frozen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = compare.run(tmp_path / "out", ["no_delay"], ["KLUCB", "UCB1"], runs=3)
    with pytest.raises(pb.InputError, match="only all of DelayBench 1"):
        write_frozen(found, tmp_path / "data")
    assert not (tmp_path / "data").exists()
    told = ["compare", "--runs", "3", "--freeze", str(tmp_path / "data")]
    assert cli.main(told) == 2
    assert "--freeze needs the whole of delay-bench-1" in capsys.readouterr().err
    write_lines(tmp_path / "standings.csv", ("kind", "policy"), standing_rows(found))
    again = rows_of_file(tmp_path / "standings.csv")
    assert {row["policy"] for row in again} == {"KLUCB", "UCB1"}
    assert exact(0.1 + 0.2) == "0.30000000000000004"


def test_a_cell_is_bold_only_if_nobody_else_is_level() -> None:
    row = {"kind": "random", "typical": "1.5", "level": "True", "low": "1.2", "high": "1.9"}
    assert ratio_cell(row, alone=True) == "**1.50**"
    assert ratio_cell(row, alone=False) == "≈ 1.50"
    assert ratio_cell(row | {"level": "False"}, alone=True) == "1.50"
    assert ratio_cell(row | {"kind": ALL_PROBLEMS}, alone=False) == "≈ 1.50 (1.20–1.90)"


def test_the_least_is_bold_only_if_it_is_told_apart() -> None:
    def lost(regret: float, half: float) -> dict[str, str]:
        return {"regret": str(regret), "low": str(regret - half), "high": str(regret + half)}

    assert least_of([lost(9, 1), lost(5, 1), lost(7, 1)]) == 1
    assert least_of([lost(9, 1), lost(5, 2), lost(7, 1)]) is None
