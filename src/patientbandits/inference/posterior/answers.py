"""What the posterior tells of an arm."""

from __future__ import annotations

from dataclasses import dataclass

from patientbandits.inference.posterior.counts import Array
from patientbandits.inference.posterior.kaplan_meier import KaplanMeier


@dataclass(frozen=True)
class Estimate:
    """Posterior mean and equal-tailed credible interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class LagCurve:
    """P(delay <= time | it converts), with its credible band."""

    times: Array
    mean: Array
    low: Array
    high: Array


@dataclass(frozen=True)
class ArmPosterior:
    """What is known of an arm. With a window only conversions within it count, everywhere."""

    pulls: float
    conversions: float
    rate: Estimate
    """share of pulls that convert within the window; without one, in the end"""
    value: Estimate
    """mean reward of a pull: rate times the mean of what conversions paid,
    taken as known (1 before the first)
    """
    best: float
    """probability that no arm has a larger value; sums to 1 over arms"""
    loss: float
    """expected loss per pull, in value, of choosing this arm for good"""
    lift: Estimate
    """value relative to the first arm's, less 1;
    its mean is the median. 0 for the first arm itself
    """
    to_come: Estimate
    """rewards that the pulls made so far will still pay, with a predictive interval"""
    matured: Estimate
    """share of the eventual conversions of these pulls that are visible already;
    NaN without pulls
    """
    lag: LagCurve
    largest_age: float
    """end of the oldest bin in use: nothing has been seen of later rewards"""
    rate_within: Estimate
    """share of pulls that convert within the largest age: what data alone can tell"""
    extrapolated: float
    """posterior mean share of conversions that come later than the largest age"""
    misfit: float
    """by how much more than chance the counts depart from every law, that of delays which are
    always the same included: 0 if not noticeably
    """
    kaplan_meier: KaplanMeier
    """the share converted by age, without any model"""
    warnings: tuple[str, ...]
    """what to tell whoever reads the rate"""

    @property
    def warning(self) -> str:
        """All warnings, in one text."""
        return " ".join(self.warnings)
