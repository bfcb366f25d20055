"""A survival function as a sum of exponentials, so that sums over pulls can be kept up to date in constant time.

If S(age) = sum_j w_j r_j^(age - W) for age >= W, then the sum of S(now - s) over pulls s that are at least W old is
sum_j w_j F_j, where each F_j is multiplied by r_j per unit of time and gains 1 when a pull becomes W old. Power
laws are integrals of exponentials over their rate, so rates spread evenly on a logarithmic scale, with coefficients
by least squares, follow them closely; so they do any smooth tail.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from patientbandits.delays import Delay

ACCURACY = 1e-4
"""Largest error of the fitted survival function."""

SHORTEST = 64


@lru_cache(maxsize=64)
def fade_fit(law: Delay, horizon: int) -> tuple[int, NDArray[np.float64]]:
    """(W, array of rates r_j and coefficients w_j): the shortest W for which the fit is within `ACCURACY`."""
    length = SHORTEST
    while length < horizon:
        ages = np.unique(np.concatenate([
            np.arange(length, min(length + 512, horizon + 1)),
            np.geomspace(length, max(horizon, length + 1), 2000).astype(np.int64),
        ]))  # fmt: skip
        target = law.survival(ages)
        rates = np.exp(-np.append(np.geomspace(0.3 / horizon, 4.0 / length, 6 + int(1.5 * np.log(horizon / length))), 0.0))
        basis = rates[None, :] ** (ages - length)[:, None].astype(float)
        coefficients = np.linalg.lstsq(basis, target, rcond=1e-9)[0]
        if np.max(np.abs(basis @ coefficients - target)) <= ACCURACY:
            return length, np.array([rates, coefficients])
        length *= 2
    return horizon, np.zeros((2, 0))
