"""What the paper claims in words and theorems, as simulations: the printed constants, longer horizons, the worst gap."""

from __future__ import annotations

import numpy as np

from patientbandits import problems
from patientbandits.delays import NoDelay, Pareto
from patientbandits.paper.experiments import Curve
from patientbandits.policies import KLUCB, UCB1, PatientBandits, Policy
from patientbandits.problem import Problem
from patientbandits.sweeps import Simulation

LONG_HORIZONS = (3_000, 30_000, 300_000, 3_000_000)
LONG_TAILS = (0.2, 0.3, 0.5, 0.8)
WORST_HORIZONS = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000)
WORST_ALPHAS = (0.2, 0.3, 0.4, 0.5, 0.8)
WORST_GAPS = tuple(float(gap) for gap in np.geomspace(0.02, 0.6, 9).round(4))


def classical() -> list[Curve]:
    """Policies that take zeros at face value, on the heterogeneous problems, over three decades of rounds."""
    rounds = np.unique(np.geomspace(100, 300_000, 60).astype(int)).tolist()
    policies: dict[str, Policy] = {"UCB1": UCB1(), "KL-UCB": KLUCB()}
    curves = []
    for preset in problems.PRESETS:
        for label, policy in policies.items():
            horizon = 300_000 if label == "UCB1" else 100_000
            chosen = [t for t in rounds if t <= horizon]
            curves.append(
                Curve(
                    f"{label}, {preset} delays",
                    [
                        Simulation(
                            problems.heterogeneous(preset), policy, horizon, 40, record=chosen
                        )
                    ],
                )
            )
    return curves


def log_growth() -> list[Curve]:
    """Regret at growing horizons with a wide gap, for several tails of the better arm (Theorem 2)."""
    return [
        Curve(
            f"tail {tail}",
            [
                Simulation(
                    Problem([0.2, 0.8], [Pareto(1.0), Pareto(tail)]),
                    PatientBandits(tail),
                    horizon,
                    16 if horizon < 10**6 else 8,
                    record=1,
                )
                for horizon in LONG_HORIZONS
            ],
            [float(horizon) for horizon in LONG_HORIZONS],
        )
        for tail in LONG_TAILS
    ]


def worst_case() -> list[Curve]:
    """For each alpha and horizon, regret over a range of gaps, the better arm slow (Theorems 3 and 4)."""
    return [
        Curve(
            f"alpha {alpha} T {horizon}",
            [
                Simulation(
                    Problem([0.35, 0.35 + gap], [NoDelay(), Pareto(alpha)]),
                    PatientBandits(alpha),
                    horizon,
                    runs=8 if horizon > 100_000 else 16,
                    record=1,
                )
                for gap in WORST_GAPS
            ],
            list(WORST_GAPS),
        )
        for alpha in WORST_ALPHAS
        for horizon in WORST_HORIZONS
    ]


STUDIES = {"classical": classical, "log_growth": log_growth, "worst_case": worst_case}
