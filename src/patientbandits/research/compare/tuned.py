"""Rivals at their best: where a paper leaves a constant to choose, chosen on other problems.

`python -m bench.tune` chooses: the value with the least geometric mean of regrets on 25 random
problems of a seed of their own, and on their mirrors. No problem of the suite is among them, but
they come from its generator: such a policy knows what kind of problems to expect.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from patientbandits.policies import (
    DTS,
    UCB1,
    FloorMixture,
    OTFLinTS,
    OTFLinUCB,
    Policy,
    Thompson,
    TopTwoThompson,
    WindowThompson,
)
from patientbandits.problems import Problem
from patientbandits.research.compare.contenders import Contender


@dataclass(frozen=True)
class Tunable:
    """A policy with a constant to choose."""

    policy: str
    constant: str
    make: Callable[[Any, Problem], Policy]
    values: tuple[float, ...]
    chosen: float
    windowed: bool = False

    def contender(self, value: float | None = None) -> Contender:
        """The policy with this constant; by default the chosen one."""
        constant = self.chosen if value is None else value
        return Contender(
            name=f"{self.policy}-tuned",
            make=lambda problem: self.make(constant, problem),
            told="tuned",
            note=f"{self.constant} {constant:g}, chosen on other random problems",
            windowed=self.windowed,
        )


TUNABLE = (
    Tunable(
        policy="UCB1",
        constant="exploration",
        make=lambda value, problem: UCB1(value),
        values=(0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0),
        chosen=0.05,
    ),
    Tunable(
        policy="DTS",
        constant="batch and warm-up",
        make=lambda value, problem: DTS(int(value), int(value)),
        values=(20, 50, 100, 200, 500),
        chosen=100,
    ),
    Tunable(
        policy="WindowThompson",
        constant="window",
        make=lambda value, problem: WindowThompson(problem.window or value),
        values=(10, 30, 100, 300, 1000),
        chosen=300,
        windowed=True,
    ),
    Tunable(
        policy="OTFLinTS",
        constant="window",
        make=lambda value, problem: OTFLinTS(int(value)),
        values=(1, 3, 10, 30, 100, 300, 1000),
        chosen=300,
    ),
    Tunable(
        policy="OTFLinUCB",
        constant="window",
        make=lambda value, problem: OTFLinUCB(int(value)),
        values=(1, 3, 10, 30, 100, 300, 1000),
        chosen=300,
    ),
    Tunable(
        policy="TopTwoThompson",
        constant="leader",
        make=lambda value, problem: TopTwoThompson(value),
        values=(0.5, 0.8, 0.9, 0.95, 0.99),
        chosen=0.99,
    ),
    Tunable(
        policy="FloorMixture",
        constant="floor",
        make=lambda value, problem: FloorMixture(Thompson(), value),
        values=(0.003, 0.01, 0.03, 0.1),
        chosen=0.003,
    ),
)
"""Values in order. With leader 1, or floor 0, the last two would be Thompson."""


def tuned_contenders() -> tuple[Contender, ...]:
    return tuple(tunable.contender() for tunable in TUNABLE)
