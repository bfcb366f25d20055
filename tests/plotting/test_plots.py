"""Results drawn on matplotlib's axes, from the numbers they hold."""

from __future__ import annotations

from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest

import patientbandits as pb
from patientbandits.simulation import simulation

mpl.use("agg")

PROBLEM = pb.Problem([0.2, 0.5, 0.9], [pb.Pareto(1.0), pb.Pareto(0.3), pb.NoDelay()])


@pytest.fixture(scope="module")
def result() -> pb.Result:
    return pb.simulate(PROBLEM, pb.UCB1(), 200, 4, seed=3, record=[10, 50, 100], first_run=2)


def test_plots(result: pb.Result) -> None:
    axis = result.plot(color="black")
    (line,) = axis.lines
    np.testing.assert_array_equal(line.get_ydata(), result.mean())
    assert line.get_label() == result.label
    assert len(axis.collections) == 1, "the band"
    axis = result.plot("pulls")
    assert len(axis.lines) == len(axis.collections) == 3
    assert [line.get_ydata()[-1] for line in axis.lines] == pytest.approx(result.pulls.mean(axis=0))
    with pytest.raises(pb.InputError, match=r"^Result\.plot: UCB1 records no trace"):
        result.plot("trace")
    with pytest.raises(pb.InputError, match=r"^Result\.plot: what must be one of"):
        result.plot("regrets")
    mpl.pyplot.close("all")


def test_nothing_is_simulated_to_draw(result: pb.Result, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pulls that were not kept are played again by an explicit call, and then they are there."""
    bare = replace(result, counts=None)
    with pytest.raises(pb.InputError, match=r"^Result\.plot: pulls over time must be kept"):
        bare.plot("pulls")
    np.testing.assert_array_equal(pb.pulls_over_time(bare, workers=1), result.counts)
    monkeypatch.setattr(simulation, "play", None)
    for kept in (result, bare):
        lines = kept.plot("pulls").lines
        assert [line.get_ydata()[-1] for line in lines] == kept.pulls.mean(axis=0).tolist()
    mpl.pyplot.close("all")
