"""Arms compared within slots of time, so that a season counts for nobody.

Rates pooled over all of time compare the days on which arms were shown as much as the arms: a
bandit gives the good days to its leader. Here visitors of one slot are compared with each other
(`patientbandits.inference.conversion_odds`), and the results of all slots are put together.

mature    from slots as old as the window, all of whose conversions are known: no model of delays
so far    from all slots, each arm's visitors counted by the share of their conversions that is
          visible at their age; the model of delays says how large that is

Best and loss come from the prior that arms of one experiment have in common
(`patientbandits.inference.common_prior`); lifts and their intervals are not shrunk.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from patientbandits._util.durations import DAY, HOUR
from patientbandits.analysis.events import Events, PaidValues, Slots
from patientbandits.analysis.records import ArmStanding, Comparison
from patientbandits.inference import (
    LEVEL,
    RATE_SCALE,
    REVENUE_SCALE,
    FloatArray,
    OddsFit,
    Strata,
    ValueSums,
    compare_arms,
    fit_odds,
    normal_quantile,
    value_cap,
)
from patientbandits.inference.posterior import ArmPosterior, Estimate

BY_RATE = "rate"
BY_REVENUE = "revenue"

MATURE = "mature"
SO_FAR = "so far"

SLOT_LENGTHS = (HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY)
FEWEST_IN_SLOT = 50
"""visitors in the mean: in smaller slots arms would rarely meet"""
FEWEST_OF_RAREST = 3
"""visitors of the arm that is shown least, in the mean"""
MOST_SLOTS = 3000

FEWEST_CONVERSIONS = 10
"""An arm with fewer conversions, seen or to be expected of its visitors, is not compared."""

AUTOMATIC = "auto"
"""the cap of values: ten medians of the first"""

Z95 = normal_quantile(LEVEL)
FARTHEST_LOG = 50.0
"""exp() must not overflow for an arm that has hardly sold anything."""
SHARE_POINTS = 5
"""places within a slot at which the visible share is taken"""

NOT_JUDGED = ArmStanding(best=None, loss=None, lift=None, log=math.nan, error=math.nan)


class Comparing(NamedTuple):
    """All comparisons of the arms of one history."""

    rate: Comparison
    rate_so_far: Comparison
    revenue: Comparison | None
    revenue_so_far: Comparison | None
    seasons: tuple[Season, ...]
    values: PaidValues | None
    mature: Strata
    """the slots whose conversions are all known"""
    per_unit: float
    """converted decisions that count as one"""

    def by(self, by: str) -> Comparison:
        """Return the comparison by rate, or by revenue if there is one."""
        if by == BY_REVENUE and self.revenue is not None:
            return self.revenue
        return self.rate


class Season(NamedTuple):
    """By how much the calendar was better than the days on which this arm was shown."""

    factor: float
    """of the arm's rate, to standardise it to all visitors of the calendar"""
    error: float
    """standard error of its logarithm"""


def slots_of(events: Events) -> Slots:
    """Count decisions and conversions by slot of time, unless they are counted already."""
    if events.slots is not None:
        return events.slots
    arms = enumerate(events.arms)
    return count_slots(
        times=np.concatenate([events.end - arm.ages for arm in events.arms]),
        arms=np.concatenate([np.full(len(arm.ages), place) for place, arm in arms]),
        visitors=np.concatenate([arm.counts for arm in events.arms]),
        conversions=np.concatenate(
            [arm.counts * arm.converted_within(events.window) for arm in events.arms]
        ),
        number=len(events.arms),
    )


def count_slots(
    times: FloatArray,
    arms: NDArray[np.int64],
    visitors: FloatArray,
    conversions: FloatArray,
    number: int,
) -> Slots:
    """Add up rows, each of one arm and of one time in seconds, by slot and arm.

    Rows that stand for a whole hour have its middle as their time: no slot is shorter.
    """
    decided = np.bincount(arms, visitors, minlength=number)
    first, last = float(times.min()), float(times.max())
    length = slot_length(last - first, decided)
    start = math.floor(first / length)
    many = math.floor(last / length) - start + 1
    cells = (np.floor(times / length).astype(np.int64) - start) * number + arms
    shape = (many, number)
    seen = np.bincount(cells, visitors, minlength=many * number).reshape(shape)
    converted = np.bincount(cells, conversions, minlength=many * number).reshape(shape)
    used = seen.sum(axis=1) > 0
    starts = np.asarray((start + np.flatnonzero(used)) * length, float)
    return Slots(starts, length, seen[used], converted[used])


def slot_length(span: float, decided: ArrayLike) -> float:
    """Return the shortest usual length whose slots hold enough visitors and are not too many."""
    counts = np.asarray(decided, float)
    rarest = counts[counts > 0].min(initial=np.inf)
    for length in SLOT_LENGTHS:
        slots = max(span / length, 1.0)
        enough = counts.sum() >= FEWEST_IN_SLOT * slots and rarest >= FEWEST_OF_RAREST * slots
        if slots <= MOST_SLOTS and enough:
            return length
    return max(DAY, span / MOST_SLOTS)


def mature_strata(slots: Slots, end: float, window: float | None) -> Strata:
    """Return the slots whose conversions are all known; none without a window."""
    complete = np.zeros(len(slots.starts), bool)
    if window is not None:
        complete = slots.starts + slots.length <= end - window
    return Strata(slots.visitors[complete], slots.conversions[complete])


def strata_so_far(slots: Slots, end: float, beliefs: Sequence[ArmPosterior]) -> Strata:
    """Return all slots, with the visible share of each arm's conversions."""
    return Strata(slots.visitors, slots.conversions, visible_shares(slots, end, beliefs))


def visible_shares(slots: Slots, end: float, beliefs: Sequence[ArmPosterior]) -> FloatArray:
    """Return F by slot and arm: the mean over the slot's time; from the window on it is 1."""
    steps = (np.arange(SHARE_POINTS) + 0.5) / SHARE_POINTS
    ages = np.maximum(end - slots.starts[:, None] - steps * slots.length, 0.0)
    shares = [np.interp(ages, own.lag.times, own.lag.mean, left=0.0) for own in beliefs]
    return np.stack([own.mean(axis=1) for own in shares], axis=1)


def visible_logs(beliefs: Sequence[ArmPosterior]) -> tuple[FloatArray, FloatArray]:
    """Return how well the share of each arm's conversions that is visible is known.

    By the logs of the ends of the interval of what has matured: how far their middle is below the
    log of the mean, and their variance.
    """
    shifts, variances = np.zeros(len(beliefs)), np.ones(len(beliefs))
    for place, own in enumerate(beliefs):
        low, mean, high = own.matured.low, own.matured.mean, own.matured.high
        if math.isfinite(low) and 0 < low <= high:
            shifts[place] = math.log(mean) - (math.log(low) + math.log(high)) / 2
            variances[place] = (math.log(high / low) / (2 * Z95)) ** 2
    return shifts, variances


def judged_arms(strata: Strata) -> NDArray[np.bool_]:
    """Return which arms can be compared: not those of which hardly any conversion can be known."""
    visitors = np.maximum(strata.exposure.sum(axis=1, keepdims=True), 1e-12)
    usual = strata.conversions.sum(axis=1, keepdims=True) * strata.exposure / visitors
    expected = np.maximum(usual.sum(axis=0), strata.conversions.sum(axis=0))
    judged: NDArray[np.bool_] = expected >= FEWEST_CONVERSIONS
    return judged


def paid_values(events: Events, cap: float | str | None = AUTOMATIC) -> PaidValues | None:
    """Sum what converted decisions paid, unless it is summed already; None if nothing was paid."""
    if events.values is not None:
        return events.values
    if not events.valued:
        return None
    paid = [arm.paid_by_decision(events.window) for arm in events.arms]
    converted = [arm.converted_within(events.window) for arm in events.arms]
    counts = [arm.counts[own] for arm, own in zip(events.arms, converted, strict=True)]
    times = [(arm.delays - arm.ages)[own] for arm, own in zip(events.arms, converted, strict=True)]
    return values_of(paid, times, counts, cap)


def values_of(
    paid: Sequence[FloatArray],
    times: Sequence[FloatArray],
    counts: Sequence[FloatArray],
    cap: float | str | None = AUTOMATIC,
) -> PaidValues | None:
    """Sum what each arm's conversions paid, each at most the ``cap``; None if nothing was paid.

    ``times``: when, for the cap is found from the first; ``counts``: conversions of each row.
    """
    if not any((own > 0).any() for own in paid):
        return None
    limit = cap if not isinstance(cap, str) else None
    if cap == AUTOMATIC:
        order = np.argsort(np.concatenate(times), kind="stable")
        limit = value_cap(np.concatenate(paid)[order])
    if limit is None:
        return PaidValues(ValueSums.of(paid, counts), None, 0)
    cut = [np.minimum(own, limit) for own in paid]
    capped = sum(float(count[own > limit].sum()) for own, count in zip(paid, counts, strict=True))
    return PaidValues(ValueSums.of(cut, counts), limit, round(capped))


def compare_all(
    slots: Slots,
    end: float,
    window: float | None,
    beliefs: Sequence[ArmPosterior],
    values: PaidValues | None,
    per_unit: float = 1.0,
) -> Comparing:
    """Compare by rate and by revenue, from mature slots and so far.

    Without two arms whose mature visitors say enough, all comparisons are of those so far.
    ``per_unit``: converted decisions that count as one, where units have several.
    """
    early = strata_so_far(slots, end, beliefs)
    shifts, variances = visible_logs(beliefs)
    early_fit = fit_odds(early, variances)
    early_fit = counted_by_unit(early_fit._replace(logs=early_fit.logs + shifts), per_unit)
    mature = mature_strata(slots, end, window)
    judged = judged_arms(mature)
    fit, basis = counted_by_unit(fit_odds(mature), per_unit), MATURE
    if judged.sum() < min(2, len(judged)):
        fit, basis, judged = early_fit, SO_FAR, np.ones(len(judged), bool)
    everybody = np.ones(len(judged), bool)
    revenue = revenue_so_far = None
    if values is not None:
        revenue = compared(fit, basis, judged, values.sums, per_unit)
        revenue_so_far = compared(early_fit, SO_FAR, everybody, values.sums, per_unit)
    return Comparing(
        rate=compared(fit, basis, judged),
        rate_so_far=compared(early_fit, SO_FAR, everybody),
        revenue=revenue,
        revenue_so_far=revenue_so_far,
        seasons=seasons_of(early, early_fit),
        values=values,
        mature=mature,
        per_unit=per_unit,
    )


def counted_by_unit(fit: OddsFit, per_unit: float) -> OddsFit:
    """Widen the errors where several conversions are of one unit, as if they all moved together."""
    errors = fit.errors * math.sqrt(per_unit)
    return fit._replace(errors=errors, variance=fit.variance * per_unit)


def compared(
    fit: OddsFit,
    basis: str,
    judged: NDArray[np.bool_],
    values: ValueSums | None = None,
    per_unit: float = 1.0,
) -> Comparison:
    """Compare the ``judged`` arms by rate, or with ``values`` by revenue: logs and variances
    add."""
    logs, variances, scale, by = fit.logs, np.square(fit.errors), RATE_SCALE, BY_RATE
    worth = np.zeros(len(logs))
    if values is not None:
        worth = values.log_variances() * per_unit
        logs, variances = logs + np.log(values.means), variances + worth
        scale, by = REVENUE_SCALE, BY_REVENUE
    errors = np.sqrt(variances)
    best = np.full(len(logs), np.nan)
    loss = np.full(len(logs), np.nan)
    spread = 0.0
    if judged.any():
        best[judged], loss[judged], spread = compare_arms(logs[judged], errors[judged], scale)
    arms = []
    for place in range(len(logs)):
        if not judged[place]:
            arms.append(NOT_JUDGED)
            continue
        lift = None
        if place > 0 and judged[0]:
            _, error = fit.contrast(place, 0)
            wide = math.sqrt(error**2 + worth[place] + worth[0])
            lift = lift_of(float(logs[place] - logs[0]), wide)
        arms.append(
            ArmStanding(
                best=float(best[place]),
                loss=float(loss[place]),
                lift=lift,
                log=float(logs[place]),
                error=float(errors[place]),
            )
        )
    return Comparison(basis=basis, by=by, arms=tuple(arms), spread=spread)


def lift_of(difference: float, error: float) -> Estimate:
    """Return the ratio less 1, with its interval, from the difference of two logs."""
    low, middle, high = (
        math.expm1(min(difference + step * error, FARTHEST_LOG)) for step in (-Z95, 0.0, Z95)
    )
    return Estimate(mean=middle, low=low, high=high)


def seasons_of(strata: Strata, fit: OddsFit) -> tuple[Season, ...]:
    """Standardise each arm to the calendar: (mean of theta over all visitors) / (over its own).

    theta_s = C_s / sum_k m_sk e^beta_k is known to C_s conversions.
    """
    exposure, conversions = strata.exposure, strata.conversions.sum(axis=1)
    weights = exposure @ np.exp(fit.logs)
    season = conversions / np.maximum(weights, 1e-12)
    everybody = exposure.sum(axis=1)
    seasons = []
    for own in exposure.T:
        if not conversions.any() or own @ season <= 0:
            seasons.append(Season(1.0, 0.0))
            continue
        calendar = everybody * season / (everybody @ season)
        arms_own = own * season / (own @ season)
        noise = (calendar - arms_own) ** 2 / np.maximum(conversions, 1.0)
        factor = (everybody @ season / everybody.sum()) / (own @ season / own.sum())
        seasons.append(Season(float(factor), math.sqrt(float(noise.sum()))))
    return tuple(seasons)
