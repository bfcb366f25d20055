"""What the page says of the curves over time."""

from __future__ import annotations

import pytest

from patientbandits.research.paper.adaptivity import over_time
from patientbandits.research.paper.adaptivity.data import DataRow, StudyData
from patientbandits.research.paper.adaptivity.variants import (
    FAVOURITE,
    PRINTED,
    OtherNames,
    Variant,
)


def test_adapting_gains_nothing_over_ucb(regret: dict[str, float]) -> None:
    names = OtherNames.at(over_time.TAIL)
    adapting = [regret[policy] for policy in regret if policy.startswith("Adapt")]
    assert regret[names.ucb] < min(adapting)
    better = (names.kl_true, names.kl_floor, over_time.THOMPSON)
    assert max(regret[policy] for policy in better) < regret[FAVOURITE.name]


def test_the_favourite_follows_alpha(
    committed: StudyData, final: dict[str, DataRow], regret: dict[str, float]
) -> None:
    names = OtherNames.at(over_time.TAIL)
    alpha_low = {policy: row["alpha_low"] for policy, row in final.items()}
    assert float(alpha_low[Variant("c/2", 0.01).name]) > over_time.TAIL + 0.05
    assert float(alpha_low[FAVOURITE.name]) == pytest.approx(over_time.TAIL, abs=0.01)
    (same,) = (row for row in committed.versus if row["other"] == names.patient_true)
    assert float(same["low95"]) < 0 < float(same["high95"])
    assert regret[names.patient_floor] > 3 * regret[FAVOURITE.name]


def test_leaving_zero_late_is_worse_than_not_leaving_it(regret: dict[str, float]) -> None:
    late = [Variant("printed", penalty) for penalty in over_time.PENALTIES[1:]]
    late.append(Variant("c/2", "paper"))
    best_late = min(regret[variant.name] for variant in late)
    assert best_late > regret[FAVOURITE.name] > regret[PRINTED.name]
