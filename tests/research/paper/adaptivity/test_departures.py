"""Departures from zero, against naive definitions and beside the committed data."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from patientbandits import simulate, theory
from patientbandits.research.paper.adaptivity import departures
from patientbandits.research.paper.adaptivity.data import StudyData
from patientbandits.research.paper.adaptivity.variants import (
    RECORD_STEP,
    Variant,
    slow_problem,
    study_rounds,
)
from patientbandits.research.paper.section8_adaptive import ADAPTIVE_C
from patientbandits.simulation.sweeps import sweep

pytestmark = pytest.mark.slow


RUNS_OF_FOUR_VALUES = st.lists(
    st.lists(st.sampled_from([0.0, 0.0, 0.1, 1e-300]), min_size=6, max_size=6),
    min_size=1,
    max_size=5,
)


def naive_departure(rounds: list[int], alpha_low: list[float]) -> float:
    """The first round such that alpha_low is above zero then and at every later one."""
    for j, t in enumerate(rounds):
        if all(value > 0 for value in alpha_low[j:]):
            return t
    return math.inf


@given(RUNS_OF_FOUR_VALUES)
def test_departure_is_the_naive_one(runs: list[list[float]]) -> None:
    rounds = [10, 11, 20, 35, 70, 100]
    expected = [naive_departure(rounds, run) for run in runs]
    assert departures.departure(np.array(rounds), np.array(runs)).tolist() == expected


def test_alpha_low_leaves_zero_where_predicted() -> None:
    """Tail 0.8, penalty 3: alpha_hat is 1/2 and only N > e^6 is waited for, so noise is small."""
    horizon = 3000
    result = simulate(
        slow_problem(0.2, 0.8),
        Variant("c/2", 3.0).policy(),
        horizon,
        20,
        seed=5,
        record=study_rounds(horizon),
    )
    assert result.trace is not None
    predicted = theory.adaptive_start(0.8, 0.8, 3.0, ADAPTIVE_C / 2)
    left = departures.departure(result.rounds, result.trace)
    assert np.all(left >= predicted)
    assert np.all(left <= 2 * RECORD_STEP * predicted)


def test_departures_come_from_this_code(committed: StudyData) -> None:
    """One row, played again."""
    case = departures.DepartureCase(0.2, 0.8, Variant("c/2", "paper"))
    cells = ("0.2", "0.8", *case.variant.key)
    columns = ("gap", "tail", "ratio", "penalty")
    (row,) = (row for row in committed.departures if tuple(row[c] for c in columns) == cells)
    (again,) = sweep([departures.simulations_of(committed.size)[case]])
    assert again.trace is not None
    left = departures.departure(again.rounds, again.trace)
    assert float(row["median"]) == pytest.approx(np.median(left), rel=0.05)


def test_zero_is_left_no_earlier_than_predicted(committed: StudyData) -> None:
    for row in committed.departures:
        if float(row["predicted_pulls"]) > int(row["horizon"]):
            assert row["left"] == "0"
        elif row["left"] == row["runs"]:
            assert float(row["median"]) > 0.95 * float(row["predicted_pulls"])
