"""What may be true: draws from the posterior, with what arms of one experiment have in common.

Arm i has mean m_i and variance v_i. The truths are N(mu, (s mu)^2) around a common mu, and s, by
how much the arms of an experiment usually differ, is one of several values, weighed by how well
it explains the means. Without it, noise makes the arms look farther apart than they are, and the
days left too few.
"""

from __future__ import annotations

import numpy as np

from patientbandits.inference import FloatArray

DIFFERENCES = (0.05, 0.1, 0.2, 0.4)
"""s: standard deviation between arms, relative to their common mean; equally likely at first"""


def draw_truths(
    means: FloatArray, variance: FloatArray, count: int, random: np.random.Generator
) -> FloatArray:
    """(truth, arm): ``count`` truths; truths >= 0 where means are."""
    scale = abs(float((means / variance).sum() / (1 / variance).sum()))
    between = np.maximum(scale * np.array(DIFFERENCES), 1e-12) ** 2
    weights = 1 / (variance + between[:, None])
    precision = weights.sum(axis=1)
    centres = (weights * means).sum(axis=1) / precision
    misses = (weights * (means - centres[:, None]) ** 2).sum(axis=1)
    fits = (np.log(weights).sum(axis=1) - np.log(precision) - misses) / 2
    chances = np.exp(fits - fits.max())
    chosen = random.choice(len(between), count, p=chances / chances.sum())
    common = centres[chosen] + random.standard_normal(count) / np.sqrt(precision[chosen])
    pull = 1 / between[chosen][:, None]
    certainty = 1 / variance + pull
    middle = (means / variance + common[:, None] * pull) / certainty
    drawn = middle + random.standard_normal(middle.shape) / np.sqrt(certainty)
    return np.where(means >= 0, np.maximum(drawn, 0.0), drawn)
