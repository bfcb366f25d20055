"""A problem with a window: what comes later never counts, for the learner and for the regret."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from cases import PROBLEMS, fit_for, regret

import patientbandits as pb
from patientbandits.policies.registry import problem_from
from patientbandits.problems.random_problems import mirrored
from patientbandits.research.study import read_study
from patientbandits.simulation.engine.delay_tables import HEAD, delay_of
from patientbandits.simulation.engine.worlds import world_of

WINDOW = 12

HORIZON = 120

WINDOWED = {title: problem.with_window(WINDOW) for title, problem in PROBLEMS.items()}

LATE_BLOOMER = pb.Problem([0.5, 0.8], [pb.Geometric(0.3), pb.Geometric(0.01)], window=20)

"""The slow arm is the better one for ever; within 20 rounds 0.146 of its 0.8 have come."""

POLICIES = [
    pb.Thompson(),
    pb.KLUCB(),
    pb.BootstrappedThompson(),
    pb.DelayedUCB1(),
    pytest.param(pb.QPMD(pb.UCB1()), marks=pytest.mark.slow),
]


def same(result, path, run=0):
    """Whether the path of the regret is this one; gaps differ, so it tells the arms."""
    return np.allclose(result.regret[run], path, rtol=1e-13, atol=0)


def loop(policy, problem, rounds):
    """The arms that `Bandit` chooses, told of every reward, however late."""
    learner = pb.Bandit(policy, range(problem.arms), rounds, seed=5, window=problem.window)
    world = naive.World(problem.with_window(None).describe(), rounds, 5, 0)
    due, arms = {}, []
    for t in range(1, rounds + 1):
        for id, value in due.pop(t, []):
            learner.reward(id, value)
        pull = learner.pull()
        outcome = world.pull(t, pull.arm)
        arrives = t + max(outcome.delay, 1)
        if problem.feedback == "reports" and outcome.delay > WINDOW:
            due.setdefault(t + WINDOW, []).append((pull.id, 0.0))
        elif outcome.reward > 0 or problem.feedback == "reports":
            due.setdefault(arrives, []).append((pull.id, outcome.reward))
        arms.append(pull.arm)
    return arms


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_compiled_and_loop_equal_naive(policy):
    for title in ("heavy tails", "mixed"):
        problem = fit_for(policy, WINDOWED[title])
        rounds = range(1, HORIZON + 1)
        result = pb.simulate(problem, policy, HORIZON, 1, seed=5, record=rounds)
        pulls = naive.episode(problem.describe(), policy.describe(), HORIZON, seed=5)
        assert same(result, naive.regret(problem.describe(), pulls)), title
        assert same(result, regret(problem, loop(policy, problem, HORIZON))), title
        without = pb.simulate(problem.with_window(None), policy, HORIZON, 1, seed=5, record=rounds)
        assert without.pulls.tolist() != result.pulls.tolist(), title  # the window matters


def test_patient_thompson_that_is_told_the_window():
    """Equal to its twin, and it finds the arm that is best within the window.

    Equal where the window is on the grid of ages, 2^(j/4); elsewhere the laws are taken at the
    nearest point of it, and probabilities are a hundredth off.
    """
    on_the_grid = LATE_BLOOMER.with_window(16)
    policy = pb.PatientThompson(window=16)
    record = range(1, HORIZON + 1)
    result = pb.simulate(on_the_grid, policy, HORIZON, 2, seed=1, record=record)
    description = on_the_grid.describe()
    for run in range(2):
        pulls = naive.episode(description, policy.describe(), HORIZON, seed=1, run=run)
        assert same(result, naive.regret(description, pulls), run=run)
    policy = pb.PatientThompson(window=20)
    assert LATE_BLOOMER.rates == pytest.approx([0.5, 0.8 * (1 - 0.99**20)], abs=1e-3)
    told = pb.simulate(LATE_BLOOMER, policy, 3000, 20, seed=2)
    for_ever = pb.simulate(LATE_BLOOMER.with_window(None), pb.PatientThompson(), 3000, 20, seed=2)
    assert told.pulls[:, 0].min() > 2500
    assert np.median(for_ever.pulls[:, 1]) > 2500


def test_patient_thompson_with_a_window_off_the_grid():
    """Equal to its twin, which takes the laws at the window itself."""
    policy = pb.PatientThompson(window=20)
    record = range(1, HORIZON + 1)
    result = pb.simulate(LATE_BLOOMER, policy, HORIZON, 2, seed=1, record=record)
    description = LATE_BLOOMER.describe()
    pulls = naive.episode(description, policy.describe(), HORIZON, seed=1, run=1)
    assert same(result, naive.regret(description, pulls), run=1)


def test_a_window_beyond_every_delay_changes_nothing():
    problem = PROBLEMS["fixed"]
    for policy in (pb.Thompson(), pb.BootstrappedThompson()):
        with_window, without = (
            pb.simulate(problem.with_window(window), policy, 200, 4) for window in (25, None)
        )
        assert np.array_equal(with_window.regret, without.regret)
        shorter = pb.simulate(problem.with_window(24), policy, 200, 4)
        assert not np.array_equal(shorter.pulls, without.pulls)


@pytest.mark.parametrize("window", [1, 700, HEAD, HEAD + 1, HEAD + 999])
def test_the_tables_end_at_the_window(window):
    """A delay is that of the law, or never: also where the tables have a tail."""
    law = pb.Lomax(0.2, 1)
    horizon = HEAD + 2000
    tables = world_of(pb.Problem([0.5], law, window=window), horizon).delays
    uniforms = np.random.default_rng(0).random(3000)
    edge = law.survival_at(window)
    late = 0
    for u in (*uniforms, edge, np.nextafter(edge, 0.0)):
        delay = law.inverse(float(u))
        found = int(delay_of(tables, 0, float(u), horizon - 1))
        late += delay > window
        assert found == delay if delay <= window else found > horizon - 1
    assert 100 < late < 2900


def test_the_window_is_carried():
    problem = WINDOWED["heavy tails"]
    others = (problem.select([1, 0]), problem.with_feedback("reports"), mirrored(problem))
    assert {other.window for other in others} == {WINDOW}
    assert problem_from(problem.describe()) == problem != PROBLEMS["heavy tails"]
    assert "window" not in PROBLEMS["heavy tails"].describe()  # as in older files
    names = {
        pb.Simulation(case, pb.UCB1(), 50).piece_name(0, 5)
        for case in (problem, problem.with_window(13), PROBLEMS["heavy tails"])
    }
    assert len(names) == 3


def test_results_remember_it(tmp_path):
    result = pb.simulate(WINDOWED["mixed"], pb.UCB1(), 60, 3)
    result.save(tmp_path / "r.npz")
    again = pb.Result.load(tmp_path / "r.npz")
    assert again.problem == WINDOWED["mixed"]
    np.testing.assert_allclose(result.final, result.pulls @ np.array(again.problem.gaps))
    with pytest.raises(pb.InputError, match=r"^Result\.minus: both must have the same problem"):
        result.minus(pb.simulate(PROBLEMS["mixed"], pb.UCB1(), 60, 3))


def test_the_oracles_world():
    """Without delays the same rewards count, at once: an arm's sum is what it paid in time."""
    problem = WINDOWED["mixed"]
    oracle = problem.without_delays()
    assert oracle.rates == pytest.approx(problem.rates, rel=1e-12)
    worlds = [naive.World(case.describe(), 400, 7, 0) for case in (problem, oracle)]
    for t in range(1, 300):
        for arm in range(problem.arms):
            late, at_once = (world.pull(t, arm) for world in worlds)
            assert at_once.visible(0) == late.visible(WINDOW)


def test_study_files(tmp_path):
    text = """
horizon = 60
runs = 2
[problems.own]
means = [0.5, 0.6]
window = 30
[problems.of-the-paper]
name = "heterogeneous"
window = {}
[policies.p]
policy = "PatientThompson"
window = {}
"""
    file = tmp_path / "study.toml"
    file.write_text(text.format(30, 30))
    study = read_study(file)
    assert {problem.window for problem in study.problems.values()} == {30}
    assert len(study.simulations()) == 2
    file.write_text(text.format(30, 40))
    rule = r"^Simulation: PatientThompson counts within window=40, .*; got window=30\.$"
    with pytest.raises(pb.InputError, match=rule):
        read_study(file).simulations()
    file.write_text(text.format("2.5", 30))
    rule = r"^problems\.of-the-paper: Problem: window must be an integer >= 1; got window=2\.5"
    with pytest.raises(pb.InputError, match=rule):
        read_study(file)


def test_windows_must_agree():
    """Both may be silent, or one of them; if both speak they must say the same."""
    mixed = PROBLEMS["mixed"]
    pb.Simulation(mixed.with_window(20), pb.PatientThompson(), 100)
    pb.Simulation(mixed, pb.PatientThompson(window=20), 100)
    pb.Simulation(mixed.with_window(20), pb.PatientThompson(window=20.0), 100)
    pb.Simulation(mixed.with_window(20), pb.DUCB(pb.Pareto(1.0), window=5), 100)  # D-UCB's own
    guarded = pb.GuardedThompson(window=16, guard=pb.PatientKL(0.3, c=3))
    message = r"^(simulate|Simulation|Bandit): \w+ counts within window=16, .*; got window=20"
    for call in (
        lambda: pb.simulate(mixed.with_window(20), pb.PatientThompson(window=16), 100),
        lambda: pb.Simulation(mixed.with_window(20), guarded, 100),
        lambda: pb.Bandit(pb.PatientThompson(window=16), [0, 1], window=20),
    ):
        with pytest.raises(pb.InputError, match=message):
            call()


def test_a_loop_with_a_window():
    learner = pb.Bandit(pb.UCB1(), ["a", "b"], window=5.0)
    ids = [learner.pull(float(time)).id for time in (1, 2, 3, 4)]
    learner.reward(ids[0], 1.0, 6.0)
    learner.reward(ids[1], 1.0, 7.5)  # 5.5 later
    assert sum(learner.rewards.values()) == 1.0
    assert sum(arm.conversions for arm in learner.posterior(20.0).values()) == 1
    assert sum(arm.to_come.mean for arm in learner.posterior(20.0).values()) == 0
    with pytest.raises(pb.InputError, match=r"^Bandit\.reward: a pull is rewarded once"):
        learner.reward(ids[1], 1.0, 8.0)
