"""What the model of late conversions says of each arm: the one place where analysis meets the
posterior."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from patientbandits.analysis.normals import best_probability, expected_loss
from patientbandits.analysis.records import Span
from patientbandits.analysis.survival import kaplan_meier
from patientbandits.events.history import ArmHistory

Array = NDArray[np.float64]

QUANTILE = 1.959964
"""of the standard normal, for 95 %"""


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
    lag_times: Array
    lag_mean: Array
    lag_low: Array
    lag_high: Array
    extrapolated: float
    warning: str

    @property
    def spread(self) -> float:
        """Standard deviation of the rate."""
        return (self.rate.high - self.rate.low) / (2 * QUANTILE)


def beliefs(arms: Sequence[ArmHistory], window: float | None, times: Array) -> list[Belief]:
    """The posterior of each arm; ``times`` in seconds: where to give the lag curve."""
    curves = [kaplan_meier(*arm.within(window)) for arm in arms]
    rates, spreads = [], []
    for arm, curve in zip(arms, curves, strict=True):
        end = min(curve.largest, np.inf if window is None else window)
        mean = float(curve.at(end)) if arm.decisions else 0.0
        variance = float(curve.variance_at(end)) if arm.decisions else 0.0
        rates.append(mean)
        spreads.append(
            np.sqrt(
                max(
                    variance,
                    (mean * (1 - mean) + 0.25 / (arm.decisions + 1)) / (arm.decisions + 1) * 0.5,
                )
            )
        )
    means, deviations = np.array(rates), np.array(spreads)
    chances = best_probability(means, deviations)
    found = []
    for place, (arm, curve) in enumerate(zip(arms, curves, strict=True)):
        mean, spread = rates[place], float(deviations[place])
        ages, delays = arm.within(window)
        waiting = ages[~np.isfinite(delays)]
        by_age = np.nan_to_num(curve.at(np.minimum(waiting, curve.largest)))
        later = float(((mean - by_age) / np.maximum(1 - by_age, 1e-9)).clip(0, 1).sum())
        seen = int(np.isfinite(delays).sum())
        share = np.nan_to_num(curve.at(np.minimum(times, curve.largest))) / max(mean, 1e-12)
        band = (
            QUANTILE
            * np.sqrt(np.nan_to_num(curve.variance_at(np.minimum(times, curve.largest))))
            / max(mean, 1e-12)
        )
        others = np.delete(means, place)
        loss = float(expected_loss(means, deviations)) + float(means.max()) - mean
        lift = None
        if place > 0 and rates[0] > 0:
            ratio = mean / rates[0]
            wide = QUANTILE * np.hypot(spread / max(mean, 1e-12), deviations[0] / rates[0])
            lift = Span(ratio - 1, ratio * np.exp(-wide) - 1, ratio * np.exp(wide) - 1)
        found.append(
            Belief(
                rate=Span(
                    mean, max(mean - QUANTILE * spread, 0.0), min(mean + QUANTILE * spread, 1.0)
                ),
                best=float(chances[place]) if len(others) else 1.0,
                expected_loss=loss,
                lift=lift,
                to_come=Span(
                    later, max(later - 2 * np.sqrt(later), 0.0), later + 2 * np.sqrt(later)
                ),
                matured=seen / (seen + later) if seen + later > 0 else 0.0,
                lag_times=times,
                lag_mean=share,
                lag_low=np.clip(share - band, 0, 1),
                lag_high=np.clip(share + band, 0, 1),
                extrapolated=0.0,
                warning="",
            )
        )
    return found
