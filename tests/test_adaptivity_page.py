"""docs/adaptivity.md: its page against its data, its data against the code, its words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from patientbandits.research.paper.adaptivity.data import DataRow, StudyData, read_study_data
from patientbandits.research.paper.adaptivity.departures import (
    DepartureCase,
    departure,
    departure_simulations,
)
from patientbandits.research.paper.adaptivity.over_gaps import (
    HARD_GAPS,
    GapCase,
    gap_simulations,
    wrong_share,
)
from patientbandits.research.paper.adaptivity.over_time import PENALTIES, TAIL_OVER_TIME, THOMPSON
from patientbandits.research.paper.adaptivity.page import adaptivity_page
from patientbandits.research.paper.adaptivity.variants import (
    FAVOURITE,
    PRINTED,
    OtherNames,
    Variant,
)
from patientbandits.simulation.sweeps import sweep

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def committed() -> StudyData:
    """The data beside the page."""
    return read_study_data(DOCS / "data" / "adaptivity")


@pytest.fixture(scope="module")
def final(committed: StudyData) -> dict[str, DataRow]:
    """Each policy's last row over time."""
    return {policy: committed.curve(policy)[-1] for policy in committed.policies()}


@pytest.fixture(scope="module")
def regret(final: dict[str, DataRow]) -> dict[str, float]:
    """Each policy's regret at the end."""
    return {policy: float(row["regret"]) for policy, row in final.items()}


def test_the_page_is_made_of_its_data(committed: StudyData) -> None:
    assert (DOCS / "adaptivity.md").read_text() == adaptivity_page(committed)


def test_gaps_come_from_this_code(committed: StudyData) -> None:
    """One row, played again."""
    (row,) = (row for row in committed.gaps if (row["gap"], row["policy"]) == ("0.32", "UCB1"))
    (again,) = sweep([gap_simulations(committed.size)[GapCase(0.32, "UCB1")]])
    assert float(row["regret"]) == pytest.approx(again.final.mean(), rel=1e-3)


def test_departures_come_from_this_code(committed: StudyData) -> None:
    """One row, played again."""
    case = DepartureCase(0.2, 0.8, Variant("c/2", "paper"))
    cells = ("0.2", "0.8", *case.variant.key)
    columns = ("gap", "tail", "ratio", "penalty")
    (row,) = (row for row in committed.departures if tuple(row[c] for c in columns) == cells)
    (again,) = sweep([departure_simulations(committed.size)[case]])
    assert again.trace is not None
    left = departure(again.rounds, again.trace)
    assert float(row["median"]) == pytest.approx(np.median(left), rel=0.05)


def test_adapting_gains_nothing_over_ucb(regret: dict[str, float]) -> None:
    names = OtherNames.at(TAIL_OVER_TIME)
    adapting = [regret[policy] for policy in regret if policy.startswith("Adapt")]
    assert regret[names.ucb] < min(adapting)
    better = (names.kl_true, names.kl_floor, THOMPSON)
    assert max(regret[policy] for policy in better) < regret[FAVOURITE.name]


def test_the_favourite_follows_alpha(
    committed: StudyData, final: dict[str, DataRow], regret: dict[str, float]
) -> None:
    names = OtherNames.at(TAIL_OVER_TIME)
    alpha_low = {policy: row["alpha_low"] for policy, row in final.items()}
    assert float(alpha_low[Variant("c/2", 0.01).name]) > TAIL_OVER_TIME + 0.05
    assert float(alpha_low[FAVOURITE.name]) == pytest.approx(TAIL_OVER_TIME, abs=0.01)
    (same,) = (row for row in committed.versus if row["other"] == names.patient_true)
    assert float(same["low95"]) < 0 < float(same["high95"])
    assert regret[names.patient_floor] > 3 * regret[FAVOURITE.name]


def test_leaving_zero_late_is_worse_than_not_leaving_it(regret: dict[str, float]) -> None:
    late = [Variant("printed", penalty) for penalty in PENALTIES[1:]]
    late.append(Variant("c/2", "paper"))
    best_late = min(regret[variant.name] for variant in late)
    assert best_late > regret[FAVOURITE.name] > regret[PRINTED.name]


def test_zero_is_left_no_earlier_than_predicted(committed: StudyData) -> None:
    for row in committed.departures:
        if float(row["predicted_pulls"]) > int(row["horizon"]):
            assert row["left"] == "0"
        elif row["left"] == row["runs"]:
            assert float(row["median"]) > 0.95 * float(row["predicted_pulls"])


def test_it_beats_ucb_only_where_both_are_worse_than_a_coin(committed: StudyData) -> None:
    wins = 0
    for gap in HARD_GAPS:
        rows = [row for row in committed.gaps if float(row["gap"]) == gap]
        share = {row["policy"]: wrong_share(row) for row in rows}
        if share["UCB1"] > share[FAVOURITE.name]:
            wins += 1
            assert share[FAVOURITE.name] > 0.5
    assert wins > 0
