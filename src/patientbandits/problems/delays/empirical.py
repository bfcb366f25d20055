"""The law of delays that were observed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from patientbandits._util.arithmetic import plain_sum
from patientbandits.errors import items, number, require, whole
from patientbandits.problems.delays.base import Delay


@dataclass(frozen=True)
class Empirical(Delay):
    """D takes each of ``delays`` with its weight (all equal by default).

    A histogram is the same thing: its bins' values as ``delays``, its counts as ``weights``.
    Observed delays of conversions are biased short while conversions are still under way.
    """

    delays: Sequence[int]
    weights: Sequence[float] | None = None
    _steps: tuple[tuple[int, float], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        listed = items(self.owner, "delays", self.delays)
        delays = tuple(whole(self.owner, "every delay", delay) for delay in listed)
        require(len(delays) > 0, self.owner, "at least one delay is needed", delays=self.delays)
        listed_weights: Sequence[object] = (1.0,) * len(delays)
        if self.weights is not None:
            listed_weights = items(self.owner, "weights", self.weights)
        weights = tuple(number(self.owner, "every weight", weight) for weight in listed_weights)
        require(
            len(weights) == len(delays),
            self.owner,
            "weights must match delays in number",
            delays=len(delays),
            weights=len(weights),
        )
        require(
            all(0 <= w < float("inf") for w in weights) and plain_sum(weights) > 0,
            self.owner,
            "weights must be finite, >= 0 and not all 0",
            weights=self.weights,
        )
        object.__setattr__(self, "delays", delays)
        if self.weights is not None:
            object.__setattr__(self, "weights", weights)
        mass: dict[int, float] = {}
        for delay, weight in zip(delays, weights, strict=True):
            mass[delay] = mass.get(delay, 0.0) + weight
        steps = []
        above = 0.0
        for delay in sorted(mass, reverse=True):  # from the largest: the last step is exactly 0
            steps.append((delay, above / plain_sum(weights)))
            above += mass[delay]
        object.__setattr__(self, "_steps", tuple(reversed(steps)))

    def survival_at(self, m: int) -> float:
        from bisect import bisect_right

        at = bisect_right(self._steps, m, key=lambda step: step[0])
        if at == 0:
            return 1.0
        return self._steps[at - 1][1]

    def describe(self) -> dict[str, object]:
        data: dict[str, object] = {"law": self.owner, "delays": list(self.delays), "weights": None}
        if self.weights is not None:
            data["weights"] = list(self.weights)
        return data
