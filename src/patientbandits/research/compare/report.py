"""A comparison as a page, figures and data, and in a few lines for the terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from patientbandits._util.files import json_default, write_atomically, write_csv
from patientbandits.plotting import render_page
from patientbandits.research.compare.comparison import Comparison
from patientbandits.research.compare.contenders import GROUPS
from patientbandits.research.compare.delay_bench import DELAY_BENCH, SUITE_SEED
from patientbandits.research.compare.heat_map import heat_map
from patientbandits.research.compare.regret_curves import curve_panel, draw_curves, with_curve
from patientbandits.research.compare.scores import Score
from patientbandits.research.compare.suite import DIRECTIONS, PROBLEM_KINDS

RANKING_HEADS = (
    "policy",
    "on the whole",
    "at worst",
    "on",
    "best or near",
    *DIRECTIONS,
    "to the oracle",
    "per 1000 rounds",
    "µs per round",
    "",
)
SEES = {"nothing": "", "bound": "told a bound", "law": "told the law", "reports": "sees more"}

Table = list[tuple[str, ...]]
"""the first row is the heading"""


def write(found: Comparison, folder: Path) -> None:
    """comparison.html, comparison.json, data/*.csv, figures/*.png and *.svg."""
    names = [player.name for player in found.contenders]
    featured = [player.name for player in found.contenders if player.quick]
    shown = with_curve(names, featured)
    figures = folder / "figures"
    if found.counted():
        _draw(found, shown, figures)
    _write_data(found, folder)
    groups = [group for group in GROUPS if group in found.groups.values()]
    page = render_page(
        "research/compare/comparison.html.j2",
        figures,
        found=found,
        groups=GROUPS,
        suite=DELAY_BENCH,
        frozen=found.seed == SUITE_SEED,
        kinds=PROBLEM_KINDS,
        counted=found.counted(),
        shown=shown,
        by_problem={case.name: _by_regret(found, case.name) for case in found.cases},
        ranking={
            group: [standing for standing in found.standings if standing.group == group]
            for group in groups
        },
        notes={player.name: player.note for player in found.contenders},
        arms=sorted({arms for _, arms in found.seconds_per_round}),
        fastest=sorted(names, key=lambda name: _least_seconds(found, name)),
        met=sum(bar.met for bar in found.bars),
    )
    write_atomically(folder / "comparison.html", page.encode())


def _draw(found: Comparison, shown: Sequence[str], figures: Path) -> None:
    cases = found.counted()
    problems = [case.name for case in cases if "random" not in case.kinds]
    problems = problems or [case.name for case in cases]
    shown_rows = [row for row in found.scores if row.problem in problems]
    heat_map(shown_rows, found.standings, problems, figures / "heat_map")
    panels = []
    for problem in problems:
        results = {name: found.results[problem, name] for name in shown}
        panels.append(curve_panel(problem, results, found.groups))
    draw_curves(panels, figures / "curves")


def _by_regret(found: Comparison, problem: str) -> list[Score]:
    own = [score for score in found.scores if score.problem == problem]
    return sorted(own, key=lambda score: score.regret)


def _least_seconds(found: Comparison, policy: str) -> float:
    return min(seconds for (name, _), seconds in found.seconds_per_round.items() if name == policy)


def _write_data(found: Comparison, folder: Path) -> None:
    text = json.dumps(found.data(), indent=1, default=json_default)
    write_atomically(folder / "comparison.json", text.encode())
    data = folder / "data"
    tables: dict[str, Sequence[Any]] = {
        "scores": found.scores,
        "standings": found.standings,
        "bars": found.bars,
    }
    for name, rows in tables.items():
        if rows:
            records = [asdict(row) for row in rows]
            cells = [[_cell(value) for value in record.values()] for record in records]
            write_csv(data / f"{name}.csv", list(records[0]), cells)
    write_csv(
        data / "curves.csv",
        ("problem", "policy", "round", "mean", "low95", "high95"),
        _curve_rows(found),
    )
    write_csv(
        data / "speed.csv",
        ("policy", "arms", "seconds_per_round"),
        [(*key, seconds) for key, seconds in found.seconds_per_round.items()],
    )


def _curve_rows(found: Comparison) -> Iterator[tuple[object, ...]]:
    for key, result in found.results.items():
        low, high = result.interval()
        for t, *numbers in zip(result.rounds, result.mean(), low, high, strict=True):
            yield (*key, int(t), *map(float, numbers))


def _cell(value: object) -> object:
    if isinstance(value, tuple):
        return " ".join(f"{part:.6g}" for part in value)
    if value is None:
        return ""
    if isinstance(value, bool):
        return int(value)
    return value


def summary(found: Comparison) -> list[tuple[str, Table]]:
    """(heading, table) of each part, for the terminal."""
    parts = []
    if found.standings:
        heading = "Regret relative to the best policy that sees only rewards (1 is best)"
        parts.append((heading, _ranking(found)))
    if found.bars:
        heading = f"Bars: ratios of regret, paired, {found.bars[0].runs} runs"
        parts.append((heading, _bars(found)))
    if found.advice:
        table: Table = [("situation", "answer")]
        table += [(part.when, part.use) for part in found.advice]
        parts.append(("Which policy?", table))
    return parts


def _ranking(found: Comparison) -> Table:
    fewest = min(arms for _, arms in found.seconds_per_round)
    table: Table = [RANKING_HEADS]
    for standing in found.standings:
        seconds = found.seconds_per_round.get((standing.policy, fewest))
        row = (
            standing.policy,
            f"{standing.typical:.2f}",
            f"{standing.worst:.1f}",
            standing.worst_problem,
            f"{standing.good} of {standing.problems}",
            *(_typical(found, kind, standing.policy) for kind in DIRECTIONS),
            "" if standing.to_oracle is None else f"{standing.to_oracle:.2f}",
            f"{standing.per_1000:.1f}",
            "" if seconds is None else f"{1e6 * seconds:.2f}",
            SEES[standing.group],
        )
        table.append(row)
    return table


def _typical(found: Comparison, kind: str, policy: str) -> str:
    """The geometric mean of the policy's ratios on problems of this kind."""
    for standing in found.by_kind.get(kind, []):
        if standing.policy == policy:
            return f"{standing.typical:.2f}"
    return ""


def _bars(found: Comparison) -> Table:
    table: Table = [("bar", "ratio", "95 % interval", "at most", "")]
    for bar in found.bars:
        row = (
            bar.name,
            f"{bar.ratio:.3f}",
            f"{bar.low:.3f} .. {bar.high:.3f}",
            f"{bar.limit:g}",
            "met" if bar.met else "MISSED",
        )
        table.append(row)
    return table
