"""Problems that do not stay as they are: from some round on, other means or other delays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from patientbandits.errors import InputError, items, probability, whole
from patientbandits.problems.delays import Delay


@dataclass(frozen=True, init=False)
class Shift:
    """A change: from ``round`` on the arms have these means, or these delays, or both.

    What is not given stays as it was. A pull has the mean and the law of the round it is made in.
    ``delays`` may be one law for all arms.
    """

    round: int
    means: tuple[float, ...] | None
    delays: tuple[Delay, ...] | Delay | None

    def __init__(
        self,
        round: int,
        means: Sequence[float] | None = None,
        delays: Sequence[Delay] | Delay | None = None,
    ) -> None:
        owner = "Shift"
        if means is None and delays is None:
            raise InputError(f"{owner}: means or delays are needed; got neither.")
        if means is not None:
            listed = items(owner, "means", means)
            means = tuple(probability(owner, "every mean", mean) for mean in listed)
        if delays is not None and not isinstance(delays, Delay):
            delays = tuple(items(owner, "delays", delays))
        values = {"round": whole(owner, "round", round, 2), "means": means, "delays": delays}
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def select(self, arms: Sequence[int]) -> Shift:
        """The same for these arms, in this order."""
        means = self.means
        delays = self.delays
        if means is not None:
            means = tuple(means[arm] for arm in arms)
        if isinstance(delays, tuple):
            delays = tuple(delays[arm] for arm in arms)
        return Shift(self.round, means, delays)

    def describe(self) -> dict[str, Any]:
        """The change as plain data, for files."""
        data: dict[str, Any] = {"round": self.round}
        if self.means is not None:
            data["means"] = list(self.means)
        if isinstance(self.delays, Delay):
            data["delays"] = self.delays.describe()
        elif self.delays is not None:
            data["delays"] = [law.describe() for law in self.delays]
        return data


def gradual(
    before: Sequence[float], after: Sequence[float], first: int, last: int, steps: int
) -> tuple[Shift, ...]:
    """Means that go from ``before`` to ``after`` in equal steps, the last one at round ``last``."""
    owner = "gradual"
    first = whole(owner, "first", first, 2)
    last = whole(owner, "last", last, first)
    steps = whole(owner, "steps", steps, 1)
    pairs = list(zip(before, after, strict=True))
    changes = []
    for step in range(1, steps + 1):
        share = step / steps
        means = [old + share * (new - old) for old, new in pairs]
        begins = first + (last - first) * (step - 1) // max(steps - 1, 1)
        changes.append(Shift(begins, means))
    return tuple(changes)
