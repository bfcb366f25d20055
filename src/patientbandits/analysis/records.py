"""Findings of an analysis, as records."""

from __future__ import annotations

from dataclasses import dataclass

from patientbandits.inference import FloatArray
from patientbandits.inference.posterior import Estimate, LagCurve


@dataclass(frozen=True)
class ArmStanding:
    """An arm beside the others."""

    best: float | None
    """probability that no arm is better; None: the arm is too new to be compared"""
    loss: float | None
    """expected loss of choosing it for good, relative to its own value"""
    lift: Estimate | None
    """relative to the control, less 1; None for the control"""
    log: float
    """of its value, up to a constant that all arms have in common"""
    error: float
    """standard error of ``log``"""


@dataclass(frozen=True)
class Comparison:
    """The arms compared, by rate or by revenue."""

    basis: str
    """mature: decisions as old as the window; or so far: all, with the model of delays"""
    by: str
    arms: tuple[ArmStanding, ...]
    spread: float
    """by how much the logs of the arms differ, as the common prior has learned"""


@dataclass(frozen=True)
class Revenue(Estimate):
    """Revenue per decision within the window, with its interval."""

    order_value: float = 0.0
    """mean of what a converted decision paid, capped"""
    best: float | None = None
    """probability that no arm has a larger one; None: the arm is too new to be compared"""
    expected_loss: float | None = None
    """what choosing this arm for good costs per decision"""
    best_so_far: float | None = None
    """the same probability from all decisions, with the model of delays"""
    lift: Estimate | None = None
    """relative to the control's, less 1; None for the control"""


@dataclass(frozen=True)
class Lag(LagCurve):
    """P(delay <= time | it converts within the window), with its band, and the Kaplan-Meier
    estimate. Times are in seconds."""

    kaplan_meier: FloatArray
    """converted by each time, divided by the model's rate; NaN beyond the largest age"""


@dataclass(frozen=True)
class ArmFinding:
    """One arm. Rates are shares of decisions that convert within the window."""

    arm: str
    decisions: int
    conversions: int
    """so far, within the window"""
    raw: float
    """conversions / decisions: too low while conversions are under way"""
    rate: float
    """corrected for what is to come, and standardised to all visitors of the calendar"""
    low: float
    high: float
    own_rate: float
    """corrected only: the mean over the visitors to whom this arm was shown"""
    matured: float
    """share of the conversions of these decisions that is visible already"""
    to_come: float
    to_come_low: float
    to_come_high: float
    best: float | None
    """probability that no arm has a larger rate; None: the arm is too new to be compared"""
    expected_loss: float | None
    """what choosing this arm for good costs per decision, in conversions"""
    best_so_far: float | None
    """the same probability from all decisions, with the model of delays"""
    lift: float | None
    """rate relative to the control's, less 1; None for the control"""
    lift_low: float | None
    lift_high: float | None
    matured_decisions: int
    """as old as the window"""
    matured_conversions: int
    matured_only: Estimate | None
    """the rate of those alone; None without any"""
    anytime_low: float
    anytime_high: float
    """the interval of the average over this arm's own visitors holds however often one looks"""
    anytime_lift: tuple[float, float] | None
    """of the lift over the control, at every look and in any season; None for the control"""
    revenue: Revenue | None
    """None if orders have no values"""
    order_value: float | None
    """mean sum of a converted decision's orders"""
    oldest: float
    """seconds"""
    extrapolated: float
    """share of the rate that lies beyond the oldest age"""
    misfit: float
    """largest distance of model and data, in standard errors"""
    warning: str


@dataclass(frozen=True)
class WindowArm:
    """An arm under one window."""

    arm: str
    rate: float
    """share of decisions that convert within the window; by revenue, what a decision pays in it"""
    caught: float
    """share of the conversions, or revenue, within the longest window that come within this one"""


@dataclass(frozen=True)
class WindowFinding:
    """The conclusion that this window would have led to."""

    window: float
    """seconds"""
    arms: tuple[WindowArm, ...]
    leader: str
    probability: float
    """that the leader has the largest rate within this window"""
    sure: bool
    """enough to speak of a leader"""
    flipped: bool
    """the next shorter window that was sure had another leader"""


@dataclass(frozen=True)
class CohortFinding:
    """The decisions of an arm of one day or week."""

    arm: str
    day: int
    """the first, in days since 1970"""
    decisions: int
    conversions: int
    expected: float
    """conversions when all have come"""


@dataclass(frozen=True)
class Future:
    """The expected loss if one stops later, simulated from the posterior at the current traffic."""

    days: FloatArray
    median: FloatArray
    low: FloatArray
    """10 % of the futures are below"""
    high: FloatArray
    """90 % are below"""
    stopped: FloatArray
    """share of the futures in which the loss has been below the threshold by then"""
    threshold: float
    traffic: dict[str, float]
    """arm -> decisions per day"""
    days_left: float | None
    """until the loss is below the threshold, as `most_agreed`; None: not within the days looked
    at"""
    days_left_low: float | None
    days_left_high: float | None


@dataclass(frozen=True)
class Verdict:
    """The leading arm, how certain that is, and whether to go on."""

    by: str
    """the quantity compared: rate or revenue"""
    basis: str
    """mature or so far: the decisions that are compared"""
    currency: str
    """of expected_loss and threshold, if revenue is compared"""
    leader: str
    probability: float
    expected_loss: float
    """conversions, or revenue, per decision that stopping now costs on average"""
    lift: float | None
    lift_low: float | None
    lift_high: float | None
    threshold: float
    days_left: float | None
    days_left_low: float | None
    days_left_high: float | None
    too_early: bool
    certain: bool
    """the leader's lift over every other arm is above 0 however often one looks"""
    words: str
