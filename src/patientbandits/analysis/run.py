"""From a history to findings: rates, windows, cohorts, the future and a verdict."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from patientbandits.analysis.belief import Z95, Belief, beliefs
from patientbandits.analysis.cohorts import cohorts_of
from patientbandits.analysis.fit import misfit_of, misfit_words
from patientbandits.analysis.future import ArmPresent, play_future
from patientbandits.analysis.money import revenue_of
from patientbandits.analysis.records import (
    ArmFinding,
    CohortFinding,
    Future,
    Lag,
    Span,
    Verdict,
    WindowFinding,
)
from patientbandits.analysis.survival import StepCurve, product_limit
from patientbandits.analysis.verdict import verdict_of
from patientbandits.analysis.windows import which_window
from patientbandits.anytime import anytime_window_interval
from patientbandits.errors import InputError, number, require
from patientbandits.events.durations import in_seconds
from patientbandits.events.history import ArmHistory, Events
from patientbandits.statistics import LEVEL

if TYPE_CHECKING:
    from patientbandits.analysis.export import DataFrame

ANALYSE = "analyse"
TOLERANCE = 0.005
LAG_POINTS = 80
FIRST_LAG = 60.0
"""The lag curve begins at a minute, or at a ten-thousandth of its end."""


@dataclass(frozen=True)
class Analysis:
    """What a shop's history says."""

    events: Events
    arms: dict[str, ArmFinding]
    verdict: Verdict
    lag: dict[str, Lag]
    windows: list[WindowFinding]
    cohorts: list[CohortFinding]
    future: Future
    tolerance: float

    @property
    def control(self) -> str:
        return self.events.control

    def data(self) -> dict[str, Any]:
        """As plain data, for files."""
        from patientbandits.analysis.export import plain_data

        return plain_data(self)

    def to_pandas(self) -> DataFrame:
        """The arms as a table of pandas."""
        from patientbandits.analysis.export import arms_table

        return arms_table(self)

    def plot(self) -> Any:
        """Rates, lag curves, windows and the time left, as a figure of Matplotlib."""
        from patientbandits.analysis.pictures import overview

        return overview(self)


def analyse(
    events: Events,
    *,
    window: object = None,
    tolerance: float = TOLERANCE,
    traffic: float | None = None,
    tell: Callable[[str], None] | None = None,
) -> Analysis:
    """Which arm converts best within the window, how sure that is, and how long it still takes.

    window      another one than that of `read_events`
    tolerance   stop when the expected loss is below this share of the leader's rate
    traffic     decisions per day from now on, over all arms; by default as in the last seven days
    tell        called with a word about each step
    """
    say = tell or (lambda words: None)
    if not isinstance(events, Events):
        raise InputError(
            f"{ANALYSE}: events must be what read_events gives; got {type(events).__name__}."
        )
    if window is not None:
        events = replace(events, window=in_seconds(ANALYSE, "window", window))
    share = number(ANALYSE, "tolerance", tolerance)
    require(0 < share < 1, ANALYSE, "tolerance must be between 0 and 1", tolerance=tolerance)
    say("fitting the model of late conversions")
    ordered = _control_first(events)
    times = lag_times(ordered)
    found = beliefs(ordered.arms, ordered.window, times)
    curves = [product_limit(*arm.within(ordered.window)) for arm in ordered.arms]
    arms = [_finding(ordered, *row) for row in zip(ordered.arms, found, curves, strict=True)]
    say("playing the future")
    future = _future(ordered, found, arms, share, traffic)
    return Analysis(
        events=ordered,
        arms={arm.arm: arm for arm in arms},
        verdict=verdict_of(arms, future),
        lag=dict(zip(ordered.names, map(_lag, found, curves), strict=True)),
        windows=which_window(ordered),
        cohorts=cohorts_of(ordered, found),
        future=future,
        tolerance=share,
    )


def _control_first(events: Events) -> Events:
    arms = sorted(events.arms, key=lambda arm: arm.name != events.control)
    return replace(events, arms=tuple(arms))


def lag_times(events: Events) -> np.ndarray:
    """From a minute to the window, or to the oldest age if there is none."""
    end = events.window or max(events.oldest, FIRST_LAG * 10)
    return np.geomspace(min(FIRST_LAG, end / 1e4), end, LAG_POINTS)


def _finding(events: Events, arm: ArmHistory, belief: Belief, curve: StepCurve) -> ArmFinding:
    _, delays = arm.within(events.window)
    converted = np.isfinite(delays)
    whole = np.zeros(arm.decisions, bool) if events.window is None else arm.ages >= events.window
    matured, known = int(whole.sum()), int((whole & converted).sum())
    sold = int(converted.sum())
    delta = (1 - LEVEL) / len(events.arms)
    low, high = anytime_window_interval(matured, known, arm.decisions, sold, delta)
    gap = misfit_of(belief, curve)
    value, revenue = revenue_of(arm, belief, events.window) if events.valued else (None, None)
    lift, lift_low, lift_high = _ends(belief.lift)
    return ArmFinding(
        arm=arm.name,
        decisions=arm.decisions,
        conversions=sold,
        raw=sold / arm.decisions if arm.decisions else 0.0,
        rate=belief.rate.mean,
        low=belief.rate.low,
        high=belief.rate.high,
        matured=belief.matured,
        to_come=belief.to_come.mean,
        to_come_low=belief.to_come.low,
        to_come_high=belief.to_come.high,
        best=belief.best,
        expected_loss=belief.expected_loss,
        lift=lift,
        lift_low=lift_low,
        lift_high=lift_high,
        matured_decisions=matured,
        matured_conversions=known,
        matured_only=_wilson(matured, known),
        anytime_low=low,
        anytime_high=high,
        revenue=revenue,
        order_value=value,
        oldest=float(arm.ages.max(initial=0.0)),
        extrapolated=belief.extrapolated,
        misfit=gap.errors,
        warning=misfit_words(arm.name, gap),
    )


def _ends(span: Span | None) -> tuple[float | None, float | None, float | None]:
    """Its three numbers, or three times None."""
    if span is None:
        return None, None, None
    return span.mean, span.low, span.high


def _wilson(count: int, successes: int) -> Span | None:
    """Wilson's 95 % interval for a share."""
    if not count:
        return None
    share = successes / count
    centre = (share + Z95**2 / (2 * count)) / (1 + Z95**2 / count)
    reach = (
        Z95
        * math.sqrt(share * (1 - share) / count + (Z95 / (2 * count)) ** 2)
        / (1 + Z95**2 / count)
    )
    return Span(mean=share, low=max(centre - reach, 0.0), high=min(centre + reach, 1.0))


def _lag(belief: Belief, curve: StepCurve) -> Lag:
    with np.errstate(invalid="ignore", divide="ignore"):
        observed = curve.at(belief.lag_times) / belief.rate.mean
    return Lag(
        times=belief.lag_times,
        mean=belief.lag_mean,
        low=belief.lag_low,
        high=belief.lag_high,
        kaplan_meier=observed,
    )


def _future(
    events: Events,
    found: list[Belief],
    arms: list[ArmFinding],
    tolerance: float,
    traffic: float | None,
) -> Future:
    leader = max(arms, key=lambda arm: arm.rate)
    present = [
        ArmPresent(
            name=arm.name,
            mean=belief.rate.mean,
            spread=belief.spread,
            ages=arm.ages,
            lag_times=belief.lag_times,
            lag=belief.lag_mean,
            window=events.window,
        )
        for arm, belief in zip(events.arms, found, strict=True)
    ]
    flow = None
    if traffic is not None:
        require(traffic > 0, ANALYSE, "traffic must be > 0", traffic=traffic)
        flow = {arm.name: arm.decisions / events.decisions * traffic for arm in events.arms}
    return play_future(present, tolerance * leader.rate, leader.expected_loss, flow)
