"""A comparison: its numbers, its page with figures and data, and its summary for the terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from patientbandits._util.files import json_default, write_atomically, write_csv
from patientbandits.plotting import render_page
from patientbandits.research.compare.advice import Advice
from patientbandits.research.compare.cases import DIRECTIONS, PROBLEM_KINDS, Case
from patientbandits.research.compare.contenders import GROUPS, Contender
from patientbandits.research.compare.delay_bench import SUITE_SEED, Suite
from patientbandits.research.compare.figures import curve_panel, draw_curves, heat_map, with_curve
from patientbandits.research.compare.frontier import draw_frontier, points
from patientbandits.research.compare.scores import Score, Standing
from patientbandits.research.compare.targets import MeasuredTarget
from patientbandits.simulation import Result

RANKING_HEADS = (
    "policy",
    "on the whole",
    "95 %, over problems",
    "at worst",
    "on",
    "best or tied",
    *DIRECTIONS,
    "to the oracle",
    "per 1000 rounds",
    "µs per round",
    "",
)

SEES = {
    "nothing": "",
    "bound": "knows a bound",
    "law": "knows the law",
    "factors": "knows the factors",
    "tuned": "tuned",
    "reports": "sees more",
}

Table = list[tuple[str, ...]]
"""the first row is the heading"""


@dataclass(frozen=True)
class Comparison:
    """Results of `run`, with everything computed from them."""

    cases: tuple[Case, ...]
    contenders: tuple[Contender, ...]
    groups: dict[str, str]
    """contender -> what it has to go on, of `GROUPS`"""
    results: dict[tuple[str, str], Result]
    """(problem, contender)"""
    scores: list[Score]
    standings: list[Standing]
    by_kind: dict[str, list[Standing]]
    """kind of problem -> every policy's standing on the problems of that kind"""
    advice: list[Advice]
    bars: list[MeasuredTarget]
    seconds_per_round: dict[tuple[str, int], float]
    """(contender, arms), on one core"""
    seed: int
    rounds: int
    suite: Suite

    def counted(self) -> list[Case]:
        """The problems on which regret says anything."""
        return [case for case in self.cases if case.counted]

    def data(self) -> dict[str, Any]:
        """Plain data with all numbers."""
        return {
            "suite": self.suite.name,
            "seed": self.seed,
            "rounds": self.rounds,
            "problems": [_case_data(case) for case in self.cases],
            "policies": [self._contender_data(contender) for contender in self.contenders],
            "groups": GROUPS,
            "scores": list(map(asdict, self.scores)),
            "standings": list(map(asdict, self.standings)),
            "by_kind": {kind: list(map(asdict, own)) for kind, own in self.by_kind.items()},
            "advice": list(map(asdict, self.advice)),
            "bars": list(map(asdict, self.bars)),
            "seconds_per_round": [
                {"policy": name, "arms": arms, "seconds": seconds}
                for (name, arms), seconds in self.seconds_per_round.items()
            ],
        }

    def _contender_data(self, contender: Contender) -> dict[str, Any]:
        return {
            "name": contender.name,
            "group": self.groups[contender.name],
            "note": contender.note,
            "new": contender.new,
        }


def _case_data(case: Case) -> dict[str, Any]:
    return {
        "name": case.name,
        "what": case.what,
        "tests": case.tests,
        "horizon": case.horizon,
        "runs": case.runs,
        "kinds": list(case.kinds),
        "problem": case.problem.describe(),
    }


def write(comparison: Comparison, folder: Path) -> None:
    """comparison.html, comparison.json, data/*.csv, figures/*.png and *.svg."""
    names = [player.name for player in comparison.contenders]
    featured = [player.name for player in comparison.contenders if player.quick]
    curve_names = with_curve(names, featured)
    figures = folder / "figures"
    if comparison.counted():
        _draw(comparison, curve_names, figures)
    _write_data(comparison, folder)
    groups = [group for group in GROUPS if group in comparison.groups.values()]
    page = render_page(
        "research/compare/comparison.html.j2",
        figures,
        comparison=comparison,
        groups=GROUPS,
        suite=comparison.suite,
        frozen=comparison.seed == SUITE_SEED,
        kinds=PROBLEM_KINDS,
        counted=comparison.counted(),
        curve_names=curve_names,
        by_problem={case.name: _by_regret(comparison, case.name) for case in comparison.cases},
        ranking={
            group: [standing for standing in comparison.standings if standing.group == group]
            for group in groups
        },
        notes={player.name: player.note for player in comparison.contenders},
        arms=sorted({arms for _, arms in comparison.seconds_per_round}),
        fastest=sorted(names, key=lambda name: _least_seconds(comparison, name)),
        met=sum(bar.met for bar in comparison.bars),
    )
    write_atomically(folder / "comparison.html", page.encode())


def _draw(comparison: Comparison, curve_names: Sequence[str], figures: Path) -> None:
    cases = comparison.counted()
    # 25 random problems more would make both figures unreadable; alone they are drawn.
    problems = [case.name for case in cases if "random" not in case.kinds]
    problems = problems or [case.name for case in cases]
    shown_rows = [row for row in comparison.scores if row.problem in problems]
    heat_map(shown_rows, comparison.standings, problems, figures / "heat_map")
    if pair := points(cases, comparison.scores):
        draw_frontier(pair, figures / "frontier")
    panels = []
    for problem in problems:
        results = {name: comparison.results[problem, name] for name in curve_names}
        panels.append(curve_panel(problem, results, comparison.groups))
    draw_curves(panels, figures / "curves")


def _by_regret(comparison: Comparison, problem: str) -> list[Score]:
    own = [score for score in comparison.scores if score.problem == problem]
    return sorted(own, key=lambda score: score.regret)


def _least_seconds(comparison: Comparison, policy: str) -> float:
    return min(
        seconds for (name, _), seconds in comparison.seconds_per_round.items() if name == policy
    )


def _write_data(comparison: Comparison, folder: Path) -> None:
    text = json.dumps(comparison.data(), indent=1, default=json_default)
    write_atomically(folder / "comparison.json", text.encode())
    data = folder / "data"
    tables: dict[str, Sequence[Any]] = {
        "scores": comparison.scores,
        "standings": comparison.standings,
        "bars": comparison.bars,
    }
    for name, rows in tables.items():
        if rows:
            records = [asdict(row) for row in rows]
            cells = [[_cell(value) for value in record.values()] for record in records]
            write_csv(data / f"{name}.csv", list(records[0]), cells)
    write_csv(
        data / "curves.csv",
        ("problem", "policy", "round", "mean", "low95", "high95"),
        _curve_rows(comparison),
    )
    write_csv(
        data / "speed.csv",
        ("policy", "arms", "seconds_per_round"),
        [(*key, seconds) for key, seconds in comparison.seconds_per_round.items()],
    )


def _curve_rows(comparison: Comparison) -> Iterator[tuple[object, ...]]:
    for key, result in comparison.results.items():
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


def summary(comparison: Comparison) -> list[tuple[str, Table]]:
    """(heading, table) of each part, for the terminal."""
    parts = []
    if comparison.standings:
        heading = "Regret relative to the best policy that sees only rewards (1 is best)"
        parts.append((heading, _ranking(comparison)))
    if comparison.bars:
        heading = f"Bars: ratios of regret, paired, {comparison.bars[0].runs} runs"
        parts.append((heading, _bars(comparison)))
    if comparison.advice:
        table: Table = [("situation", "answer")]
        table += [(part.when, part.use) for part in comparison.advice]
        parts.append(("Which policy?", table))
    return parts


def _ranking(comparison: Comparison) -> Table:
    fewest = min(arms for _, arms in comparison.seconds_per_round)
    table: Table = [RANKING_HEADS]
    for standing in comparison.standings:
        seconds = comparison.seconds_per_round.get((standing.policy, fewest))
        row = (
            standing.policy,
            f"{standing.typical:.2f}",
            "" if standing.low is None else f"{standing.low:.2f} .. {standing.high:.2f}",
            f"{standing.worst:.1f}",
            standing.worst_problem,
            f"{standing.good} of {standing.problems}",
            *(_typical(comparison, kind, standing.policy) for kind in DIRECTIONS),
            "" if standing.to_oracle is None else f"{standing.to_oracle:.2f}",
            f"{standing.per_1000:.1f}",
            "" if seconds is None else f"{1e6 * seconds:.2f}",
            SEES[standing.group],
        )
        table.append(row)
    return table


def _typical(comparison: Comparison, kind: str, policy: str) -> str:
    """The geometric mean of the policy's ratios on problems of this kind."""
    for standing in comparison.by_kind.get(kind, []):
        if standing.policy == policy:
            return f"{standing.typical:.2f}"
    return ""


def _bars(comparison: Comparison) -> Table:
    table: Table = [("bar", "ratio", "95 % interval", "at most", "")]
    for bar in comparison.bars:
        row = (
            bar.name,
            f"{bar.ratio:.3f}",
            f"{bar.low:.3f} .. {bar.high:.3f}",
            f"{bar.limit:g}",
            "met" if bar.met else "MISSED",
        )
        table.append(row)
    return table
