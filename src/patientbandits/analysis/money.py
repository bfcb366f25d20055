"""Revenue per decision: the rate times what a converted decision is worth."""

from __future__ import annotations

import numpy as np

from patientbandits.analysis.belief import Z95, Belief
from patientbandits.analysis.records import Span
from patientbandits.events.history import ArmHistory


def revenue_of(
    arm: ArmHistory, belief: Belief, window: float | None
) -> tuple[float | None, Span | None]:
    """Mean value of a converted decision, all its orders within the window so far added up, and
    revenue per decision with its interval.

    The two factors' relative variances add: (sd/mean)^2 of the rate and of the mean value; the
    interval is that of a log-normal with this spread.
    """
    paid = arm.paid_by_decision(window)
    if len(paid) < 2 or not paid.mean() > 0 or not belief.rate.mean > 0:
        return None, None
    value = float(paid.mean())
    relative = paid.std(ddof=1) / np.sqrt(len(paid)) / value
    wide = Z95 * float(np.hypot(relative, belief.spread / belief.rate.mean))
    mean = belief.rate.mean * value
    return value, Span(mean=mean, low=mean * np.exp(-wide), high=mean * np.exp(wide))
