"""Futures played from the posterior: what will be counted, and what stopping then would cost.

An arm's rate with mean m and variance v is known as well as from n = m (1 - m) / v decisions whose
outcome is known. In t days k(t) more become known; if theta is true, X ~ Bin(k, theta) of them
have converted, and

    m(t) = (n m + X) / (n + k),    v(t) = m(t) (1 - m(t)) / (n + k).

What a converted decision is worth, if that counts, has mean p and standard deviation s and was seen
c times: later the mean of c + X of them. The value of an arm is m(t) p(t), its variance

    p(t)^2 v(t) + m(t)^2 s^2 / (c + X).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from patientbandits.analysis.normals import expected_loss
from patientbandits.analysis.records import OrderWorth
from patientbandits.analysis.truths import draw_truths
from patientbandits.inference import FloatArray

TRUTHS = 100
FUTURES = 15
"""of each truth"""
LEAST_VARIANCE = 1e-18


@dataclass(frozen=True)
class Plays:
    """(truth, future, day)"""

    losses: FloatArray
    """expected loss if one stops on that day"""
    leaders: FloatArray
    """value of the arm that leads on that day"""


def play_arms(
    means: FloatArray, spreads: FloatArray, more: FloatArray, worths: Sequence[OrderWorth] | None
) -> Plays:
    """``more``, (arm, day): k(t), from 0 on the first day. ``worths``: None if rates count."""
    random = np.random.default_rng(0)
    variance = np.maximum(spreads**2, LEAST_VARIANCE)
    size = np.maximum(means * (1 - means), 1e-12) / variance
    truths = np.minimum(draw_truths(means, variance, TRUTHS, random), 1.0)
    whole = np.floor(more).astype(np.int64)
    steps = np.diff(whole, axis=1)
    shape = (TRUTHS, FUTURES, *steps.shape)
    drawn = random.binomial(np.broadcast_to(steps, shape), truths[:, None, :, None])
    sold = drawn.astype(np.float64)
    known = size[:, None] + whole
    rates = ((means * size)[:, None] + _added_up(sold)) / known
    value, noise = rates, np.maximum(rates * (1 - rates), 0.0) / known
    if worths is not None:
        worth, doubt = _play_worths(worths, sold, random)
        value, noise = rates * worth, worth**2 * noise + rates**2 * doubt
    value, noise = np.swapaxes(value, -1, -2), np.swapaxes(noise, -1, -2)
    spread = np.sqrt(noise)
    # truth by truth: the integral needs room for 61 points of each future and day
    losses = [expected_loss(*future) for future in zip(value, spread, strict=True)]
    return Plays(losses=np.array(losses), leaders=value.max(axis=-1))


def _play_worths(
    worths: Sequence[OrderWorth], sold: FloatArray, random: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """The mean worth of a converted decision as it will be counted, and its variance."""
    means = np.array([worth.mean for worth in worths])
    spreads = np.array([worth.spread for worth in worths])
    counts = np.array([float(worth.count) for worth in worths])
    variance = np.maximum(spreads**2 / counts, LEAST_VARIANCE)
    truths = draw_truths(means, variance, TRUTHS, random)[:, None, :, None]
    noise = random.standard_normal(sold.shape) * np.sqrt(sold)
    paid = _added_up(truths * sold + spreads[:, None] * noise)
    seen = counts[:, None] + _added_up(sold)
    return ((means * counts)[:, None] + paid) / seen, spreads[:, None] ** 2 / seen


def _added_up(steps: FloatArray) -> FloatArray:
    """Sums along the days; 0 on the first."""
    sums = np.zeros((*steps.shape[:-1], steps.shape[-1] + 1))
    sums[..., 1:] = np.cumsum(steps, axis=-1)
    return sums
