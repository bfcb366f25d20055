"""The two readings of the paper.

Preset "literal": the printed constants and ceil-Pareto delays. Preset "published": the index
S/n + sqrt(log T / (2n)) + n^-(alpha ^ 1/2) and delays ceil(10 * Lomax), which give the heights of
the published figures (found by fitting, not stated by the authors).
"""

from __future__ import annotations

from patientbandits.policies import PatientBandits, Policy
from patientbandits.problems import Problem
from patientbandits.research.paper.curve import Curve
from patientbandits.simulation.sweeps import Simulation

PRESET_TITLES = {"published": "published recipe", "literal": "as printed"}
PATIENT_COLORS = {0.1: "#5cb8e4", 0.3: "#1b6ca8", 0.5: "#1b4ba8", 0.6: "#d1495b"}
"""alpha given to PatientBandits -> its colour over the rounds"""


def patient(alpha: float, preset: str) -> PatientBandits:
    """PatientBandits with the constants of the preset."""
    if preset == "literal":
        return PatientBandits(alpha)
    return PatientBandits(alpha, width="published", bias="published")


def patient_name(alpha: float) -> str:
    """What the published figures call PatientBandits with this alpha."""
    return f"PatientBandits alpha={alpha}"


def over_rounds(
    problem: Problem,
    policies: dict[str, Policy],
    colors: dict[str, str],
    horizon: int,
    runs: int,
) -> list[Curve]:
    """Each policy's regret over the rounds, at a hundred of them."""
    curves = []
    for name, policy in policies.items():
        simulation = Simulation(problem, policy, horizon, runs, record=100)
        curves.append(Curve(name, [simulation], color=colors[name]))
    return curves
