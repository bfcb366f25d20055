"""CalendarThompson: strata, their fit, and what the policy does where rates change."""

from __future__ import annotations

import random
from types import SimpleNamespace

import numpy as np
import pytest

import patientbandits as pb
from patientbandits.inference.common_prior import RATE_SCALE, REVENUE_SCALE, compare_arms
from patientbandits.inference.conversion_odds import Strata, fit_odds
from patientbandits.inference.order_values import ValueSums
from patientbandits.policies.calendar_thompson import LEAST_CHANCE, value_arms
from patientbandits.policies.parts import conversion_odds, strata, value_sums
from patientbandits.policies.parts.common_prior import prior_room, set_best
from patientbandits.policies.parts.conversion_odds import odds_room


def room(arms, rows):
    """Arrays for a fit of so many arms."""
    arrays = {"logs": np.zeros(arms), **odds_room(arms, rows), **prior_room(arms)}
    return SimpleNamespace(**arrays, shown=np.zeros((rows, arms)), came=np.zeros((rows, arms)))


def table(arms, rows, rate, seed):
    """Visitors by shares that change, and conversions at rates that do, arm 0 one third better."""
    draw = np.random.default_rng(seed)
    shares = draw.dirichlet(np.ones(arms), rows)
    visitors = np.array([draw.multinomial(400, row) for row in shares], float)
    season = rate * draw.uniform(0.3, 1.0, (rows, 1))
    lift = np.where(np.arange(arms) == 0, 1.0, 0.75)
    return visitors, draw.binomial(visitors.astype(int), season * lift).astype(float)


@pytest.mark.parametrize("arms", [2, 3, 7])
@pytest.mark.parametrize("rate", [0.02, 0.9])
def test_fit_equals_that_for_people(arms, rate):
    visitors, came = table(arms, 30, rate, seed=arms)
    visible = np.random.default_rng(1).uniform(0.2, 1.0, visitors.shape)
    expected = fit_odds(Strata(visitors, came, visible))
    memory = room(arms, 40)
    memory.shown[:30], memory.came[:30] = visitors, came
    memory.mass[:30] = visitors * visible
    conversion_odds.fit_odds(memory, 30)
    logs = memory.logs - memory.logs.mean()
    np.testing.assert_allclose(logs, expected.logs, atol=1e-6)
    if arms > 2:
        np.testing.assert_allclose(memory.errors, expected.errors, rtol=1e-5)
    else:
        assert np.hypot(*memory.errors) == pytest.approx(np.hypot(*expected.errors), rel=1e-5)
    best = np.zeros(arms)
    for valued, scale in ((False, RATE_SCALE), (True, REVENUE_SCALE)):
        set_best(memory, memory.logs, valued, best)
        shown = compare_arms(logs, memory.errors, scale).best
        np.testing.assert_allclose(best, shown, atol=1e-6 if arms == 2 else 0.005)


def test_many_arms_without_matrices():
    """With one stratum the fit is closed; with several both ways agree."""
    visitors, came = table(17, 30, 0.1, seed=3)
    expected = fit_odds(Strata(visitors, came))
    memory = room(17, 40)
    memory.shown[:30], memory.came[:30], memory.mass[:30] = visitors, came, visitors
    conversion_odds.fit_odds(memory, 30)
    np.testing.assert_allclose(memory.logs - memory.logs.mean(), expected.logs, atol=0.01)
    np.testing.assert_allclose(memory.errors, expected.errors, rtol=0.2)
    best = np.zeros(17)
    set_best(memory, memory.logs, False, best)
    shown = compare_arms(expected.logs, expected.errors, RATE_SCALE).best
    np.testing.assert_allclose(best, shown, atol=0.03)


def test_values_equal_those_for_people():
    draw = np.random.default_rng(2)
    for sigma, counts in ((0.3, (9, 14)), (1.5, (40, 3, 1)), (1.5, (300, 200, 0))):
        values = [draw.lognormal(-3.0, sigma, count) for count in counts]
        sums = np.zeros((5, len(counts)))
        for arm, row in enumerate(values):
            for value in row:
                value_sums.note_value(sums, arm, value, 1.0)
        people = ValueSums.of(values)
        expected = people.log_variances() * np.maximum(people.conversions, 1.0)
        assert value_sums.squared_variation(sums) == pytest.approx(expected[0], rel=1e-3)
        means = [value_sums.log_mean(sums, arm) for arm in range(len(counts))]
        np.testing.assert_allclose(means, np.log(people.means), atol=1e-9)


def test_equal_values_are_rates():
    sums = np.zeros((5, 2))
    for arm in (0, 1, 1, 1):
        value_sums.note_value(sums, arm, 0.3, 1.0)
    assert value_sums.squared_variation(sums) == 0.0
    value_sums.note_value(sums, 0, 0.31, 1.0)
    assert value_sums.squared_variation(sums) > 0.0
    value_sums.note_value(sums, 0, 0.31, -1.0)
    assert value_sums.squared_variation(sums) == 0.0


def folded(shares, visitors=300, window=10.0):
    """A memory after as many pieces as there are shares; and the pieces, unfolded."""
    draw = random.Random(5)
    policy = pb.CalendarThompson(window=window)
    memory = policy.memory(2, visitors * len(shares))
    pull, rows, came = 0, np.zeros((len(shares), 2)), np.zeros((len(shares), 2))
    for piece, share in enumerate(shares):
        memory.strata[strata.CUT] = 1
        for _ in range(visitors):
            pull += 1
            time = 2.0 * piece + pull / 1e6
            arm = int(draw.random() < share)
            strata.show(memory, arm, pull, time, float("inf"), float("inf"))
            rows[piece, arm] += 1
            if draw.random() < (0.1, 0.13)[arm] * (0.3 + piece / len(shares)):
                memory.came[strata.row_of(memory, pull), arm] += 1
                came[piece, arm] += 1
    return memory, rows, came


def test_folded_rows_tell_the_same():
    """300 pieces in 96 rows, in a season that quadruples the rates as the shares change."""
    shares = 0.5 + 0.45 * np.sin(np.arange(300) / 40)
    memory, visitors, came = folded(shares)
    assert memory.strata[strata.ROWS] == strata.MOST_ROWS
    assert memory.shown.sum() == visitors.sum()
    np.testing.assert_array_equal(memory.came.sum(axis=0), came.sum(axis=0))
    whole = fit_odds(Strata(visitors, came))
    part = fit_odds(Strata(memory.shown, memory.came))
    error = np.hypot(*whole.errors)
    assert abs(part.contrast(1, 0)[0] - whole.contrast(1, 0)[0]) < 0.1 * error
    assert np.hypot(*part.errors) == pytest.approx(error, rel=0.05)
    pooled = fit_odds(Strata(visitors.sum(axis=0)[None], came.sum(axis=0)[None]))
    apart = abs(pooled.contrast(1, 0)[0] - whole.contrast(1, 0)[0])
    assert apart > 2 * error  # the negative control: season and shares together mislead


def test_late_conversions_reach_their_row():
    memory, visitors, _ = folded(np.linspace(0.1, 0.9, 150), visitors=20)
    ends = np.cumsum(visitors.sum(axis=1)).astype(int)
    for piece, end in enumerate(ends):
        row = strata.row_of(memory, int(end))
        share = memory.shown[row, 1] / memory.shown[row].sum()
        assert abs(share - (0.1 + 0.8 * piece / 149)) < 0.35
    rows = {strata.row_of(memory, pull) for pull in range(1, int(ends[-1]) + 1)}
    assert rows == set(range(strata.MOST_ROWS))


def played(policy, rates, days, per_day, window, seed, change=None):
    """A bandit after some days of visitors who convert after up to a window, or at once."""
    draw = random.Random(seed)
    bandit = pb.Bandit(policy, range(len(rates)), seed=seed)
    due, shown = [], np.zeros((days, len(rates)))
    for visitor in range(days * per_day):
        time = visitor / per_day
        due.sort()
        while due and due[0][0] <= time:
            bandit.reward(due.pop(0)[1], 1.0, time=time)
        pull = bandit.pull(time)
        shown[int(time), pull.arm] += 1
        factor = change(time) if change else np.ones(len(rates))
        if draw.random() < rates[pull.arm] * factor[pull.arm]:
            due.append((time + window * draw.random() ** 2, pull.id))
    return bandit, shown


def test_shares_are_propensities_and_have_a_minimum():
    policy = pb.CalendarThompson(window=3.0, minimum=0.05)
    bandit, _ = played(policy, (0.5, 0.1, 0.1), 12, 30, 3.0, 1)
    chances = bandit._memory.chances
    assert chances.sum() == pytest.approx(1.0)
    assert 0.045 < chances.min() < 0.06
    numbers = policy.numbers(3)
    logged = [policy.propensity(numbers, bandit._memory, pb.Arm(arm, 1, 1.0)) for arm in range(3)]
    assert logged == chances.tolist()


@pytest.mark.parametrize(("arms", "earn", "least"), [(2, False, 0.01), (2, True, 0.02)])
def test_minimum_by_default(arms, earn, least):
    assert pb.CalendarThompson(earn=earn).least_share(arms) == least
    assert pb.CalendarThompson(earn=earn).least_share(100) == 0.002
    assert pb.CalendarThompson(minimum=0.0).numbers(2).minimum == 0.0
    assert LEAST_CHANCE > 0.0


def test_arm_without_conversions_has_a_bounded_share():
    bandit, _ = played(pb.CalendarThompson(window=3.0), (0.3, 0.3, 0.0), 2, 20, 3.0, 2)
    assert bandit._memory.conversions_of[2] == 0.0
    assert bandit._memory.chances[2] <= 1 / 3 + 0.02


def test_forgetting_finds_the_arm_that_became_better():
    """The arms change places; without forgetting the first leader keeps most of the traffic."""

    def swap(time):
        return np.array([1.0, 1.0]) if time < 15 else np.array([0.25, 4.0])

    shares = {}
    for forget in (None, 3.0):
        late = []
        for seed in range(3):
            policy = pb.CalendarThompson(window=1.0, forget=forget)
            _, shown = played(policy, (0.4, 0.1), 25, 40, 1.0, seed, swap)
            late.append(shown[-3:, 1].sum() / shown[-3:].sum())
        shares[forget] = np.mean(late)
    assert shares[3.0] > 0.8
    assert shares[None] < shares[3.0] - 0.2


def test_what_is_taken_back_was_never_there():
    policy = pb.CalendarThompson(window=30.0)

    def counts(returns):
        bandit = pb.Bandit(policy, ["a", "b"], horizon=60)
        for time in range(1, 41):
            bandit.pull(float(time))
        about = {"arm": pb.Arm(bandit._made[9][0], 0, 0.0), "pull": 10, "reward": 0.5}
        for hook in ("arrived", "retracted") if returns else ():
            bandit._call(hook, 0, delay=23.5, time=40.0, pull_time=10.0, **about)
        names = ("waiting", "converted", "conversions_of", "came", "shown", "values")
        return [getattr(bandit._memory, name).tolist() for name in names]

    assert counts(True) == counts(False)


def test_what_is_still_to_come_is_in_doubt():
    """As long as no visitor is as old as the window; the doubt is part of an arm's error."""
    policy = pb.CalendarThompson(window=10.0)
    early, _ = played(policy, (0.3, 0.3), 4, 30, 10.0, 1)
    assert early._memory.unsure.min() > 0.02
    early._memory.errors[:] = 0.1
    value_arms(early._memory)
    expected = np.hypot(0.1, early._memory.unsure)
    np.testing.assert_allclose(early._memory.errors, expected, rtol=1e-12)
    late, _ = played(policy, (0.3, 0.3), 14, 30, 10.0, 1)
    assert late._memory.unsure.max() < 0.01


@pytest.mark.parametrize(
    "wrong", [{"minimum": 0.6}, {"minimum": -0.1}, {"forget": 0.0}, {"window": -1.0}, {"earn": 3}]
)
def test_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        pb.CalendarThompson(**wrong)
