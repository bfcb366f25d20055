"""Findings: their verdicts follow from intervals, and can fail."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import patientbandits as pb
from patientbandits.research.field.finding import Finding, Pair, Setting, measure, pairs_in

EASY = pb.Problem([0.1, 0.9])


def result_of(regret):
    base = pb.simulate(EASY, pb.Uniform(), 10, len(regret), record=1)
    return replace(base, regret=np.array(regret, float)[:, None])


def test_a_verdict_follows_from_the_interval():
    results = {
        ("s", "a"): result_of([10, 11, 12, 13]),
        ("s", "b"): result_of([20, 21, 25, 26]),
    }
    one = measure("p", Finding("a wins", "x", [Pair("s", "a", "b")]), results)
    assert one.verdict == "holds"
    assert one.pairs[0].ratio == pytest.approx(46 / 92)
    other = measure("p", Finding("b wins", "x", [Pair("s", "b", "a")]), results)
    assert other.verdict == "does not hold"
    strict = measure("p", Finding("by far", "x", [Pair("s", "a", "b", 0.4)]), results)
    assert strict.verdict == "does not hold"
    both = [Pair("s", "a", "b"), Pair("s", "a", "b"), Pair("s", "b", "a")]
    assert measure("p", Finding("all", "x", both), results).verdict == "holds in part"
    assert measure("p", Finding("most", "x", both, most=True), results).verdict == "holds"


def test_a_finding_is_shown_in_words():
    results = {("s", "a"): result_of([10, 11, 12, 13]), ("s", "b"): result_of([20, 21, 25, 26])}
    one = measure("p", Finding("a wins", "x", [Pair("s", "a", "b")]), results)
    assert one.in_words.startswith("0.50 (")
    two = measure("p", Finding("both", "x", [Pair("s", "a", "b"), Pair("s", "b", "a")]), results)
    assert two.in_words == "1 of 2: ratios from 0.50 to 2.00"


def test_settings_tell_each_player_what_it_needs():
    setting = Setting("easy", EASY, 50, 10, {"a": pb.KLUCB(), "b": pb.SuccessiveElimination()})
    simulations = setting.simulations(None, seed=3)
    assert simulations["a"].problem.feedback == "rewards"
    assert simulations["b"].problem.feedback == "reports"
    assert {(one.runs, one.seed, one.horizon) for one in simulations.values()} == {(10, 3, 50)}
    assert setting.simulations(4, seed=3)["a"].runs == 4
    pairs = pairs_in([setting], "a", "b", limit=0.5)
    assert pairs == [Pair("easy", "a", "b", 0.5)]
