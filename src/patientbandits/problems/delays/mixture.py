"""A mixture of laws: several kinds of customers behind one arm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from patientbandits._util.arithmetic import plain_sum
from patientbandits.errors import InputError, items, number, require
from patientbandits.problems.delays.base import Delay, Part


@dataclass(frozen=True)
class Mixture(Delay):
    """With probability weights[j] the delay follows laws[j]: S(m) = sum_j weights[j] S_j(m)."""

    laws: Sequence[Delay]
    weights: Sequence[float]

    def __post_init__(self) -> None:
        laws = items(self.owner, "laws", self.laws)
        weights = tuple(
            number(self.owner, "every weight", w)
            for w in items(self.owner, "weights", self.weights)
        )
        require(
            len(laws) > 0 and len(laws) == len(weights),
            self.owner,
            "one weight for each law is needed",
            laws=len(laws),
            weights=len(weights),
        )
        for law in laws:
            if not isinstance(law, Delay):
                raise InputError(f"{self.owner}: every law must be a delay law; got {law!r}.")
        require(
            all(w >= 0 for w in weights) and abs(plain_sum(weights) - 1) < 1e-9,
            self.owner,
            "weights must be >= 0 and sum to 1",
            weights=self.weights,
        )
        object.__setattr__(self, "laws", laws)
        object.__setattr__(self, "weights", tuple(w / plain_sum(weights) for w in weights))

    def parts(self) -> tuple[Part, ...] | None:
        inner = [law.parts() for law in self.laws]
        if any(parts is None for parts in inner):
            return None
        return tuple(
            part._replace(weight=weight * part.weight)
            for weight, parts in zip(self.weights, inner, strict=True)
            for part in parts or ()
        )

    def survival_at(self, m: int) -> float:
        return plain_sum(
            weight * law.survival_at(m) for weight, law in zip(self.weights, self.laws, strict=True)
        )

    def describe(self) -> dict[str, Any]:
        return {
            "law": self.owner,
            "laws": [law.describe() for law in self.laws],
            "weights": list(self.weights),
        }
