"""What contenders may be told beforehand: true bounds and laws, taken from the problem itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from patientbandits.problems import Problem
from patientbandits.problems.delays import Delay, Mixture

LEAST_ALPHA = 0.05
"""Told where Assumption 1 holds with no alpha."""


@dataclass(frozen=True)
class Slowest(Delay):
    """S(m) = max over the laws of S_j(m): the tightest bound that holds for every arm."""

    laws: Sequence[Delay]

    def survival_at(self, m: int) -> float:
        return max(law.survival_at(m) for law in self.laws)

    def describe(self) -> dict[str, Any]:
        return {"law": self.owner, "laws": [law.describe() for law in self.laws]}


def valid_alpha(problem: Problem, most: float) -> float:
    """The largest alpha up to ``most`` with which Assumption 1 holds; at least `LEAST_ALPHA`."""
    return min(most, max(problem.max_alpha(), LEAST_ALPHA))


def pooled(problem: Problem) -> Delay:
    """The law of the delays of all arms together.

    What a policy that knows one law for all arms can best be told.
    """
    laws = _different_laws(problem)
    if len(laws) == 1:
        return laws[0]
    counted = problem.laws_in_time()
    return Mixture(laws, [counted.count(law) / problem.arms for law in laws])


def slowest(problem: Problem) -> Delay:
    """The tightest bound on the delays of all arms."""
    laws = _different_laws(problem)
    if len(laws) == 1:
        return laws[0]
    return Slowest(laws)


def _different_laws(problem: Problem) -> tuple[Delay, ...]:
    return tuple(dict.fromkeys(problem.laws_in_time()))
