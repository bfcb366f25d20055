"""A problem as an environment of Gymnasium. Importing this module registers it.

import gymnasium
import patientbandits.integrations.gym

environment = gymnasium.make("patientbandits/DelayedBandit-v0", problem=problem)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits._util.arithmetic import plain_sum
from patientbandits._util.rng import base_keys, run_key
from patientbandits.errors import InputError, choice, require, whole
from patientbandits.problems import PROBLEMS, Problem
from patientbandits.simulation.engine import any_report, heard_after, row_of, signal_delay, world_of

try:
    import gymnasium
except ImportError:
    raise InputError("gym: Gymnasium is needed; install patientbandits[gym].") from None

ENVIRONMENT_ID = "patientbandits/DelayedBandit-v0"

Observation = dict[str, NDArray[Any]]


class Arrival(NamedTuple):
    """A reward that has arrived, or a report of 0 where there is such feedback."""

    round: int
    """of the pull it belongs to"""
    arm: int
    delay: int
    reward: float


class EarlySignal(NamedTuple):
    """A signal that has come, where the problem has them."""

    round: int
    """of the pull it belongs to"""
    arm: int
    delay: int


class DelayedBandit(gymnasium.Env[Observation, np.int64]):
    """A `Problem` as an environment of Gymnasium.

    action       the arm to pull, 0 .. K - 1
    observation  "pulls" and "rewards": of each arm, its pulls and the sum of its rewards that have
                 arrived by now
    reward       what arrives with this step, from whatever pull; at most one reward for each pull
    info         "arrivals", a list of `Arrival`; "signals", one of `EarlySignal`; "round", the
                 number of the next decision; and "regret" so far, which is the truth and not for
                 the agent

    An episode is truncated after ``horizon`` steps. A pull of round s with delay D arrives with the
    step of round s + max(D, 1) - 1, in time for the next decision: the rule of `simulate`. The
    worlds are its worlds as well: after reset(seed=s) an episode is run 0 of seed s, the next
    reset() begins run 1, and so on.

    ``problem`` may be the name of one of `problems.PROBLEMS`.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012  # so in gymnasium.Env

    def __init__(self, problem: Problem | str, horizon: int = 1000) -> None:
        if isinstance(problem, str):
            problem = PROBLEMS[choice("DelayedBandit", "problem", problem, PROBLEMS)]()
        if not isinstance(problem, Problem):
            raise InputError(f"DelayedBandit: problem must be a Problem; got problem={problem!r}.")
        self.problem = problem
        self.horizon = whole("DelayedBandit", "horizon", horizon, 1)
        arms = problem.arms
        self.action_space = gymnasium.spaces.Discrete(arms)
        most = self.horizon
        self.observation_space = gymnasium.spaces.Dict(  # type: ignore[assignment]
            {
                "pulls": gymnasium.spaces.Box(0, most, (arms,), np.int64),
                "rewards": gymnasium.spaces.Box(0.0, float(most), (arms,), np.float64),
            }
        )
        streams: Any = [int(stream) for stream in problem.streams]
        self._world = world_of(problem, self.horizon)._replace(streams=streams)
        self._seed: int | None = None
        self._run = 0
        self._begin(0)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin run 0 of ``seed``; without one, the next run of the seed that there is."""
        super().reset(seed=seed)
        if seed is not None:
            self._seed = whole("DelayedBandit", "seed", seed)
            self._run = 0
        elif self._seed is None:
            self._seed = int(self.np_random.integers(2**31))
        else:
            self._run += 1
        assert self._seed is not None
        self._begin(self._seed)
        return self._observation(), self._info([], [])

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Pull the arm, and receive what arrives before the next decision."""
        arm = whole("DelayedBandit", "action", action)
        rule = f"action must be below the number of arms, {self.problem.arms}"
        require(arm < self.problem.arms, "DelayedBandit", rule, action=arm)
        rule = f"an episode has {self.horizon} steps; reset begins a new one"
        require(self._round < self.horizon, "DelayedBandit", rule)
        # As in the engine: the pull first, then what arrives before the next decision.
        self._round += 1
        self._pulls[arm] += 1
        self._regret += float(self._world.gaps[row_of(self._world, self._round, arm)])
        self._send(arm)
        if self.problem.signals is not None:
            self._send_signal(arm)
        arrivals = self._due.pop(self._round + 1, [])
        for came in arrivals:
            self._rewards[came.arm] += came.reward
        reward = plain_sum(came.reward for came in arrivals)
        over = self._round == self.horizon
        signals = self._signals_due.pop(self._round + 1, [])
        return self._observation(), reward, False, over, self._info(arrivals, signals)

    def _begin(self, seed: int) -> None:
        self._round = 0
        self._key = run_key(base_keys(seed)[0], self._run)
        self._pulls = np.zeros(self.problem.arms, np.int64)
        self._rewards = np.zeros(self.problem.arms)
        self._regret = 0.0
        self._due: dict[int, list[Arrival]] = {}
        self._signals_due: dict[int, list[EarlySignal]] = {}

    def _send(self, arm: int) -> None:
        """The pull's reward is under way."""
        left = self.horizon - self._round
        reward, delay = any_report(self._world, self._key, self._round, arm, left)
        announced = reward != 0.0 or self.problem.feedback == "reports"
        if not announced or delay > left:
            return
        came = Arrival(round=self._round, arm=arm, delay=int(delay), reward=float(reward))
        self._due.setdefault(self._heard_at(came.delay), []).append(came)

    def _send_signal(self, arm: int) -> None:
        """The pull's signal is under way, if it gives one in time."""
        left = self.horizon - self._round
        delay = int(signal_delay(self._world, self._key, self._round, arm, left))
        if delay <= left:
            came = EarlySignal(round=self._round, arm=arm, delay=delay)
            self._signals_due.setdefault(self._heard_at(delay), []).append(came)

    def _heard_at(self, delay: int) -> int:
        """The round from which on what takes so long can be used."""
        left = self.horizon - self._round
        return self._round + heard_after(self._round, max(delay, 1), self._world.batch, left)

    def _observation(self) -> Observation:
        return {"pulls": self._pulls.copy(), "rewards": self._rewards.copy()}

    def _info(self, arrivals: list[Arrival], signals: list[EarlySignal]) -> dict[str, Any]:
        return {
            "arrivals": arrivals,
            "signals": signals,
            "round": self._round + 1,
            "regret": self._regret,
        }


def register_environment() -> None:
    """Make the environment known to `gymnasium.make`."""
    if ENVIRONMENT_ID not in gymnasium.registry:
        gymnasium.register(ENVIRONMENT_ID, entry_point=f"{__name__}:DelayedBandit")


register_environment()
