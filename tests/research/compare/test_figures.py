"""The comparison's figures: what is drawn where, and that it can be read."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from made_curves import ROUNDS, made_result

from patientbandits.research.compare import figures
from patientbandits.research.compare.contenders import GROUPS
from patientbandits.research.compare.figures import (
    MOST_COLUMNS,
    MOST_CURVES,
    curve_panel,
    even_parts,
    heat_map,
    rows_by_group,
    short,
    with_curve,
)
from patientbandits.research.compare.scores import Standing


def standing(policy: str, group: str, typical: float) -> Standing:
    return Standing(
        policy=policy,
        group=group,
        problems=2,
        per_1000=1.0,
        typical=typical,
        to_oracle=None,
        worst=typical,
        worst_problem="a",
        good=1,
    )


@pytest.mark.parametrize("count", [1, MOST_COLUMNS, MOST_COLUMNS + 1, 3 * MOST_COLUMNS - 1])
def test_problems_are_split_evenly(count: int) -> None:
    problems = [f"p{number}" for number in range(count)]
    parts = even_parts(problems)
    assert [name for part in parts for name in part] == problems
    sizes = [len(part) for part in parts]
    assert max(sizes) <= MOST_COLUMNS
    assert len(parts) == -(-count // MOST_COLUMNS)


@pytest.mark.parametrize(
    ("ratio", "text"),
    [(1.0, "1.00"), (9.94, "9.94"), (9.96, "10"), (999.4, "999"), (1000.0, "1e3"), (1e12, "1e+12")],
)
def test_ratios_are_short(ratio: float, text: str) -> None:
    assert short(ratio) == text


def test_the_best_of_each_group_is_above() -> None:
    order = [
        standing("slow", "nothing", 2.0),
        standing("told", "law", 1.1),
        standing("fast", "nothing", 1.2),
    ]
    layout = rows_by_group(order)
    assert [words for _, words in layout.headings] == [GROUPS["nothing"], GROUPS["law"]]
    by_place = sorted(layout.places, key=layout.places.__getitem__)
    assert by_place == ["fast", "slow", "told"]
    assert max(layout.places.values()) < layout.height


def test_too_many_policies_have_no_curve_each() -> None:
    names = [f"policy {number}" for number in range(MOST_CURVES + 3)]
    assert with_curve(names[:MOST_CURVES], []) == names[:MOST_CURVES]
    assert with_curve(names, names[2:4]) == names[2:4]
    assert with_curve(names, []) == names[:MOST_CURVES]


def test_the_axis_is_logarithmic_where_ends_are_far_apart() -> None:
    flat = made_result(0.0 * ROUNDS + 3.0, ROUNDS, 0.01, 1)
    linear = made_result(0.1 * ROUNDS, ROUNDS, 0.01, 2)
    groups = {"flat": "nothing", "linear": "law"}
    panel = curve_panel("far", {"flat": flat, "linear": linear}, groups)
    assert (panel.title, panel.yscale) == ("far (logarithmic)", "log")
    assert min(float(np.min(line.y)) for line in panel.lines) > 0
    assert [line.dash for line in panel.lines] == ["-", "--"]
    near = curve_panel("near", {"flat": flat}, groups)
    assert (near.title, near.yscale) == ("near", "linear")


class Cell(NamedTuple):
    problem: str = "a"
    policy: str = "fast"
    ratio: float = 1.0
    tied: bool = True


def test_the_heat_map_is_drawn(tmp_path: Path) -> None:
    order = [standing("fast", "nothing", 1.0)]
    heat_map([Cell()], order, ["a"], tmp_path / "map", formats=("svg",))
    text = (tmp_path / "map.svg").read_text()
    assert text.startswith("<?xml")


def test_only_what_is_told_apart_from_all_others_is_bold(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[tuple[str, bool]] = []
    monkeypatch.setattr(
        figures,
        "_draw_cell",
        lambda axis, row, x, y, alone: drawn.append((f"{row.policy} {row.problem}", alone)),
    )
    order = [standing("fast", "nothing", 1.0), standing("slow", "nothing", 1.5)]
    cells = [Cell(), Cell(policy="slow", ratio=1.5, tied=False), Cell("b"), Cell("b", "slow")]
    heat_map(cells, order, ["a", "b"], Path("nowhere"), formats=())
    assert [name for name, alone in drawn if alone] == ["fast a", "slow a"], "nobody is level on a"
    drawn.clear()
    heat_map(cells, order, ["a", "b"], Path("nowhere"), formats=(), small=["a"])
    assert not any(alone for _, alone in drawn), "too few problems to say so"
