"""The Kaplan-Meier estimate (1958): what the data alone say, without any model."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from patientbandits.inference.posterior.counts import Array
from patientbandits.inference.posterior.observed import Observed


class KaplanMeier(NamedTuple):
    """The share of pulls that convert by each time, and its standard error (Greenwood 1926)."""

    times: Array
    share: Array
    error: Array


def kaplan_meier(observed: Observed) -> KaplanMeier:
    """1 - product over bins of (1 - conversions / at risk).

    Pulls inside a bin count by the part passed.
    """
    converted = observed.seen.converted
    risk = observed.seen.exposed + converted
    with np.errstate(divide="ignore", invalid="ignore"):
        hazard = np.where(risk > 0, converted / risk, 0.0)
        terms = np.where(risk > converted, converted / (risk * (risk - converted)), 0.0)
    left: Array = np.cumprod(1.0 - hazard, dtype=float)
    return KaplanMeier(observed.edges.copy(), 1.0 - left, left * np.sqrt(np.cumsum(terms)))
