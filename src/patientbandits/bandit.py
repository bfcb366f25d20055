"""A policy in the user's own loop: pull, and report rewards whenever they arrive."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

from patientbandits.errors import InputError, number, require, whole
from patientbandits.policies import Arm, Policy
from patientbandits.policies.base import HOOKS, Chance, rule_of
from patientbandits.posteriors import ArmPosterior, CureCounts, posterior
from patientbandits.rng import GOLDEN, MASK, address, base_keys, mix, run_key

FIRST_CAPACITY = 1024


class Pull(NamedTuple):
    """A decision: keep the id, show the arm."""

    id: int
    arm: Hashable
    time: float


class Bandit:
    """Decides with ``policy`` among ``arms``.

        pull = bandit.pull()              # pull.id, pull.arm
        bandit.reward(pull.id, 1.0)       # whenever it arrives, in any order, once

    Time is the number of the decision, 1, 2, ..., unless you pass your own clock to `pull` and `reward`: any number
    that never goes back, such as seconds. Without a ``horizon`` the policy takes its anytime form. The decisions
    are those of run ``run`` of `simulate` with the same seed, if the same rewards arrive. Everything is interpreted:
    no compiler is involved.

    A policy whose ``feedback`` is "reports" must be told of every pull in the end: `reward` with 0.0 is then a report, which it
    learns from. The other policies take no notice of a reward of 0: to them it is what was visible all along.
    """

    def __init__(
        self,
        policy: Policy,
        arms: Sequence[Hashable],
        horizon: int | None = None,
        seed: int = 0,
        run: int = 0,
    ) -> None:
        if isinstance(arms, (str, bytes)) or not isinstance(arms, Sequence):
            raise InputError(f"Bandit: arms must be a list of names; got arms={arms!r}.")
        self.arms = tuple(arms)
        require(
            all(isinstance(arm, Hashable) for arm in self.arms),
            "Bandit",
            "arms must be hashable names",
            arms=self.arms,
        )
        require(len(self.arms) >= 1, "Bandit", "at least one arm is needed", arms=self.arms)
        require(
            len(set(self.arms)) == len(self.arms),
            "Bandit",
            "arms must be different",
            arms=self.arms,
        )
        self.horizon = (
            None if horizon is None else whole("Bandit", "horizon", horizon, len(self.arms))
        )
        self.policy = policy
        self._rule = rule_of(policy, len(self.arms), horizon_known=horizon is not None)
        self._tie_key = run_key(
            base_keys(whole("Bandit", "seed", seed))[1], whole("Bandit", "run", run)
        )
        self._random_key = mix((self._tie_key + GOLDEN) & MASK)
        self._chance = Chance(self._tie_key, self._random_key, range(len(self.arms)))
        self._made: list[tuple[int, float]] = []
        self._paid: dict[int, float] = {}
        self._log: list[tuple[Any, ...]] = []
        self._clear(horizon or FIRST_CAPACITY)

    def _clear(self, capacity: int) -> None:
        self._capacity = capacity
        self._memory = self.policy.memory(len(self.arms), capacity)
        self._pulls = [0] * len(self.arms)
        self._rewards = [0.0] * len(self.arms)

    @property
    def pulls(self) -> dict[Hashable, int]:
        """How often each arm was pulled."""
        return dict(zip(self.arms, self._pulls, strict=True))

    @property
    def rewards(self) -> dict[Hashable, float]:
        """The sum of rewards that have arrived, arm by arm."""
        return dict(zip(self.arms, self._rewards, strict=True))

    def pull(self, time: float | None = None) -> Pull:
        """Decide on an arm."""
        made = len(self._made)
        require(
            self.horizon is None or made < self.horizon,
            "Bandit.pull",
            f"at most horizon={self.horizon} pulls can be made",
            pulls=made,
        )
        now = self._clock("pull", float(made + 1) if time is None else time)
        if made == self._capacity:
            self._grow()
        indices = self._indices(made + 1, now)
        if any(math.isnan(index) for index in indices):
            raise InputError(
                f"{self.policy.owner}: an index must be a number; got NaN in round {made + 1}."
            )
        best = max(
            range(len(self.arms)),
            key=lambda arm: (indices[arm], address(self._tie_key, self._pulls[arm], arm)),
        )
        self._made.append((best, now))
        self._log.append(("pull", len(self._made), now))
        self._apply(self._log[-1])
        return Pull(len(self._made), self.arms[best], now)

    def reward(self, id: int, value: float, time: float | None = None) -> None:
        """Report the reward of a pull, in [0, 1], once."""
        if not isinstance(id, int) or not 1 <= id <= len(self._made):
            raise InputError(f"Bandit.reward: id must be that of a pull; got id={id!r}.")
        require(id not in self._paid, "Bandit.reward", "a pull is rewarded once", id=id)
        amount = number("Bandit.reward", "value", value)
        require(0 <= amount <= 1, "Bandit.reward", "value must be in [0, 1]", value=value)
        now = self._clock(
            "reward", max(float(len(self._made) + 1), self._now()) if time is None else time
        )
        self._paid[id] = amount
        if amount > 0 or self._rule.reports:
            self._log.append(("reward", id, now))
            self._apply(self._log[-1])

    def posterior(self, time: float | None = None, **settings: Any) -> dict[Hashable, ArmPosterior]:
        """What the data say about each arm by ``time`` (by default the last event), whatever the policy.

        settings   those of `posterior`: window, level, times; the window is by default the policy's
        """
        window = settings.setdefault("window", getattr(self.policy, "window", None))
        now = self._now() if time is None else self._clock("posterior", time)
        came = {id: when for kind, id, when in self._log if kind == "reward" and self._paid[id] > 0}
        counts = []
        for arm in range(len(self.arms)):
            made = [(id, when) for id, (of, when) in enumerate(self._made, 1) if of == arm]
            delays = [came[id] - when for id, when in made if id in came]
            ages = [now - when for id, when in made if id not in came]
            counts.append(CureCounts.of(ages, delays, self._rewards[arm], window=window))
        return dict(zip(self.arms, posterior(counts, **settings), strict=True))

    def _now(self) -> float:
        return float(self._log[-1][2]) if self._log else -math.inf

    def _clock(self, method: str, time: float) -> float:
        now = number(f"Bandit.{method}", "time", time)
        require(
            self._now() <= now < math.inf,
            f"Bandit.{method}",
            f"time must be finite and not before {self._now()}",
            time=time,
        )
        return now

    def _grow(self) -> None:
        """Twice the room; what a policy remembers is a function of the log, so it is played again."""
        self._clear(2 * self._capacity)
        for event in self._log:
            if event[0] == "pull":
                self._indices(
                    event[1], event[2]
                )  # a policy may note something down while it decides
            self._apply(event)

    def _apply(self, event: tuple[Any, ...]) -> None:
        kind, id, time = event
        arm, pull_time = self._made[id - 1]
        if kind == "pull":
            self._pulls[arm] += 1
            self._call("pulled", 0, arm=self._arm(arm), pull=id, time=time)
        else:
            self._rewards[arm] += self._paid[id]
            known = {
                "arm": self._arm(arm),
                "pull": id,
                "reward": self._paid[id],
                "time": time,
                "pull_time": pull_time,
            }
            self._call("arrived", 0, delay=time - pull_time, **known)

    def _arm(self, arm: int) -> Arm:
        return Arm(arm, self._pulls[arm], self._rewards[arm])

    def _indices(self, round_: int, time: float) -> list[float]:
        self._call("refresh", round_, time=time)
        return [self._index(arm, round_, time) for arm in range(len(self.arms))]

    def _index(self, arm: int, round_: int, time: float) -> float:
        pulls = self._pulls[arm]
        if pulls < self._rule.first_pulls:
            return math.inf
        random = address(self._random_key, round_, arm)
        if self._rule.from_bonus:
            return self._rewards[arm] / pulls + float(
                self._call("bonus", round_, pulls=pulls, time=time, random=random)
            )
        return float(self._call("index", round_, arm=self._arm(arm), time=time, random=random))

    def _call(self, hook: str, round_: int, **known: Any) -> Any:
        method = self._rule.hooks.get(hook)
        if method is None:
            return None
        horizon = float(self.horizon or max(round_ - 1, 1))
        known.update(
            self=self._rule.numbers,
            memory=self._memory,
            round=round_,
            horizon=horizon,
            arms=len(self.arms),
            chance=self._chance,
        )
        return method(*(known[name] for name in HOOKS[hook]))
