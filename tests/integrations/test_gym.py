"""The Gymnasium environment: its checker, its worlds, and an agent from elsewhere."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import patientbandits as pb
from patientbandits.integrations.gym import ENVIRONMENT_ID

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
HEAVY = pb.Problem([0.4, 0.7, 0.5], [pb.Pareto(1.0), pb.Pareto(0.3), pb.Fixed(4)])


@pytest.mark.parametrize("problem", [HEAVY, HEAVY.with_feedback("reports"), "heterogeneous"])
def test_the_checker_passes_without_a_warning(problem) -> None:
    environment = gymnasium.make(ENVIRONMENT_ID, problem=problem, horizon=50)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(environment.unwrapped, skip_render_check=True)


@pytest.mark.parametrize("feedback", ["rewards", "reports"])
@pytest.mark.parametrize("run", [0, 2])
def test_a_loop_in_it_is_a_run_of_simulate(feedback: str, run: int) -> None:
    """A `Bandit` that plays here has the regret of that run, to the last bit."""
    problem = HEAVY.with_feedback(feedback)
    policy = pb.UCB1() if feedback == "rewards" else pb.DelayedUCB1()
    horizon = 300
    environment = gymnasium.make(ENVIRONMENT_ID, problem=problem, horizon=horizon)
    environment.reset(seed=9)
    for _ in range(run):
        environment.reset()
    bandit = pb.Bandit(policy, range(3), horizon, seed=9, run=run)
    over = False
    received = 0.0
    while not over:
        _, reward, ended, over, info = environment.step(bandit.pull().arm)
        received += reward
        assert not ended
        for came in info["arrivals"]:
            bandit.reward(came.round, came.reward)
    played = pb.simulate(problem, policy, horizon, 3, seed=9, workers=1)
    assert [bandit.pulls[arm] for arm in range(3)] == played.pulls[run].tolist()
    assert info["regret"] == pytest.approx(played.final[run], abs=1e-9)
    assert 0 < received <= horizon


def test_arrivals_come_when_they_are_due() -> None:
    """Delays 0 and 1 are the same to a learner: seen with the pull's own step."""
    problem = pb.Problem([1.0, 1.0], [pb.NoDelay(), pb.Fixed(4)])
    environment = gymnasium.make(ENVIRONMENT_ID, problem=problem, horizon=10)
    environment.reset(seed=1)
    seen = []
    for action in (0, 1, 0, 0, 0, 0):
        observation, reward, _, _, info = environment.step(action)
        seen.append([(came.round, came.arm, came.delay) for came in info["arrivals"]])
        assert reward == len(info["arrivals"])
    late = (2, 1, 4)
    at_once = [(1, 0, 0)], [], [(3, 0, 0)], [(4, 0, 0)]
    assert seen == [*at_once, [late, (5, 0, 0)], [(6, 0, 0)]]
    assert observation["pulls"].tolist() == [5, 1]
    assert observation["rewards"].tolist() == [5.0, 1.0]


def test_mistakes_are_told() -> None:
    with pytest.raises(
        pb.InputError, match=r"^DelayedBandit: problem must be one of .*homogeneous"
    ):
        gymnasium.make(ENVIRONMENT_ID, problem="homogenous")
    environment = gymnasium.make(ENVIRONMENT_ID, problem=HEAVY, horizon=3).unwrapped
    environment.reset(seed=1)
    with pytest.raises(pb.InputError, match=r"^DelayedBandit: action must be below .*got action=3"):
        environment.step(3)
    for _ in range(3):
        environment.step(np.int64(0))
    with pytest.raises(pb.InputError, match=r"^DelayedBandit: an episode has 3 steps"):
        environment.step(0)


def test_an_agent_of_mabwiser_plays_and_learns() -> None:
    command = [sys.executable, str(EXAMPLES / "foreign_agent.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    regret = float(done.stdout.split()[1].rstrip(";"))
    assert 0 < regret < 0.7 * 60
