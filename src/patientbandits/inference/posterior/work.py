"""What the fit of an arm works on: the counts, room to compute in, and where results are found."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits.inference.posterior.constants import LEVELS
from patientbandits.inference.posterior.grid import bin_points
from patientbandits.inference.posterior.laws import Laws
from patientbandits.inference.posterior.portable import Array

DEPTH = len(LEVELS)
FAMILIES = 2


class Seen(NamedTuple):
    """What is known of an arm, bin by bin up to the oldest age."""

    points: Any
    """the grid's point at which the bin ends"""
    converted: Any
    exposed: Any
    """pulls that passed the bin without converting in it;
    those still inside count by the part passed
    """


class Work(NamedTuple):
    """Room to compute in, and the results."""

    cells: Array
    """(law, level): weight of the cell; the narrow family's laws begin where ``layout`` says"""
    law: Array
    """law: the weighted sum over mu's levels that was asked for last"""
    law_spare: Array
    law_prior: Array
    """law: its prior, given the oldest age; not normalised"""
    median_prior: Array
    """(family, median): the logarithm of its factor"""
    starts: NDArray[np.int64]
    """where the tables begin for each bin"""
    curve: Array
    """bin: E[mu F] at its end, and then at the window; not normalised"""
    by_level: Array
    """level: the sum of the cells"""
    weights: Array
    """bin: w_b"""
    for_edges: Array
    """bin: the coefficient of log(1 - mu F_b)"""
    for_bins: Array
    """bin: the coefficient of log(F_b - F_{b-1}) and of log mu"""
    expected: Array
    """bin: the hazard of the cells' mean curve, h0"""
    hazards: Array
    """bin: the hazard, between h0 and conversions / at risk"""
    found: Array
    """misfit, tail, rate within the oldest age, rate,
    rate for the choice, how unsure what is to come is
    """


MISFIT, TAIL, WITHIN, RATE, CHOICE, UNSURE = range(6)
"""Places in ``Work.found``."""


def room(laws: Laws) -> Work:
    """Empty."""
    count = len(laws.law_base)
    bins = len(bin_points())
    return Work(
        cells=np.zeros((count, DEPTH)),
        law=np.zeros(count),
        law_spare=np.zeros(count),
        law_prior=np.zeros(count),
        median_prior=np.zeros(laws.median_base.shape),
        starts=np.zeros(bins, np.int64),
        curve=np.zeros(bins + 1),
        by_level=np.zeros(DEPTH),
        weights=np.zeros(bins),
        for_edges=np.zeros(bins),
        for_bins=np.zeros(bins),
        expected=np.zeros(bins),
        hazards=np.zeros(bins),
        found=np.zeros(6),
    )
