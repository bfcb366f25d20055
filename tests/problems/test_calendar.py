"""Rates that follow the calendar."""

from __future__ import annotations

import numpy as np
import pytest

import patientbandits as pb
from patientbandits.policies.registry import problem_from
from patientbandits.problems import mirrored
from patientbandits.research.study import read_study

TWO = [0.04, 0.05]
WEEK = pb.Factor.weekly([1, 1, 1, 1, 1, 1.5, 1.5])


def factors(factor, day, rounds):
    return [factor.at(round, day) for round in range(1, rounds + 1)]


def test_shapes():
    assert factors(WEEK, 2, 16) == [1] * 10 + [1.5] * 4 + [1] * 2
    assert factors(pb.Factor.within_day([1, 2, 3]), 4, 8) == [1, 1, 2, 3, 1, 1, 2, 3]
    assert factors(pb.Factor.step(2, 3), 2, 6) == [1] * 4 + [3] * 2
    assert factors(pb.Factor.spike(1, 2, 9), 2, 8) == [1] * 2 + [9] * 4 + [1] * 2
    assert factors(pb.Factor.trend(0, 1, 3), 2, 8) == [0, 0, 0.5, 0.5, 1, 1, 1, 1]
    assert factors(pb.Factor([2, 4, 3]), 1, 5) == [2, 4, 3, 3, 3]
    slope = pb.Factor.of(lambda day: day, 2, a_day=2)
    assert factors(slope, 4, 9) == [0, 0, 0.5, 0.5, 1, 1, 1.5, 1.5, 1.5]


@pytest.mark.parametrize("day", [1, 3, 7, 100])
@pytest.mark.parametrize("factor", [WEEK, pb.Factor.within_day([1, 2, 3]), pb.Factor([2, 4, 3], 2)])
def test_rounds_are_those_of_changes(day, factor):
    values = factors(factor, day, 900)
    changed = {place + 1 for place in range(1, 900) if values[place] != values[place - 1]}
    assert changed <= factor.rounds(day, 900) <= set(range(1, 901))


def test_factors_are_multiplied():
    calendar = pb.Calendar(2, [WEEK, pb.Factor.step(6, 2)], [None, pb.Factor.step(5, 0.5)])
    assert calendar.factors(10, 2) == (1, 1)
    assert calendar.factors(11, 2) == (1.5, 0.75)
    assert calendar.factors(calendar.first_round(6), 2) == (3, 1.5)
    assert calendar.factors(15, 2) == (2, 1)


def test_phases_follow_changes_and_calendar():
    problem = pb.Problem(
        TWO,
        changes=[pb.Shift(13, means=TWO[::-1])],
        calendar=pb.Calendar(2, WEEK),
    )
    phases = problem.phases_until(30)
    assert {1, 11, 13, 15, 25, 29} <= {start for start, _ in phases}
    by_round = dict(phases)
    assert by_round[11].means == pytest.approx([0.06, 0.075])
    assert by_round[13].means == pytest.approx([0.075, 0.06])
    assert by_round[15].means == pytest.approx([0.05, 0.04])
    assert by_round[25] is by_round[13], "weeks repeat themselves"
    assert problem.gaps == pytest.approx([0.01, 0])


def test_regret_is_that_of_the_round():
    """The even split loses half of each round's gap."""
    problem = pb.Problem(TWO, calendar=pb.Calendar(100, pb.Factor.spike(3, 4, 5)))
    result = pb.simulate(problem, pb.Uniform(), 1000, 400, 1, record=[300, 700, 1000])
    assert result.mean() == pytest.approx([1.5, 11.5, 13.0], rel=0.02)


def test_rates_are_those_of_the_day():
    """Of pulls of a single arm as many are paid as the factors say."""
    problem = pb.Problem([0.04], calendar=pb.Calendar(1000, [WEEK, pb.Factor.trend(0.5, 2, 14)]))
    env = pytest.importorskip("patientbandits.integrations.gym").DelayedBandit(problem, 14_000)
    paid = np.zeros(14)
    for seed in range(5):
        env.reset(seed=seed)
        rewards = np.array([env.step(0)[1] for _ in range(14_000)])
        paid += rewards.reshape(14, 1000).sum(axis=1)
    expected = np.array([5 * 40 * calendar_factor(day) for day in range(14)])
    assert np.abs((paid - expected) / np.sqrt(expected)).max() < 3.5


def calendar_factor(day):
    return (0.5 + 1.5 * day / 13) * (1.5 if day % 7 > 4 else 1)


def test_the_same_world_but_for_the_rates():
    """A factor of 1 is none, to the last bit, and long horizons cost little."""
    plain = pb.Problem(TWO, pb.Geometric(0.1))
    still = plain.with_calendar(pb.Calendar(10, pb.Factor([1.0])))
    for policy in (pb.Thompson(), pb.PatientThompson()):
        one, other = (pb.simulate(p, policy, 500, 5, 3) for p in (plain, still))
        assert np.array_equal(one.pulls, other.pulls)
        np.testing.assert_allclose(one.regret, other.regret, rtol=1e-12)


def test_arms_keep_their_factors_when_they_are_reordered():
    worn = pb.Calendar(10, WEEK, [None, pb.Factor([1.5, 1])])
    problem = pb.Problem(TWO, calendar=worn)
    turned = problem.select([1, 0])
    assert turned.calendar == pb.Calendar(10, WEEK, [pb.Factor([1.5, 1]), None])
    assert turned.select([1, 0]) == problem
    results = [pb.simulate(p, pb.Thompson(), 300, 4, 2) for p in (problem, turned)]
    assert np.array_equal(results[0].pulls, results[1].pulls[:, ::-1])


def test_the_mirror_keeps_the_calendar():
    laws = [pb.Fixed(3), pb.Fixed(90)]
    calendar = pb.Calendar(10, WEEK)
    for changes in ([], [pb.Shift(5, TWO[::-1])]):
        problem = pb.Problem(TWO, laws, changes=changes, calendar=calendar)
        assert mirrored(problem).calendar == calendar
        assert mirrored(problem).delays == tuple(laws[::-1])


def test_files_and_repr_have_it(tmp_path):
    problem = pb.Problem(TWO, calendar=pb.Calendar(10, WEEK, [None, pb.Factor([1.5, 1], 4)]))
    assert problem_from(problem.describe()) == problem
    assert "Calendar(day=10, common=(Factor(values=(1.0," in repr(problem)
    result = pb.simulate(problem, pb.Thompson(), 100, 2)
    result.save(tmp_path / "a.npz")
    assert pb.Result.load(tmp_path / "a.npz").problem == problem
    assert "calendar" not in pb.Problem(TWO).describe()


def test_study_files(tmp_path):
    file = tmp_path / "study.toml"
    file.write_text(
        """
horizon = 100
[problems.weeks]
means = [0.04, 0.05]
[problems.weeks.calendar]
day = 10
common = {values = [1, 1, 1, 1, 1, 1.5, 1.5], repeats = true}
arms = [[], {values = [1.5, 1]}]
[policies.a]
policy = "Thompson"
"""
    )
    expected = pb.Problem(TWO, calendar=pb.Calendar(10, WEEK, [None, pb.Factor([1.5, 1])]))
    assert read_study(file).problems["weeks"].calendar == expected.calendar


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pb.Factor([]), "Factor: at least one value"),
        (lambda: pb.Factor([1, -1]), "every value must be >= 0; got value=-1.0"),
        (lambda: pb.Factor([1], days=0), "days must be an integer >= 1"),
        (lambda: pb.Factor([1], repeats=3), "repeats must be true or false"),
        (lambda: pb.Factor.weekly([1, 2]), "seven values are needed; got values=2"),
        (lambda: pb.Factor.of(3, 5), "a function of days is needed; got function=3"),
        (lambda: pb.Factor.of(lambda day: "x", 5), "every value must be a number"),
        (lambda: pb.Factor.trend("a", 1, 5), "first must be a number"),
        (lambda: pb.Factor.step(0, 1), "day must be an integer >= 1"),
        (lambda: pb.Factor.spike(2, 0, 1), "days must be an integer >= 1"),
        (lambda: pb.Calendar(5, arms=[0, None]), "arms must be a list; got arms=0"),
        (lambda: pb.Calendar(5).first_round(-1), "day must be an integer >= 0"),
        (lambda: pb.Calendar(0), "day must be an integer >= 1"),
        (lambda: pb.Calendar(5, [1.5]), "common must be factors; got 1.5"),
        (lambda: pb.Problem(TWO, calendar=3), "Problem: a Calendar is needed"),
        (lambda: pb.Problem([0.5], calendar=pb.Calendar(5, WEEK, [None, WEEK])), "as many as"),
        (lambda: pb.Problem([0.8], calendar=pb.Calendar(5, WEEK)), "got mean=0.8, factor=1.5"),
        (
            lambda: pb.Problem(
                [0.5], rewards=pb.Beta(2), calendar=pb.Calendar(5, pb.Factor([1, 0]))
            ),
            "mean must be in",
        ),
    ],
)
def test_what_is_no_calendar_is_refused(make, message):
    with pytest.raises(pb.InputError, match=message):
        make()
