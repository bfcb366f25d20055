"""Windows compared: the share of conversions that each catches, and who would have won with it.

From data alone (Kaplan-Meier), without the model.
"""

from __future__ import annotations

import numpy as np

from patientbandits._util.durations import DAY, HOUR
from patientbandits.analysis.events import Events
from patientbandits.analysis.records import WindowArm, WindowFinding
from patientbandits.inference import StepCurve, best_normal, step_curve

WHOLE_HOURS = (1, 2, 4, 8, 12)
WHOLE_DAYS = (1, 2, 3, 5, 7, 10, 14, 21, 30, 45, 60, 90, 120, 180, 270, 365, 540, 730)
SURE = 0.8
"""An arm leads from this probability on; below, the order may well be noise."""


def candidate_windows(longest: float, window: float | None) -> list[float]:
    """From an hour to the age that every arm has reached, the window in use among them."""
    usual = [hours * HOUR for hours in WHOLE_HOURS] + [days * DAY for days in WHOLE_DAYS]
    in_use = [] if window is None else [window]
    return sorted({span for span in (*usual, *in_use) if span <= longest})


def compare_windows(events: Events) -> list[WindowFinding]:
    """One row for each candidate; empty if no arm has any conversion or all are younger than an
    hour."""
    curves = [step_curve(arm.ages, arm.delays, arm.counts) for arm in events.arms]
    longest = min(curve.largest for curve in curves)
    spans = candidate_windows(longest, events.window)
    if not spans or not any(len(curve.times) for curve in curves):
        return []
    # shares are relative to the longest window: what comes later still is in nobody's data
    reference = [float(curve.at(spans[-1])) for curve in curves]
    rows: list[WindowFinding] = []
    before = None
    for span in spans:
        rows.append(_finding(span, events.names, curves, reference, before))
        if rows[-1].sure:
            before = rows[-1].leader
    return rows


def _finding(
    span: float,
    names: list[str],
    curves: list[StepCurve],
    reference: list[float],
    before: str | None,
) -> WindowFinding:
    rates = np.array([float(curve.at(span)) for curve in curves])
    spreads = np.sqrt([float(curve.variance_at(span)) for curve in curves])
    chances = best_normal(rates, spreads)
    place = int(rates.argmax())
    arms = [
        WindowArm(arm=name, rate=float(rate), caught=_share(float(rate), whole))
        for name, rate, whole in zip(names, rates, reference, strict=True)
    ]
    return WindowFinding(
        window=span,
        arms=tuple(arms),
        leader=names[place],
        probability=float(chances[place]),
        sure=bool(chances[place] >= SURE),
        flipped=bool(chances[place] >= SURE) and before not in (None, names[place]),
    )


def _share(part: float, whole: float) -> float:
    if whole > 0:
        return part / whole
    return 0.0
