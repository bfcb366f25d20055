"""PatientKL: the share of rewards that must be visible by now, from the ages of the arm's pulls."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from patientbandits.errors import InputError, number, positive, require
from patientbandits.policies.base import Arm, Policy
from patientbandits.policies.parts.age_sums import (
    AgeSums,
    add_pull,
    advance,
    bounded_sums,
    ring_time,
    weigh,
)
from patientbandits.policies.parts.kl_bounds import bernoulli_upper_from, exploration
from patientbandits.policies.parts.records import longer_kind
from patientbandits.problems.delays import Delay, Lomax, Pareto

VisibleShares = longer_kind("VisibleShares", AgeSums, "upper")
"""`AgeSums`, whose ``weight`` is n v, and

upper   arm: where the last search for the upper confidence bound ended, and the next one starts
"""


@dataclass(frozen=True)
class PatientKL(Policy):
    """max{q : n kl(S/n, q v) <= log t + c log log t},  v = (1/n) sum of (1 - envelope(age))

    The sum is over the arm's pulls. If P(D > m) <= envelope(m), the rewards visible by now have
    mean at least mean * v per pull, so this is to PatientBandits what KL-UCB (Garivier & Cappe
    2011) is to UCB: an upper confidence bound under the same assumption, without a window or a
    lower bound on the delays; it shrinks while an arm rests. Not clipped at 1, so up to 1/v:
    clipping makes ties.

    alpha     the envelope is the paper's, (m v 1)^-alpha, or with a scale (1 + m/scale)^-alpha
    scale     in units of time; 1 for the paper's
    envelope  instead of both: any delay law, whose survival function is the envelope
    c         the theorem (docs/patient-kl.md: regret of the order of PatientBandits' Theorem 2)
              needs c >= 3; the default, 0, is the practical choice, as with KL-UCB

    The unit of time is any: rounds, or seconds with scale=86400. The envelope is replaced by an
    upper bound of it that is at most 0.1 % or 0.0003 larger (where it has steps far out: as young
    as a pull may be, in coarser units), so the bound stays one. Needs no horizon.
    """

    alpha: float | None = None
    scale: float = 1.0
    envelope: Delay | None = None
    c: float = 0.0

    class Numbers(NamedTuple):
        c: float

    def __post_init__(self) -> None:
        if self.envelope is None:
            positive(self.owner, "alpha", self.alpha)
            positive(self.owner, "scale", self.scale)
        elif not isinstance(self.envelope, Delay):
            raise InputError(
                f"{self.owner}: envelope must be a delay law; got envelope={self.envelope!r}."
            )
        else:
            require(
                self.alpha is None and self.scale == 1.0,
                self.owner,
                "either alpha and scale or an envelope",
                alpha=self.alpha,
                scale=self.scale,
            )
        c = number(self.owner, "c", self.c)
        require(0 <= c < math.inf, self.owner, "c must be a finite number >= 0", c=self.c)

    def law(self) -> Delay:
        """The envelope as a delay law."""
        if self.envelope is not None:
            return self.envelope
        assert self.alpha is not None
        if self.scale == 1.0:
            return Pareto(self.alpha)
        return Lomax(self.alpha, self.scale)

    def numbers(self, arms: int) -> Numbers:
        return self.Numbers(c=float(self.c))

    def memory(self, arms: int, capacity: int) -> Any:
        return VisibleShares(**bounded_sums(self.law(), arms), upper=np.zeros(arms))

    @staticmethod
    def pulled(self: Numbers, memory: Any, arm: Arm, time: float) -> None:
        add_pull(memory, arm.number, time)

    @staticmethod
    def refresh(self: Numbers, memory: Any, time: float) -> None:
        advance(memory, ring_time(memory, time))
        weigh(memory, 1.0)

    @staticmethod
    def index(self: Numbers, memory: Any, arm: Arm, round: int) -> float:
        i = arm.number
        level = exploration(self.c, round)
        mean = arm.rewards / arm.pulls
        memory.upper[i] = bernoulli_upper_from(mean, level / arm.pulls, memory.upper[i])
        if memory.weight[i] <= 0.0:
            return math.inf
        return memory.upper[i] * arm.pulls / memory.weight[i]
