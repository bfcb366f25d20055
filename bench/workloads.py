"""What is simulated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import patientbandits as pb

ALPHA = 0.3
"""PatientBandits' parameter: the heaviest tail of all workloads."""

SEED = 7
W1_TAILS = (1.0, 0.3)


@dataclass(frozen=True)
class Workload:
    """PatientBandits on Bernoulli arms with Pareto delays."""

    name: str
    means: tuple[float, ...]
    tails: tuple[float, ...]
    horizon: int
    runs: int

    @property
    def rounds(self) -> int:
        return self.horizon * self.runs

    @property
    def problem(self) -> pb.Problem:
        return pb.Problem(self.means, [pb.Pareto(tail) for tail in self.tails])

    @property
    def label(self) -> str:
        runs = f"{self.runs} run{'s' * (self.runs > 1)}"
        return f"{self.name} (K={len(self.means)}, T={self.horizon:,}, {runs})"

    def simulate(self, policy: pb.Policy | None = None) -> pb.Result:
        """Our contender: the public function, on one thread."""
        return pb.simulate(
            self.problem,
            policy or pb.PatientBandits(ALPHA),
            horizon=self.horizon,
            runs=self.runs,
            seed=SEED,
            workers=1,
        )


def two_arms(
    horizon: int, runs: int, name: str = "", tails: tuple[float, float] = W1_TAILS
) -> Workload:
    """The paper's two arms: the better one's rewards come much later."""
    return Workload(name, means=(0.6, 0.8), tails=tails, horizon=horizon, runs=runs)


def many_arms(arms: int, horizon: int, runs: int, name: str = "") -> Workload:
    """Means from 0.2 to 0.8, tails 1 and 0.3 in turn."""
    means = tuple(np.linspace(0.2, 0.8, arms).tolist())
    tails = W1_TAILS * (arms // 2)
    return Workload(name, means=means, tails=tails, horizon=horizon, runs=runs)
