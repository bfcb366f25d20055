"""Delay laws: how long a reward takes to arrive. See `patientbandits.delays.base` for the definitions."""

from patientbandits.delays.base import Delay
from patientbandits.delays.empirical import Empirical
from patientbandits.delays.light import Geometric, LogNormal, Weibull
from patientbandits.delays.mixture import Mixture
from patientbandits.delays.pareto import Lomax, Pareto
from patientbandits.delays.simple import Fixed, Never, NoDelay, UniformDelay

LAWS: dict[str, type[Delay]] = {
    law.__name__: law
    for law in (
        NoDelay,
        Fixed,
        Pareto,
        Lomax,
        Geometric,
        Weibull,
        LogNormal,
        UniformDelay,
        Empirical,
        Never,
        Mixture,
    )
}

__all__ = [
    "LAWS",
    "Delay",
    "Empirical",
    "Fixed",
    "Geometric",
    "LogNormal",
    "Lomax",
    "Mixture",
    "Never",
    "NoDelay",
    "Pareto",
    "UniformDelay",
    "Weibull",
]
