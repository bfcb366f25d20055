"""The study of adaptivity: its parts against naive definitions, its page against its data, its command in small."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from patientbandits import AdaptPatientBandits, simulate, theory
from patientbandits.errors import InputError
from patientbandits.paper.adaptivity import plan
from patientbandits.paper.adaptivity.data import Data, read
from patientbandits.paper.adaptivity.intervals import interval, student_quantile
from patientbandits.paper.adaptivity.page import power, render
from patientbandits.paper.adaptivity.run import departure
from patientbandits.sweeps import sweep

ROOT = Path(__file__).parents[1]
COMMAND = [sys.executable, "-m", "patientbandits.cli", "reproduce"]


def naive_departure(rounds: list[int], alpha_low: list[float]) -> float:
    """The first round such that alpha_low is above zero then and at every later one."""
    for j, t in enumerate(rounds):
        if all(value > 0 for value in alpha_low[j:]):
            return t
    return math.inf


@given(
    st.lists(
        st.lists(st.sampled_from([0.0, 0.0, 0.1, 1e-300]), min_size=6, max_size=6),
        min_size=1,
        max_size=5,
    )
)
def test_departure_is_the_naive_one(runs: list[list[float]]) -> None:
    rounds = [10, 11, 20, 35, 70, 100]
    expected = [naive_departure(rounds, run) for run in runs]
    assert departure(np.array(rounds), np.array(runs)).tolist() == expected


def naive_start(alpha: float, mean: float, penalty: float, ratio: float, share: float) -> int:
    """The first N at which Algorithm 2, fed with expectations, gives alpha_low > 0."""
    n = 1
    while True:
        n += 1
        long = n // 2
        short = int(ratio * long)
        if short >= 1:
            late = mean * share * (short**-alpha - long**-alpha)
            hat = min(-math.log(late) / math.log(n), 0.5)
            if hat - penalty / math.log(n) > 0:
                return n


@pytest.mark.parametrize("alpha", [0.2, 0.3, 0.5, 0.8])
@pytest.mark.parametrize("penalty", [0.01, 1.0, 2.0])
@pytest.mark.parametrize("ratio", [0.35, 0.01])
@pytest.mark.parametrize("share", [1.0, 0.7])
def test_start_is_the_naive_one(alpha: float, penalty: float, ratio: float, share: float) -> None:
    """Up to a step of d, since the formula takes d/D for its limit r, which the integers only approach."""
    predicted = theory.adaptive_start(alpha, 0.8, penalty, ratio, share)
    assert (
        predicted <= naive_start(alpha, 0.8, penalty, ratio, share) <= 1.01 * predicted + 4 / ratio
    )


def test_start_without_overflow_and_its_rules() -> None:
    assert theory.adaptive_start(0.01, 0.8, 20.0, 0.35) == math.inf
    assert theory.adaptive_start(0.8, 0.8, 400.0, 0.35) == math.inf
    for bad in (
        {"alpha": 0.0},
        {"mean": math.nan},
        {"penalty": -1.0},
        {"ratio": 1.0},
        {"share": 0.0},
    ):
        with pytest.raises(InputError, match=f"adaptive_start: {next(iter(bad))} must be"):
            theory.adaptive_start(
                **{"alpha": 0.3, "mean": 0.8, "penalty": 1.0, "ratio": 0.35} | bad
            )


def test_printed_penalty_is_the_policys() -> None:
    horizon, problem = 80_000, plan.slow(0.2, 0.8)
    number = theory.adaptive_penalty(2, horizon, plan.C, plan.MEAN_FLOOR)
    assert number == pytest.approx(math.log(16 * math.sqrt(math.log(4 * horizon**3)) / 0.42))
    printed, given_ = (
        simulate(problem, plan.adapt("c/2", penalty), horizon, 2, record=50)
        for penalty in ("paper", number)
    )
    assert printed.trace is not None
    assert given_.trace is not None
    assert printed.trace[:, -1].min() > 0
    assert np.allclose(printed.trace, given_.trace, rtol=1e-9, atol=0)


def test_alpha_low_leaves_zero_where_predicted() -> None:
    """Tail 0.8, penalty 3: alpha_hat is 1/2 and only N > e^6 is waited for, so noise matters little."""
    horizon = 3000
    result = simulate(
        plan.slow(0.2, 0.8),
        plan.adapt("c/2", 3.0),
        horizon,
        20,
        seed=5,
        record=plan.recorded(horizon),
    )
    assert result.trace is not None
    predicted, left = (
        theory.adaptive_start(0.8, 0.8, 3.0, plan.C / 2),
        departure(result.rounds, result.trace),
    )
    assert np.all(left >= predicted)
    assert np.all(left <= 2 * plan.STEP * predicted)


def test_the_default_ratio_is_called_printed() -> None:
    assert (
        plan.ratio_of("printed")
        == AdaptPatientBandits(plan.C, plan.ALPHA_FLOOR, plan.MEAN_FLOOR).numbers(2).ratio
    )


def test_the_slow_problem_obeys_assumption_2() -> None:
    fast, slow = plan.slow(0.2, 0.3).delays
    m = np.arange(1, 1000)
    assert [law.survival_at(int(x)) for law in (slow,) for x in m] == pytest.approx(m**-0.3)
    assert [fast.survival_at(int(x)) for x in m] == pytest.approx(plan.C * m**-0.3)


@pytest.mark.parametrize("degrees", [1, 2, 3, 6, 9, 29, 100])
def test_intervals_are_students(degrees: int) -> None:
    assert student_quantile(degrees) == pytest.approx(stats.t.ppf(0.975, degrees))
    values = np.random.default_rng(degrees).exponential(size=degrees + 1)
    mean, low, high = interval(values)
    assert mean == pytest.approx(values.mean())
    assert (low, high) == pytest.approx(
        stats.t.interval(0.95, degrees, values.mean(), stats.sem(values))
    )


def test_numbers_in_words() -> None:
    assert [power(x) for x in (7.4, 999, 10_000, 72_508, 2.9e12, math.inf)] == [
        "7",
        "999",
        "10⁴",
        "7.3·10⁴",
        "2.9·10¹²",
        "–",
    ]


@pytest.fixture(scope="module")
def committed() -> Data:
    """The data beside the page."""
    return read(ROOT / "docs" / "data" / "adaptivity")


def test_the_page_is_made_of_its_data(committed: Data) -> None:
    assert (ROOT / "docs" / "adaptivity.md").read_text() == render(committed)


def test_the_data_come_from_this_code(committed: Data) -> None:
    """One row of the gaps and one departure, played again."""
    horizon, runs, seed = (committed.settings[name] for name in ("horizon", "runs", "seed"))
    row = next(row for row in committed.gaps if (row["gap"], row["policy"]) == ("0.32", "UCB1"))
    (again,) = sweep([plan.gaps(horizon, runs, seed)[0.32, "UCB1"]])
    assert float(row["regret"]) == pytest.approx(again.final.mean(), rel=1e-3)
    key = (0.2, 0.8, "c/2", "paper")
    left = next(
        row
        for row in committed.departures
        if (float(row["gap"]), float(row["tail"]), row["ratio"], row["penalty"]) == key
    )
    (again,) = sweep([plan.departures(horizon, runs, seed)[key]])
    assert again.trace is not None
    assert float(left["median"]) == pytest.approx(
        np.median(departure(again.rounds, again.trace)), rel=0.05
    )


def test_the_words_of_the_page_hold(committed: Data) -> None:
    """What the page says in words, which `render` cannot compute."""
    final = {policy: committed.curve(policy)[-1] for policy in committed.policies()}
    regret = {policy: float(row["regret"]) for policy, row in final.items()}
    ucb, true, floor, kl_true, kl_floor = plan.others(plan.TAIL)
    adapting = [policy for policy in regret if policy.startswith("Adapt")]
    assert regret[ucb] < min(regret[policy] for policy in adapting)
    assert max(regret[kl_true], regret[kl_floor], regret[plan.THOMPSON]) < regret[plan.FAVOURITE]
    assert float(final[plan.adapt_name("c/2", 0.01)]["alpha_low"]) > plan.TAIL + 0.05
    same = next(row for row in committed.versus if row["other"] == true)
    assert float(same["low95"]) < 0 < float(same["high95"])
    assert float(final[plan.FAVOURITE]["alpha_low"]) == pytest.approx(plan.TAIL, abs=0.01)
    assert regret[floor] > 3 * regret[plan.FAVOURITE]
    late = [plan.adapt_name("printed", penalty) for penalty in plan.PENALTIES[1:]] + [
        plan.adapt_name("c/2", "paper")
    ]
    assert min(regret[policy] for policy in late) > regret[plan.FAVOURITE] > regret[plan.PRINTED]
    for row in committed.departures:
        if float(row["predicted_pulls"]) > int(row["horizon"]):
            assert row["left"] == "0"
        elif row["left"] == row["runs"]:
            assert float(row["median"]) > 0.95 * float(row["predicted_pulls"])
    quotient = {}
    for gap in plan.HARD_GAPS:
        at = {
            row["policy"]: float(row["regret"]) / (gap * int(row["horizon"]))
            for row in committed.gaps
            if float(row["gap"]) == gap
        }
        quotient[gap] = at["UCB1"] / at[plan.FAVOURITE]
        assert quotient[gap] < 1 or min(at["UCB1"], at[plan.FAVOURITE]) > 0.5, (
            "it beats UCB1 only where both are worse than a coin"
        )
    assert max(quotient.values()) > 1


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("quick")
    done = subprocess.run(
        [*COMMAND, "--adaptivity", "--quick", "--out", "there"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == "", "quiet when piped"
    assert done.stdout == f"page: {Path('there') / 'adaptivity.md'}\n"
    return folder / "there"


def test_quick_writes_page_figures_and_data(quick: Path) -> None:
    page = (quick / "adaptivity.md").read_text()
    assert page == render(read(quick / "data" / "adaptivity"))
    assert "Made at another size (10⁴ rounds, 2 runs)" in page
    pictures = re.findall(r"\]\(([^)]+)\)", page)
    assert len(pictures) == 2
    for name in pictures:
        assert (quick / name).stat().st_size > 1000
    found = read(quick / "data" / "adaptivity")
    assert len(found.departures) == len(plan.DEPARTURES) * 8 + len(plan.VARIANTS)
    assert len(found.gaps) == 7 * len(plan.HARD_GAPS)
    assert set(found.policies()) == {
        *plan.others(plan.TAIL),
        *(plan.adapt_name(*v) for v in plan.VARIANTS),
        plan.THOMPSON,
    }


def test_quick_goes_on_where_it_stopped(quick: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in (quick / "pieces").glob("*.npz")}
    page = (quick / "adaptivity.md").read_bytes()
    removed = min(before)
    removed.unlink()
    subprocess.run(
        [*COMMAND, "--adaptivity", "--quick", "--out", str(quick)],
        check=True,
        capture_output=True,
        timeout=600,
    )
    after = {path: path.stat().st_mtime_ns for path in (quick / "pieces").glob("*.npz")}
    assert {path for path in after if after[path] != before[path]} == {removed}
    assert (quick / "adaptivity.md").read_bytes() == page


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--quick",), "--horizon and --quick belong to --adaptivity"),
        (("--horizon", "20000"), "--horizon and --quick belong to --adaptivity"),
        (("--adaptivity", "homogeneous"), "neither experiments nor presets"),
        (("--adaptivity", "--preset", "literal"), "neither experiments nor presets"),
        (("--adaptivity", "--horizon", "9999"), "horizon must be an integer >= 10000"),
        (("--adaptivity", "--runs", "1"), "runs must be an integer >= 2"),
    ],
)
def test_bad_arguments_are_refused_in_one_line(
    tmp_path: Path, arguments: tuple[str, ...], expected: str
) -> None:
    done = subprocess.run(
        [*COMMAND, *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert expected in done.stderr
    assert os.listdir(tmp_path) == []
