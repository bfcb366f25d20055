"""Bandits whose rewards come late: heavy-tailed, arm-dependent, partly hidden delays.

    import patientbandits as pb
    problem = pb.Problem(means=[0.6, 0.8], delays=[pb.Pareto(1.0), pb.Pareto(0.3)])
    result = pb.simulate(problem, pb.PatientBandits(alpha=0.5), horizon=3000, runs=400, seed=7)
"""

from typing import TYPE_CHECKING, Any

from patientbandits import problems, theory
from patientbandits._version import __version__
from patientbandits.bandit import Bandit, Pull
from patientbandits.delays import (
    Delay,
    Empirical,
    Fixed,
    Geometric,
    LogNormal,
    Lomax,
    Mixture,
    Never,
    NoDelay,
    Pareto,
    UniformDelay,
    Weibull,
)
from patientbandits.errors import InputError
from patientbandits.policies import (
    DKLUCB,
    DUCB,
    KLUCB,
    MOSS,
    UCB1,
    AdaptPatientBandits,
    Arm,
    PatientBandits,
    Policy,
    ScheduledPatientBandits,
    Thompson,
    Uniform,
)
from patientbandits.problem import Problem
from patientbandits.result import Difference, Result
from patientbandits.rewards import Bernoulli, Beta, Reward, Scaled, TwoPoint

if TYPE_CHECKING:
    from patientbandits.simulation import simulate
    from patientbandits.sweeps import Simulation, sweep

LAZY = {"simulate": "simulation", "sweep": "sweeps", "Simulation": "sweeps"}
"""What needs the compiler is imported when first used: the command line's help must not wait for it."""


def __getattr__(name: str) -> Any:
    if name in LAZY:
        from importlib import import_module

        return getattr(import_module(f"patientbandits.{LAZY[name]}"), name)
    raise AttributeError(f"module 'patientbandits' has no attribute {name!r}")


__all__ = [
    "DKLUCB", "DUCB", "KLUCB", "MOSS", "UCB1", "AdaptPatientBandits", "Arm", "Bandit", "Bernoulli", "Beta", "Delay", "Difference",
    "Empirical", "Fixed", "Geometric", "InputError", "LogNormal", "Lomax", "Mixture", "Never", "NoDelay", "Pareto",
    "PatientBandits", "Policy", "Problem", "Pull", "Result", "Reward", "Scaled", "ScheduledPatientBandits", "Simulation", "Thompson",
    "TwoPoint", "Uniform", "UniformDelay", "Weibull", "__version__", "problems", "simulate", "sweep", "theory",
]  # fmt: skip
