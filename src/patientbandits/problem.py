"""What is true: arms with their rewards and delays. A policy never sees this."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

from patientbandits.delays import Delay, Mixture, Never, NoDelay, Within
from patientbandits.delays.check import require_law
from patientbandits.errors import InputError, choice, items, probability, require, whole
from patientbandits.rewards import FEEDBACK, Bernoulli, Reward


@dataclass(frozen=True, init=False)
class Problem:
    """K arms; arm i pays C with mean means[i], after an independent delay of law delays[i].

    ``delays`` and ``rewards`` may each be one law for all arms. ``streams`` numbers the random
    stream that each arm draws from: arms keep theirs when they are reordered or left out, so worlds
    stay comparable.

    ``feedback`` is what a learner is told. "rewards", the paper's setting: a reward of 0 is never
    announced, so a pull that has paid nothing may still pay. "reports": every pull reports in the
    end, after its arm's delay, a reward of 0 too.

    ``window``, a whole number of rounds, by default none: a reward with a longer delay never
    counts and is never seen, and regret is that of the rates within the window. Where every pull
    reports, one that has not paid by then reports a 0.
    """

    means: tuple[float, ...]
    delays: tuple[Delay, ...]
    rewards: tuple[Reward, ...]
    streams: tuple[int, ...]
    feedback: str
    window: int | None

    def __init__(
        self,
        means: Sequence[float],
        delays: Sequence[Delay] | Delay = NoDelay(),  # noqa: B008  # frozen
        rewards: Sequence[Reward] | Reward = Bernoulli(),  # noqa: B008
        streams: Sequence[int] | None = None,
        feedback: str = FEEDBACK[0],
        window: int | None = None,
    ) -> None:
        owner = "Problem"
        listed = items(owner, "means", means)
        means = tuple(probability(owner, "every mean", mean) for mean in listed)
        require(len(means) >= 1, owner, "at least one arm is needed", means=list(means))
        delays = self._per_arm("delays", delays, Delay, len(means))
        rewards = self._per_arm("rewards", rewards, Reward, len(means))
        if streams is None:
            streams = range(len(means))
        listed = items(owner, "streams", streams)
        streams = tuple(whole(owner, "every stream", stream) for stream in listed)
        require(
            len(streams) == len(means),
            owner,
            "streams must match means in number",
            streams=len(streams),
            means=len(means),
        )
        for reward, mean in zip(rewards, means, strict=True):
            reward.encode(mean)
        for law in delays:
            require_law(law)
        feedback = choice(owner, "feedback", feedback, FEEDBACK)
        if window is not None:
            window = whole(owner, "window", window, 1)
        given_values = {
            "means": means,
            "delays": delays,
            "rewards": rewards,
            "streams": streams,
            "feedback": feedback,
            "window": window,
        }
        for name, value in given_values.items():
            object.__setattr__(self, name, value)

    @staticmethod
    def _per_arm(name: str, given: Any, kind: type, arms: int) -> tuple[Any, ...]:
        values: tuple[Any, ...] = (given,)
        if isinstance(given, kind):
            values = (given,) * arms
        elif isinstance(given, Sequence) and not isinstance(given, str):
            values = tuple(given)
        for value in values:
            if not isinstance(value, kind):
                raise InputError(
                    f"Problem: every one of {name} must be a {kind.__name__.lower()} law; "
                    f"got {value!r}."
                )
        require(
            len(values) == arms,
            "Problem",
            f"{name} must be one law or as many as means",
            **{name: len(values), "means": arms},
        )
        return values

    @property
    def arms(self) -> int:
        return len(self.means)

    @property
    def gaps(self) -> tuple[float, ...]:
        """The largest rate - the arm's rate, arm by arm; without a window rates are means."""
        best = max(self.rates)
        return tuple(best - rate for rate in self.rates)

    @property
    def rates(self) -> tuple[float, ...]:
        """What a pull of each arm is worth: mean * P(D <= window), or its mean without a window."""
        shares = self._shares_in_time()
        return tuple(mean * share for mean, share in zip(self.means, shares, strict=True))

    def _shares_in_time(self) -> tuple[float, ...]:
        """P(D <= window), arm by arm."""
        if self.window is None:
            return (1.0,) * self.arms
        return tuple(1.0 - law.survival_at(self.window) for law in self.delays)

    def without_delays(self) -> Problem:
        """The same rewards, arriving at once, if they count: the oracle's world."""
        if self.window is None:
            return self._with(delays=NoDelay())
        shares = self._shares_in_time()
        return self._with(delays=[Mixture([NoDelay(), Never()], [p, 1.0 - p]) for p in shares])

    def with_feedback(self, feedback: str) -> Problem:
        """The same world, in which the learner is told this: "rewards" or "reports"."""
        return self._with(feedback=feedback)

    def with_delays(self, delays: Sequence[Delay] | Delay) -> Problem:
        """The same arms with other delays."""
        return self._with(delays=delays)

    def with_window(self, window: int | None) -> Problem:
        """The same world, in which only rewards within this window count; None: all of them."""
        return self._with(window=window)

    def _with(self, **changes: Any) -> Problem:
        """The same problem but for these."""
        same = {field.name: getattr(self, field.name) for field in fields(self)}
        return Problem(**{**same, **changes})

    def select(self, arms: Sequence[int]) -> Problem:
        """The problem with these arms in this order, each with the random stream it has here."""
        owner = "Problem.select"
        chosen = [whole(owner, "every arm", arm) for arm in items(owner, "arms", arms)]
        rule = f"every arm must be in 0..{self.arms - 1}"
        for arm in chosen:
            require(arm < self.arms, owner, rule, arm=arm)
        return self._with(
            means=[self.means[arm] for arm in chosen],
            delays=[self.delays[arm] for arm in chosen],
            rewards=[self.rewards[arm] for arm in chosen],
            streams=[self.streams[arm] for arm in chosen],
        )

    def max_alpha(self) -> float:
        """The largest alpha for which every arm satisfies Assumption 1 (0: none does).

        With a window: the delays of the rewards that count, see `Within`.
        """
        return min(_max_alpha(law) for law in set(self.laws_in_time()))

    def laws_in_time(self) -> tuple[Delay, ...]:
        """Of each arm, the law of the delays of the rewards that count."""
        if self.window is None:
            return self.delays
        return tuple(_within(law, self.window) for law in self.delays)

    def describe(self) -> dict[str, Any]:
        """The problem as plain data, for files."""
        data: dict[str, Any] = {
            "means": list(self.means),
            "delays": [law.describe() for law in self.delays],
            "rewards": [reward.describe() for reward in self.rewards],
            "streams": list(self.streams),
        }
        if self.feedback != FEEDBACK[0]:
            data["feedback"] = self.feedback  # absent from older files
        if self.window is not None:
            data["window"] = self.window
        return data


def _within(law: Delay, window: int) -> Delay:
    """The law within the window; of an arm whose rewards are all too late, at once is as good."""
    if law.survival_at(window) < 1:
        return Within(law, window)
    return NoDelay()


@cache
def _max_alpha(law: Delay) -> float:
    return law.max_alpha()
