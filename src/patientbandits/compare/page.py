"""A comparison as a page, figures and data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from patientbandits.compare.contenders import GROUPS
from patientbandits.compare.pictures import curve_panel, curves, heat_map, with_curve
from patientbandits.pages import render_page, write_csv
from patientbandits.result import plain, write_atomically

if TYPE_CHECKING:
    from patientbandits.compare.run import Comparison

PAGE = "comparison.html"


def write(found: Comparison, folder: Path) -> None:
    """comparison.html, comparison.json, data/*.csv, figures/*.png and *.svg."""
    figures = folder / "figures"
    names = [player.name for player in found.contenders]
    counted = [case for case in found.cases if case.counted]
    shown = with_curve(names, [player.name for player in found.contenders if player.quick])
    if counted:
        heat_map(
            found.scores, found.standings, [case.name for case in counted], figures / "heat_map"
        )
        panels = [
            curve_panel(
                case.name,
                {name: found.results[case.name, name] for name in shown},
                found.groups,
                shown,
            )
            for case in counted
        ]
        curves(panels, figures / "curves")
    _write_data(found, folder)
    page = render_page(
        "compare/comparison.html.j2",
        figures,
        found=found,
        groups=GROUPS,
        counted=counted,
        shown=shown,
        by_problem={
            case.name: sorted(
                (s for s in found.scores if s.problem == case.name), key=lambda s: s.regret
            )
            for case in found.cases
        },
        ranking={
            group: [s for s in found.standings if s.group == group]
            for group in GROUPS
            if group in found.groups.values()
        },
        notes={player.name: player.note for player in found.contenders},
        arms=sorted({arms for _, arms in found.seconds_per_round}),
        fastest=sorted(
            names,
            key=lambda name: min(
                seconds for (other, _), seconds in found.seconds_per_round.items() if other == name
            ),
        ),
        met=sum(bar.met for bar in found.bars),
    )
    write_atomically(folder / PAGE, page.encode())


def _write_data(found: Comparison, folder: Path) -> None:
    write_atomically(
        folder / "comparison.json", json.dumps(found.data(), indent=1, default=plain).encode()
    )
    tables: dict[str, Sequence[Any]] = {
        "scores": found.scores,
        "standings": found.standings,
        "bars": found.bars,
    }
    for name, rows in tables.items():
        if rows:
            records = [asdict(row) for row in rows]
            write_csv(
                folder / "data" / f"{name}.csv",
                list(records[0]),
                ([_cell(cell) for cell in record.values()] for record in records),
            )
    write_csv(
        folder / "data" / "curves.csv",
        ("problem", "policy", "round", "mean", "low95", "high95"),
        (
            (problem, policy, int(t), float(mean), float(low), float(high))
            for (problem, policy), result in found.results.items()
            for t, mean, low, high in zip(
                result.rounds, result.mean(), *result.interval(), strict=True
            )
        ),
    )
    write_csv(
        folder / "data" / "speed.csv",
        ("policy", "arms", "seconds_per_round"),
        ((policy, arms, seconds) for (policy, arms), seconds in found.seconds_per_round.items()),
    )


def _cell(value: object) -> object:
    if isinstance(value, tuple):
        return " ".join(f"{part:.6g}" for part in value)
    return "" if value is None else int(value) if isinstance(value, bool) else value
