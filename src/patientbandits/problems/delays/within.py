"""The delays of those that come within a window."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from patientbandits.errors import InputError, require, whole
from patientbandits.problems.delays.base import Delay


@dataclass(frozen=True)
class Within(Delay):
    """A delay D of the law ``of``, given that D <= window: (S(m) - S(window)) / (1 - S(window)).

    In a problem whose rewards count within a window, an arm with mean mu is one with the mean
    mu tau(window) and these delays: what a policy that is told an arm's law needs to know there.
    """

    of: Delay
    window: int
    _late: float = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.of, Delay):
            raise InputError(f"{self.owner}: of must be a delay law; got of={self.of!r}.")
        window = whole(self.owner, "window", self.window, 1)
        late = self.of.survival_at(window)
        rule = "some of its delays must be within the window"
        require(late < 1, self.owner, rule, of=self.of, window=self.window)
        object.__setattr__(self, "window", window)
        object.__setattr__(self, "_late", late)

    def survival_at(self, m: int) -> float:
        if m >= self.window:
            return 0.0
        return (self.of.survival_at(m) - self._late) / (1.0 - self._late)

    def describe(self) -> dict[str, Any]:
        return {"law": self.owner, "of": self.of.describe(), "window": self.window}
