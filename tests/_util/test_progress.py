"""Progress bars."""

from __future__ import annotations

import pytest

import patientbandits as pb

PROBLEM = pb.Problem([0.2, 0.5, 0.9], [pb.Pareto(1.0), pb.Pareto(0.3), pb.NoDelay()])


def test_progress_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    pb.simulate(PROBLEM, pb.UCB1(), 60, 4, progress=True)
    assert "4.00/4.00" in capsys.readouterr().err
    pb.sweep([pb.Simulation(PROBLEM, pb.UCB1(), 60, 4)], progress=True)
    assert "240/240" in capsys.readouterr().err
    pb.simulate(PROBLEM, pb.UCB1(), 60, 4, progress=False)
    assert capsys.readouterr().err == ""
