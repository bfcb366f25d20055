"""Problems: arms with their rewards and delays. This is the truth, which a policy never sees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

from patientbandits.errors import InputError, choice, items, probability, require, whole
from patientbandits.problems.calendar import Calendar
from patientbandits.problems.delays import Delay, Mixture, Never, NoDelay, Within
from patientbandits.problems.delays.base import require_law
from patientbandits.problems.drift import Shift
from patientbandits.problems.rewards import FEEDBACK, Bernoulli, Reward
from patientbandits.problems.signals import Signal


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

    ``low_delays``, one law or one for each arm: the delays depend on the reward, and these are the
    laws where it is the lower of its two values. Where zeros are never announced they make a
    difference for rewards such as `TwoPoint(0.2, 1)` only.

    ``changes``: what is another from some round on. `means`, `delays`, `rates` and `gaps` are those
    of the beginning; `phases` has them all.

    ``calendar``, by default none: what the days do to the means, of all arms or of some. A pull has
    the mean of the round it is made in, and regret is measured against the arm that is best in that
    round. `means`, `rates`, `gaps` and `phases` are those at factors of 1; `phases_until` has all.

    ``batch``: the learner hears what has come at rounds 1, m + 1, 2m + 1, ... only, and makes the m
    decisions in between without. It knows its own pulls.

    ``signals``, one `Signal` or one for each arm, by default none: what may be seen of a pull
    before its reward. Only policies with a method `signalled` hear of them; to the others the world
    is the one without. With a window no signal comes after it either.
    """

    means: tuple[float, ...]
    delays: tuple[Delay, ...]
    rewards: tuple[Reward, ...]
    streams: tuple[int, ...]
    feedback: str
    window: int | None
    low_delays: tuple[Delay, ...] | None
    changes: tuple[Shift, ...]
    batch: int | None
    signals: tuple[Signal, ...] | None
    calendar: Calendar | None

    def __init__(
        self,
        means: Sequence[float],
        delays: Sequence[Delay] | Delay = NoDelay(),  # noqa: B008  # frozen
        rewards: Sequence[Reward] | Reward = Bernoulli(),  # noqa: B008
        streams: Sequence[int] | None = None,
        feedback: str = FEEDBACK[0],
        window: int | None = None,
        low_delays: Sequence[Delay] | Delay | None = None,
        changes: Sequence[Shift] = (),
        batch: int | None = None,
        signals: Sequence[Signal] | Signal | None = None,
        calendar: Calendar | None = None,
    ) -> None:
        owner = "Problem"
        listed = items(owner, "means", means)
        means = tuple(probability(owner, "every mean", mean) for mean in listed)
        require(len(means) >= 1, owner, "at least one arm is needed", means=list(means))
        delays = laws_per_arm("delays", delays, Delay, len(means))
        rewards = laws_per_arm("rewards", rewards, Reward, len(means))
        if streams is None:
            streams = range(len(means))
        listed = items(owner, "streams", streams)
        streams = tuple(whole(owner, "every stream", stream) for stream in listed)
        rule = "streams must match means in number"
        require(len(streams) == len(means), owner, rule, streams=len(streams), means=len(means))
        for reward, mean in zip(rewards, means, strict=True):
            reward.encode(mean)  # refuses means that its law cannot have
        for law in delays:
            require_law(law)
        feedback = choice(owner, "feedback", feedback, FEEDBACK)
        if window is not None:
            window = whole(owner, "window", window, 1)
        if low_delays is not None:
            low_delays = laws_per_arm("low_delays", low_delays, Delay, len(means))
            require_two_values("low_delays", rewards, means)
            for law in low_delays:
                require_law(law)
        if signals is not None:
            signals = laws_per_arm("signals", signals, Signal, len(means))
            require_two_values("signals", rewards, means)
        if batch is not None:
            batch = whole(owner, "batch", batch, 1)
        changes = items(owner, "changes", changes)
        values = (
            *(means, delays, rewards, streams, feedback, window),
            *(low_delays, changes, batch, signals, calendar),
        )
        # A frozen dataclass with an `__init__` of its own sets its fields so. It has one, since an
        # argument may be one law for all arms, while the field has one for each.
        for field, value in zip(fields(self), values, strict=True):
            object.__setattr__(self, field.name, value)
        self._require_changes()
        if calendar is not None:
            self._require_calendar(calendar)

    def _require_changes(self) -> None:
        """Changes are in order, and every phase is a problem."""
        rule = "changes must be a list of Shift, in the order of their rounds"
        rounds = [1]
        for change in self.changes:
            require(isinstance(change, Shift), "Problem", rule, change=change)
            require(change.round > rounds[-1], "Problem", rule, round=change.round)
            rounds.append(change.round)
        # Makes a problem of each phase, which checks its means and laws.
        assert len(self.phases) == len(rounds)

    def _require_calendar(self, calendar: Calendar) -> None:
        """At its largest and least factors, too, every phase is a problem."""
        owner = "Problem"
        require(isinstance(calendar, Calendar), owner, "a Calendar is needed", calendar=calendar)
        if calendar.arms is not None:
            rule = "the calendar's arms must be as many as means"
            require(len(calendar.arms) == self.arms, owner, rule, arms=len(calendar.arms))
        bounds = calendar.bounds(self.arms)
        for _, phase in self.phases:
            for mean, reward, (least, largest) in zip(
                phase.means, phase.rewards, bounds, strict=True
            ):
                rule = "means times the largest factors of the calendar must be in [0, 1]"
                require(mean * largest <= 1, owner, rule, mean=mean, factor=largest)
                reward.encode(mean * least)
                reward.encode(mean * largest)

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
        """The worth of a pull, arm by arm: mean * P(D <= window), or the mean without a window."""
        if self.window is not None and self.low_delays is not None:
            return self._rates_by_value(self.window, self.low_delays)
        shares = self._shares_in_time()
        return tuple(mean * share for mean, share in zip(self.means, shares, strict=True))

    def _rates_by_value(self, window: int, low_delays: Sequence[Delay]) -> tuple[float, ...]:
        """`rates` where the lower value has another law: the sum of what comes in time of each."""
        rates = []
        for arm, mean in enumerate(self.means):
            _, (chance, low, high) = self.rewards[arm].encode(mean)
            early = 1.0 - self.delays[arm].survival_at(window)
            early_low = 1.0 - low_delays[arm].survival_at(window)
            rates.append(chance * high * early + (1.0 - chance) * low * early_low)
        return tuple(rates)

    @property
    def phases(self) -> tuple[tuple[int, Problem], ...]:
        """(first round, problem that does not change), in the order of time; without calendar."""
        current = self
        if self.changes or self.calendar is not None:
            current = self._with(changes=(), calendar=None)
        phases = [(1, current)]
        for change in self.changes:
            means = current.means if change.means is None else change.means
            delays = current.delays if change.delays is None else change.delays
            current = current._with(means=means, delays=delays)
            phases.append((change.round, current))
        return tuple(phases)

    def phases_until(self, horizon: int) -> tuple[tuple[int, Problem], ...]:
        """`phases` up to the horizon, with the calendar: means times the factors of the round.

        Phases in which everything is as before are the same object.
        """
        if self.calendar is None:
            return self.phases
        changes = self.phases
        starts = self.calendar.rounds(horizon) | {start for start, _ in changes if start <= horizon}
        problems: dict[tuple[int, tuple[float, ...]], Problem] = {}
        phases = []
        for start in sorted(starts):
            change = sum(first <= start for first, _ in changes) - 1
            factors = self.calendar.factors(start, self.arms)
            if (change, factors) not in problems:
                base = changes[change][1]
                means = [mean * factor for mean, factor in zip(base.means, factors, strict=True)]
                problems[change, factors] = base._with(means=means)
            phases.append((start, problems[change, factors]))
        return tuple(phases)

    def _shares_in_time(self) -> tuple[float, ...]:
        """P(D <= window), arm by arm."""
        if self.window is None:
            return (1.0,) * self.arms
        return tuple(1.0 - law.survival_at(self.window) for law in self.delays)

    def without_delays(self) -> Problem:
        """The same rewards, arriving at once, if they count: the oracle's world."""
        if self.changes or self.low_delays is not None:
            raise InputError("Problem: without_delays must have fixed, independent delays.")
        if self.window is None:
            return self._with(delays=NoDelay())
        shares = self._shares_in_time()
        return self._with(delays=[Mixture([NoDelay(), Never()], [p, 1.0 - p]) for p in shares])

    def with_feedback(self, feedback: str) -> Problem:
        """The same world, in which the learner is told this: "rewards" or "reports"."""
        return self._with(feedback=feedback)

    def with_delays(self, delays: Sequence[Delay] | Delay) -> Problem:
        """The same arms with other delays, throughout."""
        changes = [Shift(change.round, change.means) for change in self.changes if change.means]
        return self._with(delays=delays, changes=changes)

    def with_window(self, window: int | None) -> Problem:
        """The same world, in which only rewards within this window count; None: all of them."""
        return self._with(window=window)

    def with_changes(self, changes: Sequence[Shift]) -> Problem:
        """The same beginning, followed by these."""
        return self._with(changes=changes)

    def with_calendar(self, calendar: Calendar | None) -> Problem:
        """The same arms, whose rates follow this calendar; None: none."""
        return self._with(calendar=calendar)

    def with_batch(self, batch: int | None) -> Problem:
        """The same world, of which the learner hears every ``batch`` rounds."""
        return self._with(batch=batch)

    def with_signals(self, signals: Sequence[Signal] | Signal | None) -> Problem:
        """The same world with these early signals; None: without any."""
        return self._with(signals=signals)

    def _with(self, **other: Any) -> Problem:
        """The same problem but for these."""
        same = {field.name: getattr(self, field.name) for field in fields(self)}
        return Problem(**{**same, **other})

    def select(self, arms: Sequence[int]) -> Problem:
        """The problem with these arms in this order, each with the random stream it has here."""
        owner = "Problem.select"
        chosen = [whole(owner, "every arm", arm) for arm in items(owner, "arms", arms)]
        rule = f"every arm must be in 0..{self.arms - 1}"
        for arm in chosen:
            require(arm < self.arms, owner, rule, arm=arm)
        other: dict[str, Any] = {"changes": [change.select(chosen) for change in self.changes]}
        if self.calendar is not None:
            other["calendar"] = self.calendar.select(chosen)
        for name in ("means", "delays", "rewards", "streams", "low_delays", "signals"):
            by_arm = getattr(self, name)
            if by_arm is not None:
                other[name] = [by_arm[arm] for arm in chosen]
        return self._with(**other)

    def max_alpha(self) -> float:
        """The largest alpha for which every arm satisfies Assumption 1 (0: none does).

        With a window: the delays of the rewards that count, see `Within`. Holds in all phases.
        """
        return min(_max_alpha(law) for _, phase in self.phases for law in set(phase.laws_in_time()))

    def laws_in_time(self) -> tuple[Delay, ...]:
        """The law of the delays of the rewards that count, arm by arm."""
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
        if self.low_delays is not None:
            data["low_delays"] = [law.describe() for law in self.low_delays]
        if self.changes:
            data["changes"] = [change.describe() for change in self.changes]
        if self.batch is not None:
            data["batch"] = self.batch
        if self.signals is not None:
            data["signals"] = [signal.describe() for signal in self.signals]
        if self.calendar is not None:
            data["calendar"] = self.calendar.describe()
        return data


def _within(law: Delay, window: int) -> Delay:
    """The law within the window; of an arm whose rewards are all too late, at once is as good."""
    if law.survival_at(window) < 1:
        return Within(law, window)
    return NoDelay()


@cache
def _max_alpha(law: Delay) -> float:
    return law.max_alpha()


def laws_per_arm(name: str, laws: Any, kind: type, arms: int) -> tuple[Any, ...]:
    """A law for each arm, from one for all or a list of them."""
    values: tuple[Any, ...] = (laws,)
    if isinstance(laws, kind):
        values = (laws,) * arms
    elif isinstance(laws, Sequence) and not isinstance(laws, str):
        values = tuple(laws)
    for value in values:
        if not isinstance(value, kind):
            raise InputError(
                f"Problem: every one of {name} must be a {kind.__name__.lower()} law; "
                f"got {value!r}."
            )
    rule = f"{name} must be one law or as many as means"
    require(len(values) == arms, "Problem", rule, **{name: len(values), "means": arms})
    return values


def require_two_values(name: str, rewards: Sequence[Reward], means: Sequence[float]) -> None:
    """Refuse what depends on the reward where that has more than two values."""
    for reward, mean in zip(rewards, means, strict=True):
        kind, _ = reward.encode(mean)
        rule = f"{name} must have rewards of two values"
        require(kind == "two-point", "Problem", rule, reward=reward)
