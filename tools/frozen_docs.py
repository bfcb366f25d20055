"""Brings the documents up to date with DelayBench's frozen numbers; the last step of `make freeze`.

Tables and sentences go between marks: into docs/compare.md and docs/which-policy.md. The heat map
by kind of problem, and the README's first figure with the numbers in its description, are redrawn.
"""

from __future__ import annotations

import math
import re
import tempfile
import textwrap
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from patientbandits.research.compare.calendar_bench import ENDINGS, SHAPES
from patientbandits.research.compare.cases import DIRECTIONS
from patientbandits.research.compare.delay_bench import suite
from patientbandits.research.compare.figures import heat_map
from patientbandits.research.compare.frontier import draw_frontier, points
from patientbandits.research.compare.frozen import (
    ALL_PROBLEMS,
    TABLE_COLUMNS,
    Rows,
    counted,
    rows_of_file,
)
from patientbandits.research.compare.scores import Standing
from patientbandits.research.compare.spread import told_apart
from patientbandits.research.study import StudyRow, read_study, run_study

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
FROZEN = DOCS / "data" / "delay-bench-1"
TABLE = FROZEN / "summary.md"
PAGE = DOCS / "compare.md"
CHOICE = DOCS / "which-policy.md"
README = ROOT / "README.md"
BEGIN = "<!-- frozen -->\n"
END = "<!-- end of frozen -->\n"
STUDY = DOCS / "examples" / "slow-is-better.toml"
FIRST_FIGURE = DOCS / "images" / "slow-is-better.png"
MAP = DOCS / "images" / "heat-map.png"
FRONTIER = DOCS / "images" / "frontier.png"

SHOWN = {
    "PatientThompson": "PatientThompson",
    "BootstrappedThompson": "bootstrapped Thompson",
    "Thompson": "Thompson",
    "KLUCB": "KL-UCB",
    "DTS": "D-TS",
    "WindowThompson": "waiting Thompson",
}
"""policies that are told nothing, as docs/which-policy.md names them"""

PROBLEMS = {
    "heterogeneous": "heavy tails, the better arm slow (the paper's heterogeneous)",
    "slow_is_worst": "heavy tails, the worse arm slow",
    "log_normal": "log-normal, the better arm slow",
    "log_normal_mirrored": "log-normal, the worse arm slow",
    "two_modes_mirrored": "two modes, the worse arm slow",
    "drifting_rates": "rates that change",
    "no_delay": "none",
    "fifty_arms": "fifty arms, heavy tails",
}
"""problem -> the delays, in the words of docs/which-policy.md"""

LOSSES_NAMED = 3
LINE = 100


class KindCell(NamedTuple):
    """A policy on a kind of problem."""

    problem: str
    policy: str
    ratio: float
    tied: bool


def with_table(page: str, table: str) -> str:
    """The page with this between its marks instead of what it has."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{table}\n{END}{after}"


def choice_part(scores: Rows, standings: Rows) -> str:
    """Write what docs/which-policy.md says: rewards lost, ratios to the best, and losses."""
    tables = [
        *lost_table(scores),
        "",
        *ratio_table(scores, standings),
        "",
        *losses_in_words(scores),
    ]
    return "\n".join(tables) + "\n"


def lost_table(scores: Rows) -> list[str]:
    """Regrets on a few problems."""
    by_place = {(row["problem"], row["policy"]): row for row in scores}
    lines = [
        "Rewards lost on some problems of [DelayBench 1](compare.md) by policies that are",
        "told nothing about the delays; the least is bold if it is told apart from all the others:",
        "",
        "| delays | " + " | ".join(SHOWN.values()) + " |",
        "|---|" + "---:|" * len(SHOWN),
    ]
    for problem, words in PROBLEMS.items():
        own = [by_place[problem, policy] for policy in SHOWN]
        best = least_of(own)
        cells = [f"{float(row['regret']):.0f}" for row in own]
        lines.append(f"| {words} | " + " | ".join(with_bold(cells, best)) + " |")
    return lines


def calendar_table(scores: Rows) -> str:
    """DelayBench 2's calendar part in docs/compare.md: regret by shape, and by direction."""
    shapes = [shape.name for shape in SHAPES]
    regret = {(row["problem"], row["policy"]): float(row["regret"]) for row in scores}
    rows = []
    for policy in dict.fromkeys(row["policy"] for row in scores):

        def mean(names: list[str], own: str = policy) -> float:
            return fmean(regret[name, own] for name in names)

        by_shape = [mean([shape + end for end in ENDINGS.values()]) for shape in shapes]
        one_way = [mean([shape + ENDINGS[way] for shape in shapes]) for way in DIRECTIONS]
        rows.append((fmean(by_shape), policy, [*by_shape, *one_way]))
    lines = [
        "| policy | " + " | ".join(shapes) + " | all, slow best | all, slow worst |",
        "|---|" + "---:|" * (len(shapes) + 2),
    ]
    for _, policy, cells in sorted(rows):
        lines.append(f"| {policy} | " + " | ".join(f"{cell:.0f}" for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def least_of(rows: Rows) -> int | None:
    """The place of the least regret; None if it is not told apart from all the others.

    Their runs are paired, so taking them for independent errs on the safe side.
    """
    regrets = [float(row["regret"]) for row in rows]
    errors = [(float(row["high"]) - float(row["low"])) / 2 for row in rows]
    best = min(range(len(rows)), key=regrets.__getitem__)
    for place, regret in enumerate(regrets):
        if place != best and regret - regrets[best] <= math.hypot(errors[place], errors[best]):
            return None
    return best


def with_bold(cells: list[str], place: int | None) -> list[str]:
    return [f"**{cell}**" if number == place else cell for number, cell in enumerate(cells)]


def ratio_table(scores: Rows, standings: Rows) -> list[str]:
    """Geometric means of the ratios to the best, in both directions."""
    columns = [ratio_column(kind, scores, standings) for _, kind in TABLE_COLUMNS]
    by_place = {(row["kind"], row["policy"]): row for row in standings}
    headings = [heading for heading, _ in TABLE_COLUMNS]
    lines = [
        "All of its 75 problems, most of them both ways round, and a third drawn at random: regret",
        "over that of the best policy, whatever that is told (1 is best; geometric means with 95 %",
        "intervals over problems; bold: the least, if told apart from all the others):",
        "",
        "| policy | " + " | ".join(headings) + " | best or tied | at worst |",
        "|---|" + "---:|" * (len(headings) + 2),
    ]
    for place, (policy, name) in enumerate(SHOWN.items()):
        cells = [column[place] for column in columns]
        row = by_place[ALL_PROBLEMS, policy]
        cells += [row["good"], f"{float(row['worst']):.1f} ({row['worst_problem']})"]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def ratio_column(kind: str, scores: Rows, standings: Rows) -> list[str]:
    """The cells of the policies shown, on the problems of a kind."""
    by_policy = {row["policy"]: row for row in standings if row["kind"] == kind}
    names = {case.name for case in suite() if kind in (ALL_PROBLEMS, *case.kinds)}
    logs: dict[str, dict[str, float]] = {policy: {} for policy in SHOWN}
    for row in scores:
        if row["policy"] in SHOWN and row["problem"] in names and row["ratio"]:
            logs[row["policy"]][row["problem"]] = math.log(float(row["ratio"]))
    best = min(SHOWN, key=lambda policy: float(by_policy[policy]["typical"]))
    others = [policy for policy in SHOWN if policy != best]
    alone = all(told_apart(logs[policy], logs[best]) for policy in others)
    cells = [
        f"{float(row['typical']):.2f} ({float(row['low']):.2f}–{float(row['high']):.2f})"
        for row in map(by_policy.__getitem__, SHOWN)
    ]
    return with_bold(cells, list(SHOWN).index(best) if alone else None)


def losses_in_words(scores: Rows) -> list[str]:
    """Where PatientThompson loses: on how many problems, and where most."""
    ours = [row for row in scores if row["policy"] == "PatientThompson" and row["ratio"]]
    lost = [row for row in ours if row["tied"] == "False"]
    lost.sort(key=lambda row: -float(row["ratio"]))
    rivals = sorted(SHOWN, key=lambda policy: -good_of(policy, scores))
    counts = [f"{SHOWN[policy]} on {good_of(policy, scores)}" for policy in rivals]
    named = []
    for row in lost[:LOSSES_NAMED]:
        winner = best_on(row["problem"], scores)
        named.append(f"{row['problem']} ({float(row['ratio']):.1f} times {winner})")
    words = (
        f"PatientThompson is the best, or not significantly worse, on {len(ours) - len(lost)} of "
        f"{len(ours)} problems, and loses most on {', '.join(named[:-1])} and {named[-1]}. "
        f"The same count for all of these: {', '.join(counts)}."
    )
    return textwrap.wrap(words, LINE)


def good_of(policy: str, scores: Rows) -> int:
    """On how many problems it is the best or tied."""
    own = [row for row in scores if row["policy"] == policy and row["ratio"]]
    return sum(row["tied"] == "True" for row in own)


def best_on(problem: str, scores: Rows) -> str:
    """Of those that are counted."""
    own = counted([row for row in scores if row["problem"] == problem])
    return min(own, key=lambda row: float(row["regret"]))["policy"]


def draw_map(standings: Rows, stem: Path) -> None:
    """Policies by kinds of problem, as PNG; framed: not told apart from the best."""
    kinds = list(dict.fromkeys(row["kind"] for row in standings))
    kinds.remove(ALL_PROBLEMS)
    cells = []
    for kind in kinds:
        own = [row for row in standings if row["kind"] == kind]
        for row in own:
            ratio = float(row["typical"])
            cells.append(KindCell(kind, row["policy"], ratio, tied=row["level"] == "True"))
    order = [standing_of(row) for row in standings if row["kind"] == ALL_PROBLEMS]
    small = {row["kind"] for row in standings if not row["low"]}
    heat_map(cells, order, kinds, stem, formats=("png",), small=small)


class LostCell(NamedTuple):
    """A policy's regret on a problem."""

    problem: str
    policy: str
    group: str
    regret: float


def draw_frontier_of(scores: Rows, stem: Path) -> None:
    """Theorem E's figure, as PNG."""
    cells = [
        LostCell(row["problem"], row["policy"], row["group"], float(row["regret"]))
        for row in scores
    ]
    draw_frontier(points(suite(), cells), stem, formats=("png",))


def standing_of(row: dict[str, str]) -> Standing:
    """The row as it was before it was written."""
    return Standing(
        policy=row["policy"],
        group=row["group"],
        problems=int(row["problems"]),
        per_1000=float(row["per_1000"]),
        typical=float(row["typical"]),
        to_oracle=float(row["to_oracle"]),
        worst=float(row["worst"]),
        worst_problem=row["worst_problem"],
        good=int(row["good"]),
    )


def first_figure() -> list[StudyRow]:
    """Plays the README's study again, and draws its figure."""
    with tempfile.TemporaryDirectory() as folder:
        rows = run_study(read_study(STUDY), folder)
        FIRST_FIGURE.write_bytes((Path(folder) / "regret.png").read_bytes())
    return rows


def with_description(readme: str, rows: list[StudyRow]) -> str:
    """The README with the regrets of ``rows`` in the description of its first figure."""
    told = []
    for row in rows:
        name = re.split(r"[,(]", row.policy)[0]
        told.append(f"{name} {row.regret:.0f}")
    words = f"Regret over 5000 rounds when the better arm is the slow one: {', '.join(told)}."
    place = r"!\[Regret over 5000 rounds[^\]]*\]"
    return re.sub(place, "\n".join(textwrap.wrap(f"![{words}]", LINE)), readme)


def main() -> None:
    scores = rows_of_file(FROZEN / "scores.csv")
    standings = rows_of_file(FROZEN / "standings.csv")
    PAGE.write_text(with_table(PAGE.read_text(), TABLE.read_text()))
    CHOICE.write_text(with_table(CHOICE.read_text(), choice_part(scores, standings)))
    README.write_text(with_description(README.read_text(), first_figure()))
    draw_map(standings, MAP.with_suffix(""))
    draw_frontier_of(scores, FRONTIER.with_suffix(""))


if __name__ == "__main__":
    main()
