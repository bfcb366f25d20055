"""The committed data over the gaps, and what the page says of them."""

from __future__ import annotations

import pytest

from patientbandits.research.paper.adaptivity import over_gaps
from patientbandits.research.paper.adaptivity.data import StudyData
from patientbandits.research.paper.adaptivity.variants import FAVOURITE
from patientbandits.simulation.sweeps import sweep


def test_gaps_come_from_this_code(committed: StudyData) -> None:
    """One row, played again."""
    (row,) = (row for row in committed.gaps if (row["gap"], row["policy"]) == ("0.32", "UCB1"))
    (again,) = sweep([over_gaps.simulations_of(committed.size)[over_gaps.GapCase(0.32, "UCB1")]])
    assert float(row["regret"]) == pytest.approx(again.final.mean(), rel=1e-3)


def test_it_beats_ucb_only_where_both_are_worse_than_a_coin(committed: StudyData) -> None:
    wins = 0
    for gap in over_gaps.GAPS:
        rows = [row for row in committed.gaps if float(row["gap"]) == gap]
        share = {row["policy"]: over_gaps.wrong_share(row) for row in rows}
        if share["UCB1"] > share[FAVOURITE.name]:
            wins += 1
            assert share[FAVOURITE.name] > 0.5
    assert wins > 0
