"""Worlds that change, whose delays depend on the reward, or that are heard of in batches."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from cases import fit_for

import patientbandits as pb
from patientbandits.policies.registry import problem_from
from patientbandits.problems.drift import Shift
from patientbandits.research.study import read_study
from patientbandits.simulation.engine.worlds import is_plain

pytestmark = pytest.mark.slow

HORIZON, SEED, FIRST_RUN = 120, 5, 3

TWO = [0.5, 0.75]

LAWS = [pb.Geometric(0.1), pb.Lomax(0.7, 10)]

CHANGES = [
    Shift(30, means=[0.75, 0.25]),
    Shift(61, delays=[pb.Fixed(5), pb.Geometric(0.3)]),
    Shift(90, [0.25, 0.5], pb.Geometric(0.05)),
]

VALUES = [pb.TwoPoint(0.25, 1.0), pb.Bernoulli()]

WEEK = pb.Calendar(5, pb.Factor.weekly([1, 0.5, 0.75, 1, 1.25, 1.5, 0.25]))

WORN = pb.Calendar(
    6,
    [pb.Factor.within_day([0.5, 1.25, 1]), pb.Factor.trend(0.5, 1, 15), pb.Factor.spike(4, 3, 1.5)],
    [None, [pb.Factor.of(lambda day: 0.5 + 2**-day / 2, 20, a_day=4), pb.Factor.step(9, 0.75)]],
)

WORLDS = {
    "drifting": pb.Problem(TWO, LAWS, changes=CHANGES),
    "drifting amounts": pb.Problem(TWO, LAWS, pb.Beta(3), changes=CHANGES),
    "drifting in a window": pb.Problem(TWO, LAWS, window=12, changes=CHANGES),
    "late losses": pb.Problem(TWO, LAWS, VALUES, low_delays=[pb.Fixed(9), pb.Geometric(0.05)]),
    "late losses in a window": pb.Problem(TWO, LAWS, VALUES, window=15, low_delays=pb.Fixed(9)),
    "weeks": pb.Problem([0.5, 0.625], LAWS, calendar=WEEK),
    "weeks of amounts": pb.Problem([0.5, 0.625], LAWS, pb.Beta(3), window=12, calendar=WEEK),
    "an arm that wears off": pb.Problem([0.5, 0.5], LAWS, calendar=WORN),
    "weeks that drift": pb.Problem(
        [0.5, 0.625],
        LAWS,
        window=15,
        low_delays=pb.Fixed(9),
        changes=[Shift(61, [0.625, 0.5]), Shift(90, delays=pb.Geometric(0.05))],
        batch=7,
        calendar=WEEK,
    ),
    "batches": pb.Problem(TWO, LAWS, batch=8),
    "three batches": pb.Problem([0.25, 0.5, 0.75], pb.Geometric(0.1), batch=40),
    "all of it": pb.Problem(
        TWO, LAWS, VALUES, changes=CHANGES, low_delays=pb.Geometric(0.02), batch=11
    ),
}

PLAYERS = [
    pb.Thompson(),
    pb.UCB1(),
    pb.MOSS(),
    pb.PatientBandits(0.5),
    pb.DTS(batch=20, warmup=10),
    pb.DelayedUCB1(),
    pytest.param(pb.QPMD(pb.UCB1()), marks=pytest.mark.slow),
    pb.SuccessiveElimination(),
]


@pytest.mark.parametrize("policy", PLAYERS, ids=lambda policy: policy.label)
def test_compiled_equals_naive(policy):
    for title, given in WORLDS.items():
        problem = fit_for(policy, given)
        every = range(1, HORIZON + 1)
        result = pb.simulate(
            problem, policy, HORIZON, 3, SEED, record=every, first_run=FIRST_RUN, workers=1
        )
        for run in (0, 2):
            pulls = naive.episode(
                problem.describe(), policy.describe(), HORIZON, SEED, FIRST_RUN + run
            )
            case = f"{policy.label}, {title}, run {run}"
            arms = [sum(p.arm == arm for p in pulls) for arm in range(problem.arms)]
            assert result.pulls[run].tolist() == arms, case
            path = naive.regret(problem.describe(), pulls)
            np.testing.assert_allclose(result.regret[run], path, rtol=1e-12, err_msg=case)


def test_interpreted_and_compiled_are_the_same():
    for problem in WORLDS.values():
        settings = {"horizon": HORIZON, "runs": 2, "seed": SEED, "record": 10}
        compiled = pb.simulate(problem, pb.Thompson(), **settings)
        interpreted = pb.simulate(problem, pb.Thompson(), **settings, debug=True)
        assert np.array_equal(compiled.regret, interpreted.regret)


def test_ways_of_saying_nothing_give_the_plain_world():
    plain = pb.Problem(TWO, LAWS)
    same = [
        plain.with_batch(1),
        pb.Problem(TWO, LAWS, low_delays=LAWS),
        plain.with_changes([Shift(HORIZON + 1, [0.1, 0.9])]),
        plain.with_changes([Shift(40, TWO, LAWS)]),
    ]
    for policy in (pb.Thompson(), pb.DelayedUCB1()):
        world = fit_for(policy, plain)
        wanted = pb.simulate(world, policy, HORIZON, 5, SEED)
        for other in same:
            found = pb.simulate(fit_for(policy, other), policy, HORIZON, 5, SEED)
            np.testing.assert_allclose(found.regret, wanted.regret, rtol=1e-12)
            assert np.array_equal(found.pulls, wanted.pulls)
    assert is_plain(plain)
    assert is_plain(plain.with_batch(1))
    assert not any(map(is_plain, WORLDS.values()))


def test_regret_is_that_of_the_round():
    """The arm that is best in the end is not best in the beginning."""
    problem = pb.Problem([0.9, 0.1], changes=[Shift(101, [0.1, 0.9])])
    result = pb.simulate(problem, pb.Uniform(), 200, 400, SEED, record=[100, 200])
    assert result.mean() == pytest.approx([40, 80], rel=0.03)
    eager = pb.simulate(problem, pb.KLUCB(), 200, 100, SEED, record=[100, 200]).mean()
    assert eager[1] - eager[0] > 4 * eager[0], "what was learned misleads after the change"


def test_delays_by_reward_mislead_those_who_take_reports_at_their_word():
    """Of the worse arm wins come first, of the better one losses."""
    now, late = pb.NoDelay(), pb.Fixed(400)
    means = [0.3, 0.5]
    even = pb.Problem(means, feedback="reports")
    trap = pb.Problem(means, [now, late], feedback="reports", low_delays=[late, now])
    chance = pb.simulate(even, pb.Uniform(), 400, 60, SEED).final.mean()
    assert pb.simulate(even, pb.ArrivedThompson(), 400, 60, SEED).final.mean() < 0.5 * chance
    assert pb.simulate(trap, pb.ArrivedThompson(), 400, 60, SEED).final.mean() > 1.5 * chance


def test_in_a_batch_nothing_is_heard():
    """With one batch as long as the horizon nothing is ever heard: Thompson is uniform."""
    problem = pb.Problem([0.2, 0.8], batch=1000)
    silent = pb.simulate(problem.with_feedback("reports"), pb.ArrivedThompson(), 1000, 60, SEED)
    assert silent.final.mean() == pytest.approx(300, rel=0.05)
    heard = problem.with_batch(100).with_feedback("reports")
    assert pb.simulate(heard, pb.ArrivedThompson(), 1000, 60, SEED).final.mean() < 60


def test_files_bring_them_back():
    for problem in WORLDS.values():
        assert problem_from(problem.describe()) == problem
        turned = list(reversed(range(problem.arms)))
        assert problem.select(turned) != problem
        assert problem.select(turned).select(turned) == problem


def test_study_files(tmp_path):
    file = tmp_path / "study.toml"
    file.write_text(
        """
horizon = 100
[problems.drifting]
means = [0.6, 0.4]
delays = {law = "Geometric", p = 0.1}
low_delays = {law = "Fixed", delay = 30}
changes = [{round = 50, means = [0.4, 0.6], delays = {law = "Fixed", delay = 3}}]
batch = 10
[policies.a]
policy = "Thompson"
"""
    )
    assert read_study(file).problems["drifting"] == pb.Problem(
        [0.6, 0.4],
        pb.Geometric(0.1),
        low_delays=pb.Fixed(30),
        changes=[Shift(50, [0.4, 0.6], pb.Fixed(3))],
        batch=10,
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Shift(1, [0.5]), "round must be an integer >= 2"),
        (lambda: Shift(5), "means or delays are needed"),
        (lambda: pb.Problem(TWO, changes=[Shift(9, TWO), Shift(9, TWO)]), "in the order"),
        (lambda: pb.Problem(TWO, changes=[3]), "must be a list of Shift"),
        (lambda: pb.Problem(TWO, changes=[Shift(9, [0.5])]), "as many as means"),
        (lambda: pb.Problem(TWO, batch=0), "batch must be an integer >= 1"),
        (lambda: pb.Problem(TWO, rewards=pb.Beta(2), low_delays=pb.Fixed(2)), "two values"),
        (lambda: pb.Problem(TWO, low_delays=[pb.Fixed(2)]), "low_delays must be one law"),
    ],
)
def test_what_is_no_world_is_refused(make, message):
    with pytest.raises(pb.InputError, match=message):
        make()


def test_gymnasium_plays_the_same_worlds():
    gym = pytest.importorskip("patientbandits.integrations.gym")
    for problem in WORLDS.values():
        env = gym.DelayedBandit(problem, HORIZON)
        env.reset(seed=SEED)
        world = naive.World(problem.describe(), HORIZON, SEED, 0)
        pulls, total = [], 0.0
        for t in range(1, HORIZON + 1):
            pulls.append(world.pull(t, t % problem.arms))
            _, reward, *_, info = env.step(t % problem.arms)
            total += reward
            seen = sum(p.visible(t + 1 - p.s) for p in pulls if t < HORIZON)
            if t < HORIZON:
                assert total == pytest.approx(seen)
        path = naive.regret(problem.describe(), pulls)
        assert info["regret"] == pytest.approx(path[-1])
