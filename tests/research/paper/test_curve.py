"""Curves with their numbers, and the two readings of the paper."""

from __future__ import annotations

import numpy as np
import pytest
from made_curves import ROUNDS, over_rounds

import patientbandits as pb
from patientbandits.research.paper.curve import Curve, Series, patient, patient_name
from patientbandits.research.paper.curve import over_rounds as curves_over_rounds
from patientbandits.simulation import Simulation

PROBLEM = pb.Problem([0.2, 0.8])


def played(curve: Curve) -> Series:
    results = [one.play(0, one.runs, 1) for one in curve.simulations]
    return Series.of(curve, iter(results))


def test_a_curve_over_its_rounds() -> None:
    simulation = Simulation(PROBLEM, pb.UCB1(), 60, runs=4, record=[20, 40, 60])
    series = played(Curve("ucb", [simulation]))
    assert series.x.tolist() == [20, 40, 60]
    assert series.mean == pytest.approx(series.results[0].mean())
    assert np.all(series.low <= series.mean)
    assert np.all(series.mean <= series.high)
    assert series.last == series.at(1e9) == series.mean[-1]
    assert series.random_regret() == pytest.approx(0.3 * 60)


def test_a_curve_over_a_parameter_takes_each_result_at_its_end() -> None:
    gaps = (0.2, 0.6)
    simulations = [
        Simulation(pb.Problem([0.2, 0.2 + gap]), pb.UCB1(), 60, runs=4, record=[30, 60])
        for gap in gaps
    ]
    series = played(Curve("gaps", simulations, gaps))
    assert series.x.tolist() == list(gaps)
    assert series.mean.tolist() == [one.mean()[-1] for one in series.results]


def test_seed_and_runs_are_those_of_the_call() -> None:
    curve = Curve("ucb", [Simulation(PROBLEM, pb.UCB1(), 60, runs=4)])
    (same,) = curve.adjusted(None, 7).simulations
    assert (same.seed, same.runs) == (7, 4)
    (fewer,) = curve.adjusted(2, 7).simulations
    assert (fewer.seed, fewer.runs) == (7, 2)


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0])
def test_growth_is_the_exponent(power: float) -> None:
    series = over_rounds("power", lambda t: 3.0 * t**power, ROUNDS)
    assert series.growth(500, 5000).value == pytest.approx(power, abs=1e-9)
    assert [one.value for _, one in series.local_growth()] == pytest.approx(
        [power] * (len(ROUNDS) - 6), abs=1e-9
    )


def test_readings_differ_in_their_constants() -> None:
    assert patient(0.3, "literal") == pb.PatientBandits(0.3)
    published = patient(0.3, "published")
    assert (published.width, published.bias) == ("published", "published")
    (curve,) = curves_over_rounds(
        PROBLEM, {patient_name(0.3): published}, {patient_name(0.3): "red"}, 200, 4
    )
    assert (curve.name, curve.color) == ("PatientBandits alpha=0.3", "red")
