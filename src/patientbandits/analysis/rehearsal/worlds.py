"""Worlds drawn from the posterior: each arm with a rate and a law of delays that the data allow.

A round is a visitor; with N visitors a day a delay of t days is N t rounds. Delays are those of
conversions within the window, and the rate is the rate within it: what comes later does not count.
Where the shop's rates differ by weekday or week, so do the world's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from patientbandits._util.durations import DAY
from patientbandits.analysis import Z95, Analysis, ArmFinding, Lag
from patientbandits.analysis.rehearsal.season import Season
from patientbandits.inference import FloatArray
from patientbandits.problems import Calendar, Factor, Problem
from patientbandits.problems.delays import Delay, Empirical

LAW_STEPS = 150
"""values that a drawn law of delays takes"""
SMALLEST_RATE = 1e-6
LARGEST_RATE = 1 - 1e-6
"""on the best day"""


@dataclass(frozen=True)
class DrawnWorld:
    """One draw."""

    problem: Problem
    window_rounds: int
    factors: FloatArray | None = None
    """of the rates, by day; None: always 1"""


def draw_worlds(
    analysis: Analysis, season: Season, traffic: float, days: int, draws: int, seed: int
) -> list[DrawnWorld]:
    """``draws`` problems with the arms of the analysis, in its order."""
    random = np.random.default_rng(seed)
    curves = list(analysis.lag.values())
    window = float(curves[0].times[-1])
    rounds = max(1, math.ceil(window / DAY * traffic))
    worlds = []
    for _ in range(draws):
        means = [draw_rate(arm, random) for arm in analysis.arms.values()]
        laws = [draw_law(curve, traffic, random) for curve in curves]
        factors = None
        calendar = None
        if not season.plain:
            factors = np.minimum(season.draw(days, random), LARGEST_RATE / max(means))
            # All of the rehearsal is one "day" of the calendar: days of visitors need not be whole.
            calendar = Calendar(round(traffic * days), Factor(factors.tolist(), 1))
        problem = Problem(means, laws, calendar=calendar)
        worlds.append(DrawnWorld(problem, rounds, factors))
    return worlds


def draw_rate(arm: ArmFinding, random: np.random.Generator) -> float:
    """Draw from the beta law with the mean and the spread of the arm's rate."""
    mean = min(max(arm.rate, SMALLEST_RATE), 1 - SMALLEST_RATE)
    spread = max((arm.high - arm.low) / (2 * Z95), 1e-9)
    size = max(mean * (1 - mean) / spread**2 - 1, 1.0)
    return float(random.beta(mean * size, (1 - mean) * size))


def draw_law(curve: Lag, traffic: float, random: np.random.Generator) -> Delay:
    """Draw a law of delays, in rounds: the lag curve, moved within its band as a whole."""
    spread = (curve.high - curve.low) / (2 * Z95)
    moved = np.clip(curve.mean + random.standard_normal() * spread, 0.0, 1.0)
    rising = np.maximum.accumulate(moved)  # the band is not equally wide everywhere
    shares = (np.arange(LAW_STEPS) + 0.5) / LAW_STEPS * max(float(rising[-1]), 1e-9)
    times = inverse_curve(curve.times, rising, shares)
    delays = np.ceil(times / DAY * traffic).astype(np.int64)
    values, counts = np.unique(delays, return_counts=True)
    return Empirical(values.tolist(), counts.astype(float).tolist())


def inverse_curve(
    times: FloatArray, shares: FloatArray, levels: Sequence[float] | FloatArray
) -> FloatArray:
    """The times at which a rising curve reaches these levels."""
    kept = np.concatenate([[True], np.diff(shares) > 0])
    grown = np.concatenate([[0.0], shares[kept]])
    at = np.concatenate([[0.0], times[kept]])
    unique, first = np.unique(grown, return_index=True)
    return np.interp(levels, unique, at[first])
