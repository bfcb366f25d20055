"""What the model of late conversions says of each arm: where analysis meets the posterior."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from patientbandits.analysis.events import ArmHistory
from patientbandits.analysis.records import Span
from patientbandits.inference import LEVEL, FloatArray, normal_quantile
from patientbandits.inference.posterior import ArmPosterior, CureCounts, Estimate, posterior

Z95 = normal_quantile(LEVEL)


@dataclass(frozen=True)
class Belief:
    """The posterior of one arm's rate within the window."""

    rate: Span
    best: float
    expected_loss: float
    lift: Span | None
    """relative to the first arm, the control; None for itself"""
    to_come: Span
    matured: float
    lag_times: FloatArray
    lag_mean: FloatArray
    lag_low: FloatArray
    lag_high: FloatArray
    extrapolated: float
    """share of the rate that lies beyond the oldest age"""

    @property
    def spread(self) -> float:
        """Standard deviation of the rate."""
        return (self.rate.high - self.rate.low) / (2 * Z95)


def beliefs(arms: Sequence[ArmHistory], window: float | None, times: FloatArray) -> list[Belief]:
    """The posterior of each arm; ``times`` in seconds: where to give the lag curve."""
    found = posterior([counts_of(arm, window) for arm in arms], window=window, times=times)
    return [_belief(arm, control=place == 0) for place, arm in enumerate(found)]


def counts_of(arm: ArmHistory, window: float | None) -> CureCounts:
    """The arm's counts by age and by delay."""
    ages, delays = arm.within(window)
    converted = np.isfinite(delays)
    return CureCounts.of(
        ages[~converted],
        delays[converted],
        age_counts=arm.counts[~converted],
        delay_counts=arm.counts[converted],
        window=window,
    )


def _belief(arm: ArmPosterior, *, control: bool) -> Belief:
    return Belief(
        rate=_span(arm.rate),
        best=arm.best,
        expected_loss=arm.loss,
        lift=None if control else _span(arm.lift),
        to_come=_span(arm.to_come),
        matured=arm.matured.mean if math.isfinite(arm.matured.mean) else 0.0,
        lag_times=arm.lag.times,
        lag_mean=arm.lag.mean,
        lag_low=arm.lag.low,
        lag_high=arm.lag.high,
        extrapolated=arm.extrapolated,
    )


def _span(estimate: Estimate) -> Span:
    return Span(mean=estimate.mean, low=estimate.low, high=estimate.high)
