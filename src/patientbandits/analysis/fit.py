"""Whether the model fits: its curve beside the Kaplan-Meier estimate, in standard errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from patientbandits._util.durations import spoken
from patientbandits.analysis.belief import Belief
from patientbandits.analysis.survival import StepCurve

MANY_ERRORS = 4.0
LARGE_SHARE = 0.05
"""A warning needs both: many standard errors, and a difference of this share of the rate."""
FEWEST = 20
"""conversions by that age, for the standard error to mean anything"""


@dataclass(frozen=True)
class Misfit:
    """Where the two are farthest apart."""

    age: float
    model: float
    """converted by that age"""
    data: float
    errors: float
    """their distance in standard errors"""
    share: float
    """their distance relative to the rate"""


def misfit_of(belief: Belief, curve: StepCurve) -> Misfit:
    """Over all ages of the lag curve that the data reach."""
    counts = np.arange(1, len(curve.times) + 1)
    times = belief.lag_times
    enough = (
        np.interp(times, curve.times, counts, left=0.0) >= FEWEST
        if len(counts)
        else np.zeros(len(times), bool)
    )
    usable = enough & (times <= curve.largest)
    if not usable.any() or belief.rate.mean <= 0:
        return Misfit(age=0.0, model=0.0, data=0.0, errors=0.0, share=0.0)
    model = belief.rate.mean * belief.lag_mean[usable]
    data = curve.at(times[usable])
    errors = np.abs(model - data) / np.sqrt(np.maximum(curve.variance_at(times[usable]), 1e-18))
    worst = int(errors.argmax())
    return Misfit(
        age=float(times[usable][worst]),
        model=float(model[worst]),
        data=float(data[worst]),
        errors=float(errors[worst]),
        share=float(abs(model[worst] - data[worst]) / belief.rate.mean),
    )


def misfit_words(arm: str, gap: Misfit) -> str:
    """A plain warning with its numbers, or nothing."""
    if gap.errors < MANY_ERRORS or gap.share < LARGE_SHARE:
        return ""
    return (
        f"The model does not fit {arm} well: after {spoken(gap.age)} it says {gap.model:.2%} have "
        f"converted, the data say {gap.data:.2%} ({gap.errors:.1f} standard errors apart)."
    )
