"""The comparison: a suite with every kind of problem, all policies, paired numbers,
advice that follows from them.
"""

from __future__ import annotations

import csv
import hashlib
import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import patientbandits as pb
from patientbandits import cli
from patientbandits.inference.intervals import ratio_interval
from patientbandits.policies import POLICIES
from patientbandits.problems import catalogue as problems
from patientbandits.problems.random_problems import mirrored, random_problem
from patientbandits.research import compare
from patientbandits.research.compare.advice import advice
from patientbandits.research.compare.contenders import (
    EXCLUDED,
    PATIENT_ALPHA,
    feedback_of,
    world_for,
)
from patientbandits.research.compare.delay_bench import DELAY_BENCH, RANDOM_CASES, SUITE_SEED
from patientbandits.research.compare.knowledge import (
    LEAST_ALPHA,
    Slowest,
    pooled,
    slowest,
    valid_alpha,
)
from patientbandits.research.compare.scores import Score, scores, standings, standings_by_kind
from patientbandits.research.compare.selection import chosen
from patientbandits.research.compare.suite import HOPELESS, PROBLEM_KINDS
from patientbandits.research.compare.targets import LEAST_TARGET_RUNS, TARGET_RUNS, Target, targets

pytestmark = pytest.mark.slow

SUITE = {case.name: case for case in compare.suite()}
TWO, FEW = (
    ("no_delay", "equal_means", "heterogeneous"),
    ("KLUCB", "UCB1", "PatientBandits", "Uniform", "DUCB"),
)


def kinds_of(problem: pb.Problem) -> set[type]:
    return {type(law) for law in problem.delays}


def test_the_suite_has_every_kind_of_problem() -> None:
    found = [case.problem for case in SUITE.values()]
    assert len(found) == len(compare.suite()) >= 14
    for name, make in problems.PROBLEMS.items():
        if not name.startswith("theorem4"):
            assert SUITE[name].problem == make(preset="published")
    wanted = {
        "no delay": lambda p: kinds_of(p) == {pb.NoDelay},
        "light tails": lambda p: kinds_of(p) == {pb.Geometric},
        "log-normal": lambda p: kinds_of(p) == {pb.LogNormal},
        "fixed and far apart": lambda p: (
            kinds_of(p) == {pb.Fixed} and p.delays[1].delay >= 20 * p.delays[0].delay
        ),
        "two modes": lambda p: all(
            abs(law.survival(100) - law.survival(399)) < 1e-9 and 0.1 < law.survival(200) < 0.9
            for law in p.delays
        ),
        "low rates": lambda p: set(p.means) <= {0.01, 0.02, 0.03, 0.04, 0.05},
        "ten arms": lambda p: p.arms == 10,
        "fifty arms": lambda p: p.arms == 50,
        "other rewards": lambda p: {type(r) for r in p.rewards} == {pb.Beta},
        "equal means": lambda p: max(p.gaps) == 0,
        "slow arm worst": lambda p: (
            p.means[0] > p.means[1] and p.delays[0].survival(50) < p.delays[1].survival(50) / 2
        ),
    }
    for what, fits in wanted.items():
        assert any(map(fits, found)), what
    a, b = SUITE["theorem4_a"], SUITE["theorem4_b"]
    assert (a.problem, b.problem) == problems.indistinguishable_pair(a.horizon, 0.3)
    for case in SUITE.values():
        assert case.what.endswith(".")
        assert case.tests
        assert set(case.kinds) <= set(PROBLEM_KINDS)
        assert case.counted == bool(case.kinds), "every problem that counts is of some kind"


FROZEN = "24c327f852129fbe"
"""What DelayBench 1 is: changes of it belong into DelayBench 2."""


def fingerprint(cases: tuple[compare.Case, ...]) -> str:
    """Of names, problems, horizons and runs."""
    known = [(case.name, case.problem.describe(), case.horizon, case.runs) for case in cases]
    return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()[:16]


def test_the_suite_is_frozen() -> None:
    assert (DELAY_BENCH, fingerprint(compare.suite())) == ("DelayBench 1", FROZEN)


def test_both_directions() -> None:
    """Every problem whose arms differ in delay is there the other way round, but for two kinds."""
    named = [case for case in SUITE.values() if "random" not in case.kinds]
    present = {canonical(case.problem) for case in named}
    for case in named:
        if case.counted and HOPELESS not in case.kinds:
            assert canonical(mirrored(case.problem)) in present, case.name
    for kind in ("heavy tails", "light tails", "rare", "many arms", "values", "window"):
        ways = {way for case in named if kind in case.kinds for way in case.kinds}
        assert {"slow arm best", "slow arm worst"} <= ways, kind
    one = sum("slow arm best" in case.kinds for case in named)
    other = sum("slow arm worst" in case.kinds for case in named)
    assert abs(one - other) <= 2
    laws = {law.owner for case in named for law in case.problem.delays}
    assert len(laws) >= 7


def canonical(problem: pb.Problem) -> tuple[object, ...]:
    """The problem whatever the order of its arms."""
    arms = zip(problem.means, problem.delays, problem.rewards, strict=True)
    later = [(start, canonical(phase)) for start, phase in problem.phases[1:]]
    return frozenset(arms), problem.window, problem.batch, tuple(later)


def test_a_third_is_drawn_at_random() -> None:
    drawn = [case for case in SUITE.values() if "random" in case.kinds]
    assert len(drawn) == RANDOM_CASES >= len(SUITE) / 3.2
    for number, case in enumerate(drawn):
        assert case.problem == random_problem(SUITE_SEED, number)
    others = compare.suite(7)
    assert [case.name for case in others] == list(SUITE)
    changed = [case for case in others if case.problem != SUITE[case.name].problem]
    assert [case.name for case in changed] == [case.name for case in drawn]


def test_a_fresh_seed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Other worlds and other random problems; the seed is told, and plays the same again."""
    asked = ["--problems", "random_02", "--policies", "UCB1", "KLUCB", "--runs", "3"]
    out = str(tmp_path / "out")
    assert cli.main(["compare", *asked, "--seed", "fresh", "--out", out]) == 0
    (seed,) = re.findall(r"random problems of --seed (\d+)", capsys.readouterr().out)
    data = json.loads((tmp_path / "out" / "comparison.json").read_text())
    assert data["suite"] == "DelayBench 1"
    assert data["seed"] == int(seed)
    assert data["problems"][0]["problem"] == random_problem(int(seed), 2).describe()
    again = str(tmp_path / "again")
    assert cli.main(["compare", *asked, "--seed", seed, "--out", again, "--json"]) == 0
    repeated = json.loads(capsys.readouterr().out)
    assert repeated["scores"] == data["scores"]
    with pytest.raises(SystemExit):
        cli.main(["compare", "--seed", "stale"])


def test_every_policy_of_the_package_takes_part() -> None:
    everyone = compare.contenders()
    assert len({player.name for player in everyone}) == len(everyone)
    playing = {player.make(case.problem).owner for player in everyone for case in SUITE.values()}
    assert playing | set(EXCLUDED) == set(POLICIES)
    assert not playing & set(EXCLUDED)
    for player in everyone:
        groups = {player.group(case.problem) for case in SUITE.values()}
        assert len(groups) == 1, "what a contender has to go on is the same on all problems"


def test_what_contenders_are_told_is_true() -> None:
    for case in SUITE.values():
        alpha = valid_alpha(case.problem, PATIENT_ALPHA)
        assert 0 < alpha <= PATIENT_ALPHA
        if alpha > LEAST_ALPHA:
            assert all(law.satisfies(alpha) for law in case.problem.laws_in_time())
        ages = np.unique(np.geomspace(1, 5000, 40).astype(int))
        tails = np.array([law.survival(ages) for law in case.problem.laws_in_time()])
        np.testing.assert_array_equal(slowest(case.problem).survival(ages), tails.max(axis=0))
        np.testing.assert_allclose(
            pooled(case.problem).survival(ages), tails.mean(axis=0), rtol=1e-12
        )
    assert valid_alpha(SUITE["fixed_apart"].problem, PATIENT_ALPHA) == LEAST_ALPHA, (
        "no alpha is valid there"
    )
    assert Slowest([pb.Fixed(3), pb.Fixed(5)]).survival_at(4) == 1.0


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, compare.Comparison]:
    """A comparison with few runs on few problems."""
    out = tmp_path_factory.mktemp("small")
    return out, compare.run(out, TWO, FEW, runs=8, seed=3)


def test_the_page_is_self_contained(small: tuple[Path, compare.Comparison]) -> None:
    page = (small[0] / "comparison.html").read_text()
    assert not re.search(r'(src|href)="(?!data:|#)', page), "nothing is loaded from elsewhere"
    assert "http" not in page.replace("http://www.w3.org", "").replace("https://matplotlib.org", "")
    assert "<script" not in page
    assert page.count("<img") == 2
    for name in (*TWO, *FEW):
        assert name in page
    for anchor in re.findall(r'href="#(\w+)"', page):
        assert f'id="{anchor}"' in page
    assert "(told the law)" in page


def test_figures_and_data_are_there(small: tuple[Path, compare.Comparison]) -> None:
    out, found = small
    for name in ("heat_map", "curves"):
        assert (out / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert (out / "figures" / f"{name}.svg").read_text().lstrip().startswith("<?xml")
    rows = list(csv.DictReader((out / "data" / "scores.csv").read_text().splitlines()))
    data = json.loads((out / "comparison.json").read_text())
    assert len(rows) == len(data["scores"]) == len(TWO) * len(FEW)
    assert data == json.loads(json.dumps(found.data()))
    assert {
        row["policy"]
        for row in csv.DictReader((out / "data" / "speed.csv").read_text().splitlines())
    } == set(FEW)
    curves = list(csv.DictReader((out / "data" / "curves.csv").read_text().splitlines()))
    assert {(row["problem"], row["policy"]) for row in curves} == {(p, q) for p in TWO for q in FEW}
    assert all(seconds > 0 for seconds in found.seconds_per_round.values())


def test_again_plays_nothing_and_gives_the_same_bytes(
    small: tuple[Path, compare.Comparison], monkeypatch: pytest.MonkeyPatch
) -> None:
    out, _ = small
    before = {path: path.read_bytes() for path in out.rglob("*.*")}

    def refuse(*arguments: object, **options: object) -> None:
        raise AssertionError("nothing is to be played")

    monkeypatch.setattr(pb.Simulation, "play", refuse)
    compare.run(out, TWO, FEW, runs=8, seed=3)
    after = {path: path.read_bytes() for path in out.rglob("*.*")}
    assert after == before
    with pytest.raises(AssertionError):
        compare.run(out, TWO, FEW, runs=8, seed=4)


def test_numbers_are_paired(small: tuple[Path, compare.Comparison]) -> None:
    """Every number of a score, from the definition."""
    _, found = small
    finals = {name: found.results["heterogeneous", name].final for name in FEW}
    best = min(finals, key=lambda name: finals[name].mean())
    for row in (row for row in found.scores if row.problem == "heterogeneous"):
        more = finals[row.policy] - finals[best]
        half = 1.959964 * np.sqrt(np.sum((more - more.mean()) ** 2) / 7 / 8)
        assert row.best == (row.policy == best)
        assert row.regret == pytest.approx(finals[row.policy].mean())
        assert (row.difference_low, row.difference_high) == pytest.approx(
            (more.mean() - half, more.mean() + half), abs=1e-5
        )
        assert row.ratio == pytest.approx(finals[row.policy].mean() / finals[best].mean())
        assert row.tied == (more.mean() <= half)
        horizon = SUITE["heterogeneous"].horizon
        assert row.per_1000 == pytest.approx(1000 * finals[row.policy].mean() / horizon)
        assert row.to_oracle is None, "it does not take part"
    equal = [row for row in found.scores if row.problem == "equal_means"]
    assert all(
        row.ratio is None and row.regret == 0 and sum(row.shares) == pytest.approx(1)
        for row in equal
    )
    assert len({row.shares for row in equal}) > 1
    assert all(standing.problems == 2 for standing in found.standings), "equal means do not count"


def test_the_interval_of_a_ratio_covers_it() -> None:
    """95 % of 2000 intervals, with a standard error of 0.5 %.

    The same without pairing covers far more often.
    """
    random, hits, loose = np.random.default_rng(5), 0, 0
    for _ in range(2000):
        world = random.gamma(4.0, size=100)
        ours, theirs = 2 * world + random.normal(0, 0.5, 100), world + random.normal(0, 0.5, 100)
        ratio, low, high = ratio_interval(ours, theirs)
        assert low <= ratio <= high
        hits += low <= 2 <= high
        _, low, high = ratio_interval(random.permutation(ours), theirs)
        loose += low <= 2 <= high
    assert 0.935 <= hits / 2000 <= 0.965
    assert loose / 2000 > 0.99
    assert ratio_interval(2 * world, world) == pytest.approx((2, 2, 2))


def result(problem: pb.Problem, policy: pb.Policy) -> pb.Result:
    return pb.simulate(problem, policy, 300, 10, record=1)


def test_a_policy_that_sees_more_is_not_the_best() -> None:
    @dataclass(frozen=True)
    class Told(pb.UCB1):
        feedback: ClassVar[str] = "reports"

    player = compare.Contender("told", lambda problem: Told())
    case = SUITE["no_delay"]
    assert player.group(case.problem) == "reports"
    good = result(case.problem, pb.KLUCB())
    results = {
        "told": replace(good, regret=good.regret / 2),
        "plain": good,
        "bad": replace(good, regret=good.regret * 2),
    }
    groups = {"told": "reports", "plain": "nothing", "bad": "bound"}
    by_name = {row.policy: row for row in scores(case, results, groups)}
    assert [row.best for row in by_name.values()] == [False, True, False]
    assert [row.tied for row in by_name.values()] == [False, True, False]
    assert [row.ratio for row in by_name.values()] == pytest.approx([0.5, 1.0, 2.0])


def test_worlds_differ_in_what_is_seen_only() -> None:
    for player in compare.contenders():
        for case in SUITE.values():
            policy = player.make(case.problem)
            world = world_for(case.problem, policy)
            assert getattr(world, "feedback", "rewards") == feedback_of(policy)
            assert (world.means, world.delays, world.rewards, world.streams) == (
                case.problem.means,
                case.problem.delays,
                case.problem.rewards,
                case.problem.streams,
            )


def table(regrets: dict[str, dict[str, float]], groups: dict[str, str]) -> list[Score]:
    """Scores as they would be if every run had exactly these regrets."""
    rows = []
    for problem, by_policy in regrets.items():
        finals = {name: np.full((10, 1), value) for name, value in by_policy.items()}
        base = result(SUITE[problem].problem, pb.UCB1())
        rows += scores(
            SUITE[problem],
            {name: replace(base, regret=regret) for name, regret in finals.items()},
            groups,
        )
    return rows


def test_advice_follows_from_the_numbers() -> None:
    groups = {
        "A": "nothing",
        "B": "nothing",
        "C": "bound",
        "D": "law",
        "E": "reports",
        "Uniform": "nothing",
    }
    regrets = {
        "homogeneous": {"A": 10.0, "B": 30.0, "C": 9.0, "D": 40.0, "E": 5.0, "Uniform": 500.0},
        "heterogeneous": {"A": 50.0, "B": 60.0, "C": 45.0, "D": 600.0, "E": 20.0, "Uniform": 500.0},
    }
    cases, cost = (
        [SUITE[name] for name in regrets],
        {"A": 1e-5, "B": 1e-6, "C": 1e-6, "D": 1e-6, "E": 1e-6, "Uniform": 1e-8},
    )

    def answers(changed: dict[str, dict[str, float]]) -> dict[str, tuple[str, str]]:
        return {
            part.when: (part.use, part.why)
            for part in advice(cases, table(changed, groups), cost, ["A"])
        }

    given = answers(regrets)
    assert given["You know nothing about the delays"][0] == "A"
    assert given["You can vouch for a bound on the delays"][0] == "C"
    assert given["You know the law of the delays of all arms together"][0] == "C"
    assert "does not pay" in given["You know the law of the delays of all arms together"][1]
    assert given["Every pull reports in the end, zeros too"][0] == "E"
    assert given["Every microsecond counts"][0] == "B", "ten times as fast"
    assert given["You cannot afford a bad surprise"][0] == "A"
    assert given["Where A loses"][0] == "2 of 2"
    assert given["Where A loses"][1].endswith(
        ": homogeneous (1.1 times C) and heterogeneous (1.1 times C)."
    )
    assert given["Worse than pulling at random somewhere"] == (
        "1 of 4",
        "D on 1 problem. Nowhere: A, B and C.",
    )

    doctored = {name: {**row, "B": row["A"] * 0.8, "D": 1.0} for name, row in regrets.items()}
    given = answers(doctored)
    assert given["You know nothing about the delays"][0] == "B"
    assert given["You know the law of the delays of all arms together"][0] == "D"
    assert "Every microsecond counts" not in given, "the best is the fastest already"
    assert given["Every pull reports in the end, zeros too"][0] == "E", "it needs no law"
    assert "50.0 times D" in given["Where A loses"][1]
    assert "Worse than pulling at random somewhere" not in given
    unlucky = answers(
        {
            "homogeneous": regrets["homogeneous"],
            "heterogeneous": {**regrets["heterogeneous"], "A": 400.0, "B": 300.0},
        }
    )
    assert unlucky["You know nothing about the delays"][0] == "A"
    assert unlucky["You cannot afford a bad surprise"][0] == "B"
    assert (
        answers({name: {**row, "A": 1.0} for name, row in regrets.items()})["Where A loses"][0]
        == "0 of 2"
    )


def test_without_regret_there_is_no_ratio() -> None:
    rows = table({"no_delay": {"A": 0.0, "B": 3.0}}, {"A": "nothing", "B": "nothing"})
    assert [row.ratio for row in rows] == [None, None]
    assert standings(rows) == []
    with pytest.raises(pb.InputError, match="must be > 0"):
        ratio_interval(np.ones(3), np.zeros(3))


def test_scores_against_the_oracle_and_by_kind() -> None:
    groups = {"ToldThompson": "law", "A": "nothing", "B": "nothing"}
    regrets = {
        "heterogeneous": {"ToldThompson": 10.0, "A": 20.0, "B": 80.0},
        "slow_is_worst": {"ToldThompson": 8.0, "A": 16.0, "B": 4.0},
        "no_delay": {"ToldThompson": 5.0, "A": 5.0, "B": 5.0},
    }
    rows = table(regrets, groups)
    found = {(row.problem, row.policy): row for row in rows}
    assert found["heterogeneous", "B"].to_oracle == pytest.approx(8.0)
    assert found["slow_is_worst", "B"].to_oracle == pytest.approx(0.5)
    by_policy = {standing.policy: standing for standing in standings(rows)}
    assert by_policy["A"].to_oracle == pytest.approx((2 * 2 * 1) ** (1 / 3))
    assert by_policy["B"].per_1000 == pytest.approx((80 + 4 + 5) / 3 / 5)
    cases = [SUITE[name] for name in regrets]
    by_kind = standings_by_kind(cases, rows)
    assert set(by_kind) == {"heavy tails", "slow arm best", "slow arm worst", "no delay"}
    ranked = {kind: own[0].policy for kind, own in by_kind.items()}
    assert ranked["slow arm best"] == "ToldThompson"
    assert ranked["slow arm worst"] == "B"


def test_standings_are_geometric_means() -> None:
    rows = table(
        {"no_delay": {"A": 1.0, "B": 8.0}, "homogeneous": {"A": 4.0, "B": 2.0}},
        {"A": "nothing", "B": "nothing"},
    )
    first, second = standings(rows)
    assert (first.policy, first.typical, first.worst, first.worst_problem) == (
        "A",
        pytest.approx(2**0.5),
        2.0,
        "homogeneous",
    )
    assert (second.policy, second.typical, second.worst, second.good) == (
        "B",
        pytest.approx(8**0.5),
        8.0,
        1,
    )


def test_the_targets() -> None:
    assert [target.limit for target in targets()] == [0.25, 0.70, 0.75, 1.0, 0.5, 0.75, 0.4, 1.0]
    assert TARGET_RUNS >= LEAST_TARGET_RUNS >= 200
    problem = SUITE["heterogeneous"].problem
    target = Target("x", problem, 500, [pb.UCB1(), pb.KLUCB()], [pb.Uniform(), pb.MOSS()], 0.9)
    played = [one.play(0, 20, 1) for one in target.simulations(20, 1)]
    assert [one.label for one in played] == ["UCB1", "KLUCB", "Uniform", "MOSS"]
    means = [float(one.final.mean()) for one in played]
    measured = target.measured(played)
    assert measured.ratio == pytest.approx(min(means[:2]) / min(means[2:]))
    assert measured.low < measured.ratio < measured.high
    assert measured.runs == 20
    assert replace(target, limit=measured.ratio * 1.01).measured(played).met
    assert not replace(target, limit=measured.ratio * 0.99).measured(played).met


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--problems", "homogenous"), "'homogeneous'"),
        (("--policies", "KLUBC"), "'KLUCB'"),
        (("--runs", "1"), "runs must be an integer >= 2"),
        (("--seed", "-1"), "seed must be an integer >= 0"),
        (("--problems", "no_delay", "no_delay"), "no_delay"),
        (("--study", "missing.toml"), "the file must exist"),
    ],
)
def test_bad_arguments_are_refused(
    arguments: tuple[str, ...],
    expected: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["compare", *arguments]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert len(told.err.splitlines()) == 1
    assert expected in told.err
    assert list(tmp_path.iterdir()) == []


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


def test_a_cluster_that_is_not_there_is_told_before_anything_is_written(tmp_path):
    from patientbandits.errors import InputError

    for where in ("nowhere", "tcp://127.0.0.1:1"):
        with pytest.raises(InputError, match="scheduler"):
            compare.run(tmp_path / "out", ["no_delay"], ["KLUCB"], 2, on=where)
        assert not (tmp_path / "out").exists()
