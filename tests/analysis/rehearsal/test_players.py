"""The players of a rehearsal."""

from __future__ import annotations

from patientbandits.analysis import Analysis
from patientbandits.analysis.rehearsal.players import (
    EVEN_SPLIT,
    WAITING,
    after_the_window,
    all_players,
)
from patientbandits.analysis.rehearsal.season import season_of
from patientbandits.analysis.rehearsal.worlds import draw_worlds

TRAFFIC = 100.0


def test_everyone_told_nothing_plays() -> None:
    names = [player.name for player in all_players()]
    assert len(set(names)) == len(names)
    assert {"PatientThompson", "CalendarThompson", "KLUCB", "Thompson", EVEN_SPLIT, WAITING} <= set(
        names
    )
    assert not {"DUCB", "PatientKL", "DelayedUCB1"} & set(names)


def test_waiting_is_told_at_the_end_of_the_window(analysis: Analysis) -> None:
    world = draw_worlds(analysis, season_of(analysis), TRAFFIC, 30, draws=2, seed=1)[0]
    told = after_the_window(world)
    assert told.feedback == "reports"
    assert told.means == world.problem.means
    assert all(law.cdf([999, 1000]).tolist() == [0.0, 1.0] for law in told.delays)
