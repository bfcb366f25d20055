"""Scores: paired numbers, ratios and geometric means."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from score_tables import SUITE, result, table

import patientbandits as pb
from patientbandits.inference.intervals import ratio_interval
from patientbandits.research import compare
from patientbandits.research.compare.scores import scores, standings, standings_by_kind

pytestmark = pytest.mark.slow


TWO, FEW = (
    ("no_delay", "equal_means", "heterogeneous"),
    ("KLUCB", "UCB1", "PatientBandits", "Uniform", "DUCB"),
)


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


def test_without_regret_there_is_no_ratio() -> None:
    rows = table({"no_delay": {"A": 0.0, "B": 3.0}}, {"A": "nothing", "B": "nothing"})
    assert [row.ratio for row in rows] == [None, None]
    assert standings(rows) == []
    with pytest.raises(pb.InputError, match="must be > 0"):
        ratio_interval(np.ones(3), np.zeros(3))


def test_scores_against_the_oracle_and_by_kind() -> None:
    groups = {"OracleThompson": "law", "A": "nothing", "B": "nothing"}
    regrets = {
        "heterogeneous": {"OracleThompson": 10.0, "A": 20.0, "B": 80.0},
        "slow_is_worst": {"OracleThompson": 8.0, "A": 16.0, "B": 4.0},
        "no_delay": {"OracleThompson": 5.0, "A": 5.0, "B": 5.0},
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
    assert ranked["slow arm best"] == "OracleThompson"
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


SIX = ("no_delay", "homogeneous", "heterogeneous", "log_normal", "two_modes", "random_03")


def test_a_policy_that_is_not_told_apart_from_the_best_is_level_with_it() -> None:
    """Over six problems by what they say together; over two, by being no worse on any."""
    factors = {"best": [1.0] * 6, "level": [0.8, 1.3, 0.9, 1.2, 1.0, 1.1], "worse": [1.3] * 6}
    groups = dict.fromkeys(factors, "nothing") | {"told": "reports", "chosen": "tuned"}
    factors |= {"told": [0.5] * 6, "chosen": [0.4] * 6}
    regrets = {
        problem: {policy: 10.0 * own[place] for policy, own in factors.items()}
        for place, problem in enumerate(SIX)
    }
    order = {standing.policy: standing for standing in standings(table(regrets, groups))}
    assert [name for name, standing in order.items() if standing.level] == ["best", "level"]
    assert order["best"].low is not None
    assert order["best"].low <= order["best"].typical <= order["best"].high
    few = {problem: regrets[problem] for problem in SIX[:2]}
    order = {standing.policy: standing for standing in standings(table(few, groups))}
    assert [name for name, standing in order.items() if standing.level] == ["best"]
    assert order["best"].low is None, "two problems are no sample"


def test_a_tuned_policy_changes_no_other_number() -> None:
    """It is shown beside them, with its own count of ties, however good it is."""
    groups = {"A": "nothing", "B": "nothing", "T": "tuned"}
    rows = {row.policy: row for row in table({"no_delay": {"A": 2.0, "B": 4.0, "T": 1.0}}, groups)}
    assert [rows[name].ratio for name in "ABT"] == [1.0, 2.0, 0.5]
    assert [rows[name].best for name in "ABT"] == [True, False, False]
    assert [rows[name].tied for name in "ABT"] == [True, False, True]


def test_who_joins_a_frozen_suite_changes_no_number() -> None:
    base = result(SUITE["no_delay"].problem, pb.UCB1())
    finals = {"A": 2.0, "B": 4.0, "late": 1.0}
    results = {
        name: replace(base, regret=np.full((10, 1), value)) for name, value in finals.items()
    }
    groups = dict.fromkeys(finals, "nothing")
    rows = {row.policy: row for row in scores(SUITE["no_delay"], results, groups, ["late"])}
    assert [rows[name].ratio for name in finals] == [1.0, 2.0, 0.5]
    assert [rows[name].best for name in finals] == [True, False, False]
    assert [rows[name].tied for name in finals] == [True, False, True]
    alone = scores(SUITE["no_delay"], {"late": results["late"]}, groups, ["late"])
    assert alone[0].best, "nobody else is there"
