"""Ages in classes that grow by 2 %: what a report counts, instead of a million ages."""

from __future__ import annotations

import math
from bisect import bisect_right

from patientbandits.live.times import SECOND

AGE_CLASSES = 50
"""classes per factor e"""

OLDEST_AGE = 1e9
"""seconds: older ones are in the last class"""

EDGES = [
    math.ceil(math.exp(place / AGE_CLASSES) * SECOND)
    for place in range(1, round(AGE_CLASSES * math.log(OLDEST_AGE)))
]
"""microseconds: class j holds the ages from EDGES[j - 1] up to, not including, EDGES[j]"""

ANY_AGE = 2**61


def class_of(age: int) -> int:
    """The class of an age in microseconds; what is younger than a second is in the first."""
    return bisect_right(EDGES, age)


def made_between(place: int, now: int) -> tuple[int, int]:
    """(low, high]: when decisions were made that are in this class at the time ``now``."""
    youngest = EDGES[place - 1] if place else 0
    oldest = EDGES[place] if place < len(EDGES) else ANY_AGE
    return now - oldest, now - youngest


def seconds_of_class(place: float) -> float:
    """The middle of a class."""
    return math.exp((place + 0.5) / AGE_CLASSES)
