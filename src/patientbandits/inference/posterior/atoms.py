"""Delays that are always the same: the one law that the model's mixture cannot come close to.

Its narrowest laws are spread over three bins, so thousands of conversions in a single bin, as fixed
delays bring, depart from all of them. The rates do not suffer, they rest on the counts by age; but
a misfit that is told to people must not be one where a law as simple as that fits."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from patientbandits.inference.posterior.counts import Array
from patientbandits.inference.posterior.rates import misfit
from patientbandits.inference.posterior.work import Seen


class ExpectedHazards(NamedTuple):
    """What `misfit` compares the counts with."""

    expected: Array


def atom_misfit(seen: Seen) -> float:
    """The misfit of the law that puts all conversions into the bin that has most of them."""
    converted: Any = seen.converted
    most = int(np.argmax(converted))
    risk = converted[most] + seen.exposed[most]
    hazards = np.zeros(len(converted))
    if risk > 0:
        hazards[most] = converted[most] / risk
    return misfit(seen, ExpectedHazards(hazards))
