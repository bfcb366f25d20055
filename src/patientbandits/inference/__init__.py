"""Intervals, survival curves, the best arm, and the model of late conversions (`posterior`).

May import problems, `_util` and errors.
"""

from typing import TYPE_CHECKING

from patientbandits._util.exports import lazy_exports

if TYPE_CHECKING:
    from patientbandits.inference.anytime import anytime_window_interval as anytime_window_interval
    from patientbandits.inference.best_arm import best_normal as best_normal
    from patientbandits.inference.best_arm import expected_loss as expected_loss
    from patientbandits.inference.best_arm import expected_maximum as expected_maximum
    from patientbandits.inference.intervals import LEVEL as LEVEL
    from patientbandits.inference.intervals import FloatArray as FloatArray
    from patientbandits.inference.intervals import mean_interval as mean_interval
    from patientbandits.inference.intervals import normal_quantile as normal_quantile
    from patientbandits.inference.intervals import ratio_interval as ratio_interval
    from patientbandits.inference.intervals import student_interval as student_interval
    from patientbandits.inference.survival import StepCurve as StepCurve
    from patientbandits.inference.survival import step_curve as step_curve

__all__, __getattr__, __dir__ = lazy_exports(__name__)
