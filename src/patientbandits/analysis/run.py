"""The analysis: from a history to rates, windows, cohorts, the future and a verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from patientbandits._util.durations import in_seconds
from patientbandits.analysis.arms import beliefs, cohorts_of, findings
from patientbandits.analysis.comparison import (
    AUTOMATIC,
    BY_RATE,
    BY_REVENUE,
    MATURE,
    compare_all,
    paid_values,
    slots_of,
)
from patientbandits.analysis.events import Events
from patientbandits.analysis.future import ArmPresent, simulate_future
from patientbandits.analysis.records import (
    ArmFinding,
    CohortFinding,
    Comparison,
    Future,
    Lag,
    Verdict,
    WindowFinding,
)
from patientbandits.analysis.verdict import compare_windows, compared_of, leader_by, verdict_of
from patientbandits.errors import InputError, choice, number, positive, require
from patientbandits.inference import RATE_SCALE, REVENUE_SCALE, TAUS, StepCurve, step_curve
from patientbandits.inference.posterior import ArmPosterior

DataFrame = Any
"""of pandas, which need not be installed"""

ANALYSE = "analyse"
TOLERANCE = 0.005
LAG_POINTS = 80
FIRST_LAG = 60.0
"""The lag curve begins at a minute, or at a ten-thousandth of its end."""


@dataclass(frozen=True)
class Analysis:
    """The findings from a shop's history."""

    events: Events
    arms: dict[str, ArmFinding]
    verdict: Verdict
    lag: dict[str, Lag]
    windows: list[WindowFinding]
    cohorts: list[CohortFinding]
    future: Future
    tolerance: float
    cap: float | None = None
    """larger values of a decision's orders count as this much; None: all count in full"""
    capped: int = 0
    """decisions whose value was cut"""

    @property
    def control(self) -> str:
        return self.events.control

    def data(self) -> dict[str, Any]:
        """As plain data, for files; None for numbers that are not known."""
        events = self.events
        return dict(
            finite(
                {
                    "arms": [asdict(arm) for arm in self.arms.values()],
                    "verdict": asdict(self.verdict),
                    "experiment": events.experiment,
                    "control": events.control,
                    "window_seconds": events.window,
                    "as_of": events.end,
                    "currency": events.currency,
                    "tolerance": self.tolerance,
                    "cap": self.cap,
                    "capped": self.capped,
                    "windows": [asdict(row) for row in self.windows],
                    "lag": {name: asdict(curve) for name, curve in self.lag.items()},
                    "cohorts": [asdict(row) for row in self.cohorts],
                    "future": asdict(self.future),
                    "reading": events.report.data() if events.report else None,
                }
            )
        )

    def to_pandas(self) -> DataFrame:
        """The arms as a table of pandas, one row for each."""
        try:
            import pandas
        except ImportError:
            raise InputError("to_pandas needs pandas: pip install pandas.") from None
        return pandas.DataFrame([asdict(arm) for arm in self.arms.values()]).set_index("arm")

    def plot(self) -> Any:
        """Rates, lag curves, windows and the time left, as a figure of Matplotlib."""
        from patientbandits.analysis.page import overview

        return overview(self)


def analyse(
    events: Events,
    *,
    window: object = None,
    by: str = BY_RATE,
    tolerance: float = TOLERANCE,
    traffic: float | None = None,
    cap: float | str | None = AUTOMATIC,
    tell: Callable[[str], None] | None = None,
) -> Analysis:
    """Find the arm that converts best within the window, how certain that is, and the time left.

    window      another one than that of `read_events`
    by          the quantity that the verdict compares: "rate", or "revenue" per decision
    tolerance   stop when the expected loss is below this share of the leader's rate or revenue
    traffic     decisions per day from now on, over all arms; by default as in the last seven days
    cap         larger values of a decision's orders count as this much; by default ten medians of
                the first hundred that paid; None: all count in full
    tell        called with a few words about each step
    """
    say = tell or (lambda words: None)
    if not isinstance(events, Events):
        raise InputError(
            f"{ANALYSE}: events must come from read_events; got {type(events).__name__}."
        )
    if window is not None:
        events = replace(events, window=in_seconds(ANALYSE, "window", window))
    choice(ANALYSE, "by", by, (BY_RATE, BY_REVENUE))
    share = number(ANALYSE, "tolerance", tolerance)
    require(0 < share < 1, ANALYSE, "tolerance must be between 0 and 1", tolerance=tolerance)
    say("fitting the model of late conversions")
    ordered = _control_first(events)
    arm_beliefs = beliefs(ordered.arms, ordered.window, lag_times(ordered))
    curves = [step_curve(*arm.within(ordered.window), arm.counts) for arm in ordered.arms]
    say("comparing arms within slots of time")
    values = paid_values(ordered, _cap(cap))
    if by == BY_REVENUE and values is None:
        raise InputError(f"{ANALYSE}: by={by!r} needs orders with values; there are none.")
    comparing = compare_all(
        slots_of(ordered), ordered.end, ordered.window, arm_beliefs, values, ordered.per_unit
    )
    arms = findings(ordered, arm_beliefs, curves, comparing)
    comparison = comparing.by(by)
    say("simulating the future")
    future = _future(ordered, arm_beliefs, comparison, arms, share, _flow(ordered, traffic))
    return Analysis(
        events=ordered,
        arms={arm.arm: arm for arm in arms},
        verdict=verdict_of(arms, future, comparing, by, ordered),
        lag=dict(zip(ordered.names, map(_lag, arm_beliefs, curves), strict=True)),
        windows=compare_windows(ordered, by),
        cohorts=cohorts_of(ordered, arm_beliefs),
        future=future,
        tolerance=share,
        cap=values.cap if values else None,
        capped=values.capped if values else 0,
    )


def _cap(cap: float | str | None) -> float | str | None:
    if cap is None or cap == AUTOMATIC:
        return cap
    return positive(ANALYSE, "cap", cap)


def _control_first(events: Events) -> Events:
    """The same history with the control as its first arm, which lifts are relative to."""
    places = sorted(
        range(len(events.arms)), key=lambda place: events.names[place] != events.control
    )
    return events.only(places, events.control)


def lag_times(events: Events) -> np.ndarray:
    """Times of the lag curve: from a minute to the window, or to the oldest age without one."""
    end = events.window or max(events.oldest, FIRST_LAG * 10)
    return np.geomspace(min(FIRST_LAG, end / 1e4), end, LAG_POINTS)


def _lag(belief: ArmPosterior, curve: StepCurve) -> Lag:
    with np.errstate(invalid="ignore", divide="ignore"):
        observed = curve.at(belief.lag.times) / belief.rate.mean
    return Lag(**vars(belief.lag), kaplan_meier=observed)


def _future(
    events: Events,
    arm_beliefs: Sequence[ArmPosterior],
    comparison: Comparison,
    arms: Sequence[ArmFinding],
    tolerance: float,
    traffic: dict[str, float] | None,
) -> Future:
    """The future of the arms that are compared, from where they are today."""
    rows = zip(events.arms, arm_beliefs, comparison.arms, strict=True)
    present = [
        ArmPresent(
            name=arm.name,
            log=standing.log,
            error=standing.error,
            ages=arm.ages,
            counts=arm.counts,
            lag_times=belief.lag.times,
            lag=belief.lag.mean,
            window=events.window,
            mature=comparison.basis == MATURE,
        )
        for arm, belief, standing in rows
        if standing.best is not None
    ]
    leader = leader_by(arms, comparison.by)
    value = compared_of(leader, comparison.by).value
    standing = comparison.arms[events.names.index(leader.arm)]
    return simulate_future(
        present,
        tolerance=tolerance,
        loss_now=standing.loss or 0.0,
        value=value,
        scale=REVENUE_SCALE if comparison.by == BY_REVENUE else RATE_SCALE,
        tau=max(comparison.spread, float(TAUS[0])),
        traffic=traffic,
        minimum=events.minimum_share,
    )


def _flow(events: Events, traffic: float | None) -> dict[str, float] | None:
    """arm -> decisions per day, in the proportions so far; None: as in the last seven days."""
    if traffic is None:
        return None
    require(traffic > 0, ANALYSE, "traffic must be > 0", traffic=traffic)
    return {arm.name: arm.decisions / events.decisions * traffic for arm in events.arms}


def finite(value: Any) -> Any:
    """Plain data: arrays as lists, None for numbers that are not finite."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {key: finite(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
