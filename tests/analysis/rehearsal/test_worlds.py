"""Worlds drawn from the posterior are like the data."""

from __future__ import annotations

import math

import numpy as np
import pytest

from patientbandits._util.durations import DAY
from patientbandits.analysis import Analysis
from patientbandits.analysis.rehearsal.season import season_of
from patientbandits.analysis.rehearsal.worlds import draw_law, draw_worlds, inverse_curve

TRAFFIC = 100.0


def test_drawn_worlds_are_like_the_data(analysis: Analysis) -> None:
    worlds = draw_worlds(analysis, season_of(analysis), TRAFFIC, 30, draws=60, seed=3)
    means = np.array([world.problem.means for world in worlds])
    truth = [0.05 * (1 - math.exp(-10)), 0.15 * (1 - math.exp(-2.5))]
    assert means.mean(axis=0) == pytest.approx(truth, rel=0.1)
    assert np.all(means.std(axis=0) > 0)
    assert worlds[0].window_rounds == 1000
    within = np.array([law.cdf([200, 999, 1000]) for law in (w.problem.delays[1] for w in worlds)])
    share = (1 - math.exp(-0.5)) / (1 - math.exp(-2.5))
    assert within[:, 0].mean() == pytest.approx(share, abs=0.03)
    assert np.all(within[:, 2] == 1.0)  # nothing counts after the window


def test_the_law_is_the_lag_curve(analysis: Analysis) -> None:
    class Middle:
        """Draws the middle of the band."""

        def standard_normal(self) -> float:
            return 0.0

    curve = analysis.lag["slow"]
    law = draw_law(curve, TRAFFIC, Middle())  # type: ignore[arg-type]
    for day in (0.5, 2.0, 6.0):
        expected = float(np.interp(day * DAY, curve.times, curve.mean))
        assert law.cdf(round(day * TRAFFIC)) == pytest.approx(expected, abs=0.02)


def test_inverse_of_a_curve_with_flat_parts() -> None:
    times = np.array([1.0, 2.0, 3.0, 4.0])
    shares = np.array([0.2, 0.2, 0.6, 1.0])
    assert inverse_curve(times, shares, [0.1, 0.4, 1.0]) == pytest.approx([0.5, 2.0, 4.0], abs=0.51)
