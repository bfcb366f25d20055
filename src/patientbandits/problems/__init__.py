"""Problems: arms with rewards and delays, how they change, and the problems played here by name."""

from typing import TYPE_CHECKING

from patientbandits._util.exports import lazy_exports

if TYPE_CHECKING:
    from patientbandits.problems.calendar import Calendar as Calendar
    from patientbandits.problems.calendar import Factor as Factor
    from patientbandits.problems.catalogue import PRESETS as PRESETS
    from patientbandits.problems.catalogue import PROBLEMS as PROBLEMS
    from patientbandits.problems.catalogue import PUBLISHED_SCALE as PUBLISHED_SCALE
    from patientbandits.problems.catalogue import ThinnedPareto as ThinnedPareto
    from patientbandits.problems.catalogue import adaptive as adaptive
    from patientbandits.problems.catalogue import alpha_sweep as alpha_sweep
    from patientbandits.problems.catalogue import gap_sweep as gap_sweep
    from patientbandits.problems.catalogue import heterogeneous as heterogeneous
    from patientbandits.problems.catalogue import hidden_pair as hidden_pair
    from patientbandits.problems.catalogue import homogeneous as homogeneous
    from patientbandits.problems.catalogue import indistinguishable_pair as indistinguishable_pair
    from patientbandits.problems.catalogue import paper_delay as paper_delay
    from patientbandits.problems.drift import Shift as Shift
    from patientbandits.problems.drift import gradual as gradual
    from patientbandits.problems.envelopes import mean_power as mean_power
    from patientbandits.problems.problem import Problem as Problem
    from patientbandits.problems.random_problems import RANDOM_HORIZON as RANDOM_HORIZON
    from patientbandits.problems.random_problems import mirrored as mirrored
    from patientbandits.problems.random_problems import random_problem as random_problem
    from patientbandits.problems.rewards import FEEDBACK as FEEDBACK
    from patientbandits.problems.rewards import REWARDS as REWARDS
    from patientbandits.problems.rewards import Bernoulli as Bernoulli
    from patientbandits.problems.rewards import Beta as Beta
    from patientbandits.problems.rewards import Reward as Reward
    from patientbandits.problems.rewards import Scaled as Scaled
    from patientbandits.problems.rewards import TwoPoint as TwoPoint
    from patientbandits.problems.signals import Signal as Signal

__all__, __getattr__, __dir__ = lazy_exports(__name__)
