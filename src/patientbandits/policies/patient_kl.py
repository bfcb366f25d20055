"""PatientKL: the share of rewards that must be visible by now, from the ages of the arm's own pulls."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits.delays import Delay, Lomax, Pareto
from patientbandits.errors import InputError, number, positive, require
from patientbandits.policies.base import Policy, named
from patientbandits.policies.divergence import bernoulli_upper_from
from patientbandits.policies.fading import advance, ages, weigh


class Seen(NamedTuple):
    """First axis: arm. The first seven as in `fading.ages`; ``weight`` is n v."""

    young: NDArray[np.float64]
    old: NDArray[np.float64]
    faded: NDArray[np.float64]
    fade: NDArray[np.float64]
    tau: NDArray[np.float64]
    weight: NDArray[np.float64]
    now: NDArray[np.int64]
    upper: NDArray[np.float64]
    """where the last search for the upper confidence bound ended: where the next one starts"""


def exploration(c: float, round_: int) -> float:
    """log t + c log log t; without the second term where it is not positive."""
    level = math.log(round_)
    return level + c * math.log(level) if c > 0.0 and level > 1.0 else level


@dataclass(frozen=True)
class PatientKL(Policy):
    """max{q : n kl(S/n, q v) <= log t + c log log t},  v = (1/n) sum over the arm's pulls of (1 - envelope(age))

    If P(D > m) <= envelope(m), the rewards visible by now have mean at least mean * v per pull, so this is to PatientBandits
    what KL-UCB (Garivier & Cappe 2011) is to UCB: an upper confidence bound under the same assumption, without a window or a
    lower bound on the delays; it shrinks while an arm rests. Not clipped at 1, so up to 1/v: clipping makes ties.

    alpha     the envelope is the paper's, (m v 1)^-alpha, or with a scale (1 + m/scale)^-alpha
    scale     in units of time; 1 for the paper's
    envelope  instead of both: any delay law, whose survival function is the envelope
    c         the theorem (docs/patient-kl.md: regret of the order of PatientBandits' Theorem 2) needs c >= 3; the default, 0, is the
              practical choice, as with KL-UCB

    The unit of time is any: rounds, or seconds with scale=86400. The envelope is replaced by an upper bound of it that is at most 0.1 % or
    0.0003 larger (where it has steps far out: as young as a pull may be, in coarser units), so the bound stays one. Needs no horizon.
    """

    alpha: float | None = None
    scale: float = 1.0
    envelope: Delay | None = None
    c: float = 0.0

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
        require(
            0 <= number(self.owner, "c", self.c) < math.inf,
            self.owner,
            "c must be a finite number >= 0",
            c=self.c,
        )

    def law(self) -> Delay:
        """The envelope as a delay law."""
        if self.envelope is not None:
            return self.envelope
        assert self.alpha is not None
        return Pareto(self.alpha) if self.scale == 1.0 else Lomax(self.alpha, self.scale)

    def numbers(self, arms: int) -> Any:
        return named(c=self.c)

    def memory(self, arms: int, capacity: int) -> Seen:
        return Seen(**ages(self.law(), arms, None, capacity, upper=True), upper=np.zeros(arms))

    def pulled(self, memory, arm, time):
        memory.young[arm.number, math.floor(time / memory.now[2]) % memory.now[1]] += 1.0

    def refresh(self, memory, time):
        advance(memory, math.floor(time / memory.now[2]))
        weigh(memory, 1.0)

    def index(self, memory, arm, round):
        i, level = arm.number, exploration(self.c, round)
        memory.upper[i] = bernoulli_upper_from(
            arm.rewards / arm.pulls, level / arm.pulls, memory.upper[i]
        )
        if memory.weight[i] <= 0.0:
            return math.inf
        return memory.upper[i] * arm.pulls / memory.weight[i]
