"""Bandits whose rewards come late: heavy-tailed, arm-dependent, partly hidden delays.

    import patientbandits as pb
    problem = pb.Problem(means=[0.6, 0.8], delays=[pb.Pareto(1.0), pb.Pareto(0.3)])
    result = pb.simulate(problem, pb.PatientBandits(alpha=0.5), horizon=3000, runs=400, seed=7)

Every name is imported when it is first used, from the module that is listed here.
"""

from typing import TYPE_CHECKING

from patientbandits._util.exports import lazy_exports
from patientbandits._util.moved import keep_old_names
from patientbandits._version import __version__ as __version__

if TYPE_CHECKING:
    from patientbandits import problems as problems
    from patientbandits import theory as theory
    from patientbandits.analysis import Analysis as Analysis
    from patientbandits.analysis import analyse as analyse
    from patientbandits.analysis.events import Events as Events
    from patientbandits.analysis.events import read_events as read_events
    from patientbandits.analysis.rehearsal import Rehearsal as Rehearsal
    from patientbandits.analysis.rehearsal import rehearse as rehearse
    from patientbandits.errors import InputError as InputError
    from patientbandits.inference.posterior import ArmPosterior as ArmPosterior
    from patientbandits.inference.posterior import CureCounts as CureCounts
    from patientbandits.inference.posterior import posterior as posterior
    from patientbandits.integrations.obp import bandit_feedback as bandit_feedback
    from patientbandits.policies import DKLUCB as DKLUCB
    from patientbandits.policies import DTS as DTS
    from patientbandits.policies import DUCB as DUCB
    from patientbandits.policies import KLUCB as KLUCB
    from patientbandits.policies import MOSS as MOSS
    from patientbandits.policies import QPMD as QPMD
    from patientbandits.policies import UCB1 as UCB1
    from patientbandits.policies import AdaptPatientBandits as AdaptPatientBandits
    from patientbandits.policies import Arm as Arm
    from patientbandits.policies import ArrivedThompson as ArrivedThompson
    from patientbandits.policies import BootstrappedThompson as BootstrappedThompson
    from patientbandits.policies import CalendarThompson as CalendarThompson
    from patientbandits.policies import DelayedEXP3 as DelayedEXP3
    from patientbandits.policies import DelayedUCB1 as DelayedUCB1
    from patientbandits.policies import DTSBayes as DTSBayes
    from patientbandits.policies import FloorMixture as FloorMixture
    from patientbandits.policies import GuardedThompson as GuardedThompson
    from patientbandits.policies import OptimisticElimination as OptimisticElimination
    from patientbandits.policies import OracleThompson as OracleThompson
    from patientbandits.policies import OTFLinTS as OTFLinTS
    from patientbandits.policies import OTFLinUCB as OTFLinUCB
    from patientbandits.policies import PatientBandits as PatientBandits
    from patientbandits.policies import PatientKL as PatientKL
    from patientbandits.policies import PatientThompson as PatientThompson
    from patientbandits.policies import PhasedElimination as PhasedElimination
    from patientbandits.policies import Policy as Policy
    from patientbandits.policies import ScheduledPatientBandits as ScheduledPatientBandits
    from patientbandits.policies import SignalThompson as SignalThompson
    from patientbandits.policies import SuccessiveElimination as SuccessiveElimination
    from patientbandits.policies import Thompson as Thompson
    from patientbandits.policies import TopTwoThompson as TopTwoThompson
    from patientbandits.policies import Uniform as Uniform
    from patientbandits.policies import WindowThompson as WindowThompson
    from patientbandits.problems import Bernoulli as Bernoulli
    from patientbandits.problems import Beta as Beta
    from patientbandits.problems import Calendar as Calendar
    from patientbandits.problems import Factor as Factor
    from patientbandits.problems import Problem as Problem
    from patientbandits.problems import Reward as Reward
    from patientbandits.problems import Scaled as Scaled
    from patientbandits.problems import Shift as Shift
    from patientbandits.problems import Signal as Signal
    from patientbandits.problems import TwoPoint as TwoPoint
    from patientbandits.problems.delays import Delay as Delay
    from patientbandits.problems.delays import Empirical as Empirical
    from patientbandits.problems.delays import Fixed as Fixed
    from patientbandits.problems.delays import Geometric as Geometric
    from patientbandits.problems.delays import LogLogistic as LogLogistic
    from patientbandits.problems.delays import LogNormal as LogNormal
    from patientbandits.problems.delays import Lomax as Lomax
    from patientbandits.problems.delays import Mixture as Mixture
    from patientbandits.problems.delays import Never as Never
    from patientbandits.problems.delays import NoDelay as NoDelay
    from patientbandits.problems.delays import Pareto as Pareto
    from patientbandits.problems.delays import UniformDelay as UniformDelay
    from patientbandits.problems.delays import Weibull as Weibull
    from patientbandits.problems.delays import Within as Within
    from patientbandits.simulation import Bandit as Bandit
    from patientbandits.simulation import Difference as Difference
    from patientbandits.simulation import Pull as Pull
    from patientbandits.simulation import Result as Result
    from patientbandits.simulation import Simulation as Simulation
    from patientbandits.simulation import pulls_over_time as pulls_over_time
    from patientbandits.simulation import simulate as simulate
    from patientbandits.simulation import sweep as sweep

keep_old_names()
__all__, __getattr__, __dir__ = lazy_exports(
    __name__, "__version__", renamed={"ToldThompson": "OracleThompson"}
)
