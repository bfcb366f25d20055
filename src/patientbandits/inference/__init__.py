"""Intervals, survival curves, the best arm, and the model of late conversions (`posterior`).

May import problems, `_util` and errors.
"""

from typing import TYPE_CHECKING

from patientbandits._util.exports import lazy_exports

if TYPE_CHECKING:
    from patientbandits.inference.anytime import anytime_window_interval as anytime_window_interval
    from patientbandits.inference.anytime_lift import anytime_ratio as anytime_ratio
    from patientbandits.inference.best_arm import best_normal as best_normal
    from patientbandits.inference.best_arm import expected_loss as expected_loss
    from patientbandits.inference.best_arm import expected_maximum as expected_maximum
    from patientbandits.inference.common_prior import RATE_SCALE as RATE_SCALE
    from patientbandits.inference.common_prior import REVENUE_SCALE as REVENUE_SCALE
    from patientbandits.inference.common_prior import TAUS as TAUS
    from patientbandits.inference.common_prior import ArmComparison as ArmComparison
    from patientbandits.inference.common_prior import compare_arms as compare_arms
    from patientbandits.inference.common_prior import compare_many as compare_many
    from patientbandits.inference.common_prior import draw_arms as draw_arms
    from patientbandits.inference.common_prior import log_estimate as log_estimate
    from patientbandits.inference.conversion_odds import OddsFit as OddsFit
    from patientbandits.inference.conversion_odds import Strata as Strata
    from patientbandits.inference.conversion_odds import fit_odds as fit_odds
    from patientbandits.inference.intervals import LEVEL as LEVEL
    from patientbandits.inference.intervals import FloatArray as FloatArray
    from patientbandits.inference.intervals import mean_interval as mean_interval
    from patientbandits.inference.intervals import normal_quantile as normal_quantile
    from patientbandits.inference.intervals import ratio_interval as ratio_interval
    from patientbandits.inference.intervals import student_interval as student_interval
    from patientbandits.inference.order_values import ValueSums as ValueSums
    from patientbandits.inference.order_values import value_cap as value_cap
    from patientbandits.inference.survival import StepCurve as StepCurve
    from patientbandits.inference.survival import step_curve as step_curve

__all__, __getattr__, __dir__ = lazy_exports(__name__)
