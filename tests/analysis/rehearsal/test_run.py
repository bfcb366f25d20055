"""Results of a rehearsal, and its refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest

from patientbandits._util.durations import DAY
from patientbandits.analysis import Analysis
from patientbandits.analysis.events import Events
from patientbandits.analysis.rehearsal import Rehearsal, rehearse
from patientbandits.analysis.rehearsal.players import EVEN_SPLIT, WAITING
from patientbandits.analysis.rehearsal.run import turning_days
from patientbandits.analysis.rehearsal.worlds import DrawnWorld
from patientbandits.errors import InputError

TRAFFIC = 100.0


def test_what_a_rehearsal_says(rehearsal: Rehearsal) -> None:
    parts = {part.player: part for part in rehearsal.parts}
    assert set(parts) == {"Thompson", EVEN_SPLIT, WAITING}
    split = parts[EVEN_SPLIT]
    gap = 0.15 * (1 - math.exp(-2.5)) - 0.05
    assert split.lost.mean == pytest.approx(gap / 2 * TRAFFIC * 30, rel=0.1)
    assert split.saved.mean == 0
    assert split.turn is None
    best = parts["Thompson"]
    assert best.saved.low > 0
    assert best.best_share > 0.6
    assert best.turn is not None
    for part in rehearsal.parts:
        assert sum(part.shares.values()) == pytest.approx(1)
        assert len(part.curve) == len(rehearsal.days) == 30
        assert part.curve[-1] == pytest.approx(part.lost.mean)
    assert rehearsal.words.startswith("Take Thompson: over 30 days it loses")
    assert rehearsal.best.player == "Thompson"


def test_the_same_seed_gives_the_same_numbers(analysis: Analysis, rehearsal: Rehearsal) -> None:
    again = rehearse(analysis, traffic=TRAFFIC, days=30, policies=["Thompson"], draws=12)
    assert again.data() == rehearsal.data()


def test_turning_days_from_the_definition() -> None:
    from patientbandits.problems.problem import Problem

    world = DrawnWorld(problem=Problem([0.1, 0.2]), window_rounds=1)
    days = np.arange(1.0, 31.0)
    split = 0.05 * TRAFFIC  # what an even split loses a day
    daily = np.where(days <= 10, split, 0.2 * split)
    lost = np.stack([np.cumsum(daily), np.cumsum(np.full(30, split))])
    turned = turning_days(lost, [world, world], days, TRAFFIC)
    assert 7 <= turned[0] <= 11  # a week's mean is below half of it once most of the week is
    assert turned[1] == math.inf


def test_refuses(analysis: Analysis) -> None:
    with pytest.raises(InputError, match="traffic must be a finite number > 0"):
        rehearse(analysis, traffic=0, days=3)
    with pytest.raises(InputError, match="policy must be one of"):
        rehearse(analysis, traffic=10, days=3, policies=["Thomson"])
    with pytest.raises(InputError, match="policies must name at least one besides those"):
        rehearse(analysis, traffic=10, days=3, policies=["even split"])
    silent = Events.of({"a": ([DAY] * 5, [math.inf] * 5), "b": ([DAY] * 5, [math.inf] * 5)})
    with pytest.raises(InputError, match="at least one conversion is needed"):
        rehearse(silent, traffic=10, days=3)
