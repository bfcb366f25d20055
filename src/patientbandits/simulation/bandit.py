"""A policy in the user's own loop: pull, and report rewards whenever they arrive."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

from patientbandits._util.rng import base_keys
from patientbandits.errors import InputError, number, positive, require, whole
from patientbandits.inference.posterior import ArmPosterior, CureCounts, posterior
from patientbandits.policies import Arm, Policy
from patientbandits.policies.base import FIRST_CAPACITY, Chance, require_window, rule_of
from patientbandits.policies.choice import Bid, DecisionPoint, choose_function
from patientbandits.policies.rule import HOOKS


class Pull(NamedTuple):
    """A decision: keep the id, show the arm."""

    id: int
    arm: Hashable
    time: float


class MadePull(NamedTuple):
    """A pull as the bandit keeps it."""

    arm: int
    time: float


class LogEntry(NamedTuple):
    """A pull that was made, or its signal or its reward that arrived."""

    hook: str
    """"pulled", "signalled" or "arrived": which method of the policy is told"""
    id: int
    time: float


class Bandit:
    """Decides with ``policy`` among ``arms``.

        pull = bandit.pull()              # pull.id, pull.arm
        bandit.reward(pull.id, 1.0)       # whenever it arrives, in any order, once

    Time is the number of the decision, 1, 2, ..., unless you pass your own clock to `pull` and
    `reward`: any number that never goes back, such as seconds. Without a ``horizon`` the policy
    takes its anytime form. The decisions are those of run ``run`` of `simulate` with the same seed,
    if the same rewards arrive. Everything is interpreted: no compiler is involved.

    A policy whose ``feedback`` is "reports" must be told of every pull in the end: `reward` with
    0.0 is then a report, which it learns from. The other policies take no notice of a reward of 0:
    to them it is what was visible all along.

    With a ``window``, in units of time, a reward that comes later than that after its pull counts
    as 0, as in a problem with that window. A policy's own window must be the same.
    """

    def __init__(
        self,
        policy: Policy,
        arms: Sequence[Hashable],
        horizon: int | None = None,
        seed: int = 0,
        run: int = 0,
        window: float | None = None,
    ) -> None:
        self.arms = self._checked_arms(arms)
        count = len(self.arms)
        self.horizon = None if horizon is None else whole("Bandit", "horizon", horizon, count)
        self.window = None if window is None else positive("Bandit", "window", window)
        self.policy = policy
        self._rule = rule_of(policy, count, horizon_known=horizon is not None)
        self._choose = choose_function(self._rule)
        require_window("Bandit", self.window, policy)
        policy_key = base_keys(whole("Bandit", "seed", seed))[1]
        self._chance = Chance.of(policy_key, whole("Bandit", "run", run), range(count))
        self._made: list[MadePull] = []
        self._paid: dict[int, float] = {}
        self._signalled: set[int] = set()
        self._log: list[LogEntry] = []
        self._clear(horizon or FIRST_CAPACITY)

    @staticmethod
    def _checked_arms(arms: Sequence[Hashable]) -> tuple[Hashable, ...]:
        if isinstance(arms, (str, bytes)) or not isinstance(arms, Sequence):
            raise InputError(f"Bandit: arms must be a list of names; got arms={arms!r}.")
        names = tuple(arms)
        hashable = all(isinstance(arm, Hashable) for arm in names)
        require(hashable, "Bandit", "arms must be hashable names", arms=names)
        require(len(names) >= 1, "Bandit", "at least one arm is needed", arms=names)
        require(len(set(names)) == len(names), "Bandit", "arms must be different", arms=names)
        return names

    def _clear(self, capacity: int) -> None:
        self._capacity = capacity
        self._memory = self.policy.memory(len(self.arms), capacity)
        self._pulls = [0] * len(self.arms)
        self._rewards = [0.0] * len(self.arms)

    @property
    def pulls(self) -> dict[Hashable, int]:
        """The number of pulls of each arm."""
        return dict(zip(self.arms, self._pulls, strict=True))

    @property
    def rewards(self) -> dict[Hashable, float]:
        """The sum of rewards that have arrived, arm by arm."""
        return dict(zip(self.arms, self._rewards, strict=True))

    def pull(self, time: float | None = None) -> Pull:
        """Decide on an arm."""
        count = len(self._made)
        rule = f"at most horizon={self.horizon} pulls can be made"
        require(self.horizon is None or count < self.horizon, "Bandit.pull", rule, pulls=count)
        now = self._clock("pull", float(count + 1) if time is None else time)
        if count == self._capacity:
            self._grow()
        bid = self._decide(count + 1, now)
        if math.isnan(bid.worth):
            raise InputError(
                f"{self.policy.owner}: an index must be a number; got NaN in round {count + 1}."
            )
        self._made.append(MadePull(bid.arm, now))
        self._take(LogEntry("pulled", count + 1, now))
        return Pull(id=count + 1, arm=self.arms[bid.arm], time=now)

    def reward(self, id: int, value: float, time: float | None = None) -> None:
        """Report the reward of a pull, in [0, 1], once."""
        self._require_pull("reward", id)
        require(id not in self._paid, "Bandit.reward", "a pull is rewarded once", id=id)
        amount = number("Bandit.reward", "value", value)
        require(0 <= amount <= 1, "Bandit.reward", "value must be in [0, 1]", value=value)
        now = self._clock("reward", time)
        if self._is_late(id, now):
            amount = 0.0
        self._paid[id] = amount
        # Where zeros are not announced the policy must not learn that this pull will never pay.
        if amount > 0 or self._rule.reports:
            self._take(LogEntry("arrived", id, now))

    def signal(self, id: int, time: float | None = None) -> None:
        """Report an early signal of a pull, once; only policies that ask for signals learn of it.

        In a round in which both come, signals are reported before rewards, as `simulate` does.
        """
        self._require_pull("signal", id)
        require(id not in self._signalled, "Bandit.signal", "a pull is signalled once", id=id)
        now = self._clock("signal", time)
        self._signalled.add(id)
        if not self._is_late(id, now):
            self._take(LogEntry("signalled", id, now))

    def _require_pull(self, method: str, id: object) -> None:
        if not isinstance(id, int) or not 1 <= id <= len(self._made):
            raise InputError(f"Bandit.{method}: id must be that of a pull; got id={id!r}.")

    def _is_late(self, id: int, now: float) -> bool:
        """True if what comes of the pull now comes after the window."""
        return self.window is not None and now - self._made[id - 1].time > self.window

    def posterior(self, time: float | None = None, **settings: Any) -> dict[Hashable, ArmPosterior]:
        """The posterior of each arm by ``time`` (by default the last event).

        Whatever the policy. The settings are those of `posterior`: window, level, times; the window
        is the bandit's or its policy's, if one has one.
        """
        own_window = self.window
        if own_window is None:
            own_window = getattr(self.policy, "window", None)
        window = settings.setdefault("window", own_window)
        now = self._now() if time is None else self._clock("posterior", time)
        counts = [self._counts(arm, now, window) for arm in range(len(self.arms))]
        return dict(zip(self.arms, posterior(counts, **settings), strict=True))

    def _counts(self, arm: int, now: float, window: float | None) -> CureCounts:
        """The arm's conversions by now, and its pulls that wait."""
        came = {
            entry.id: entry.time
            for entry in self._log
            if entry.hook == "arrived" and self._paid[entry.id] > 0
        }
        ages = []
        delays = []
        for id, pull in enumerate(self._made, 1):
            if pull.arm != arm:
                continue
            if id in came:
                delays.append(came[id] - pull.time)
            else:
                ages.append(now - pull.time)
        return CureCounts.of(ages, delays, self._rewards[arm], window=window)

    def _now(self) -> float:
        return self._log[-1].time if self._log else -math.inf

    def _clock(self, method: str, time: float | None) -> float:
        """The time, by default that of the next decision, which must not go back."""
        if time is None:
            time = max(float(len(self._made) + 1), self._now())
        now = number(f"Bandit.{method}", "time", time)
        rule = f"time must be finite and not before {self._now()}"
        require(self._now() <= now < math.inf, f"Bandit.{method}", rule, time=time)
        return now

    def _grow(self) -> None:
        """Twice the room; what a policy remembers is a function of the log, so it is played again.

        Decisions too: a policy may note something down while it decides.
        """
        # Twice the room each time, so that a long life is played again about once in all.
        self._clear(2 * self._capacity)
        for entry in self._log:
            if entry.hook == "pulled":
                self._decide(entry.id, entry.time)
            self._apply(entry)

    def _decide(self, round_: int, time: float) -> Bid:
        """The arm that the policy chooses in this round, with its index."""
        self._call("refresh", round_, time=time)
        arms = len(self.arms)
        decision = DecisionPoint(round=round_, time=time, horizon=self._horizon(round_), arms=arms)
        numbers = self._rule.numbers
        return self._choose(
            numbers, self._memory, self._pulls, self._rewards, decision, self._chance
        )

    def _horizon(self, round_: int) -> float:
        """T; if unknown, the pulls so far."""
        return float(self.horizon or max(round_ - 1, 1))

    def _call(self, hook: str, round_: int, **values: Any) -> Any:
        """The policy's hook, with all that it may ask for."""
        values.update(
            self=self._rule.numbers,
            memory=self._memory,
            round=round_,
            horizon=self._horizon(round_),
            arms=len(self.arms),
            chance=self._chance,
        )
        return self._rule.hook(hook)(*(values[name] for name in HOOKS[hook]))

    def _take(self, entry: LogEntry) -> None:
        self._log.append(entry)
        self._apply(entry)

    def _apply(self, entry: LogEntry) -> None:
        """Tell the policy."""
        arm, pull_time = self._made[entry.id - 1]
        reward = 0.0
        if entry.hook == "pulled":
            self._pulls[arm] += 1
        if entry.hook == "arrived":
            reward = self._paid[entry.id]
            self._rewards[arm] += reward
        self._call(
            entry.hook,
            0,
            arm=self._arm(arm),
            pull=entry.id,
            delay=entry.time - pull_time,
            reward=reward,
            time=entry.time,
            pull_time=pull_time,
        )

    def _arm(self, arm: int) -> Arm:
        return Arm(number=arm, pulls=self._pulls[arm], rewards=self._rewards[arm])
