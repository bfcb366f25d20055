"""A shop whose truth is known, and a rehearsal on it."""

from __future__ import annotations

import numpy as np
import pytest

from patientbandits._util.durations import DAY
from patientbandits.analysis import Analysis, analyse
from patientbandits.analysis.events import Events
from patientbandits.analysis.rehearsal import Rehearsal, rehearse

TRAFFIC = 100.0


@pytest.fixture(scope="session")
def analysis() -> Analysis:
    """Two arms, 5 and 15 %, exponential delays with means of 1 and 4 days, a window of 10."""
    random = np.random.default_rng(1)
    arms = {}
    for name, rate, mean in (("control", 0.05, 1.0), ("slow", 0.15, 4.0)):
        ages = random.random(8000) * 40 * DAY
        delays = random.exponential(mean * DAY, 8000)
        converts = (random.random(8000) < rate) & (delays <= ages)
        arms[name] = (ages, np.where(converts, delays, np.inf))
    return analyse(Events.of(arms, window=10 * DAY))


@pytest.fixture(scope="session")
def rehearsal(analysis: Analysis) -> Rehearsal:
    return rehearse(analysis, traffic=TRAFFIC, days=30, policies=["Thompson"], draws=12, workers=1)
