"""Delay laws: how long a reward takes to arrive.

Definitions, and how to write one: `patientbandits.problems.delays.base`. To add one to the package,
write its file and add its line here, in the order in which laws are listed.
"""
# ruff: noqa: I001

from patientbandits.problems.delays.base import Delay as Delay
from patientbandits.problems.delays.fixed import NoDelay as NoDelay
from patientbandits.problems.delays.fixed import Fixed as Fixed
from patientbandits.problems.delays.pareto import Pareto as Pareto
from patientbandits.problems.delays.pareto import Lomax as Lomax
from patientbandits.problems.delays.waiting_times import Geometric as Geometric
from patientbandits.problems.delays.waiting_times import Weibull as Weibull
from patientbandits.problems.delays.waiting_times import LogNormal as LogNormal
from patientbandits.problems.delays.waiting_times import LogLogistic as LogLogistic
from patientbandits.problems.delays.fixed import UniformDelay as UniformDelay
from patientbandits.problems.delays.empirical import Empirical as Empirical
from patientbandits.problems.delays.fixed import Never as Never
from patientbandits.problems.delays.mixture import Mixture as Mixture
from patientbandits.problems.delays.within import Within as Within

LAWS: dict[str, type[Delay]] = {
    name: kind
    for name, kind in globals().items()
    if isinstance(kind, type) and issubclass(kind, Delay) and kind is not Delay
}
"""The laws by name, as files and study files name them."""

__all__ = ["LAWS", "Delay", *LAWS]
