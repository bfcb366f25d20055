"""DelayBench: frozen, mirrored, in part drawn at random."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest
from score_tables import SUITE

import patientbandits as pb
from patientbandits import cli
from patientbandits.problems.random_problems import mirrored, random_problem
from patientbandits.research import compare
from patientbandits.research.compare.cases import HOPELESS
from patientbandits.research.compare.delay_bench import DELAY_BENCH, RANDOM_CASES, SUITE_SEED

pytestmark = pytest.mark.slow


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
