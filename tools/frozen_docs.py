"""Brings the documents up to date with DelayBench's frozen numbers; the last step of `make freeze`.

Tables and sentences go between marks: into docs/compare.md and docs/which-policy.md. The heat map
by kind of problem, and the README's first figure with the numbers in its description, are redrawn.
"""

from __future__ import annotations

import re
import tempfile
import textwrap
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from patientbandits.research.compare.calendar_bench import ENDINGS, SHAPES
from patientbandits.research.compare.cases import DIRECTIONS
from patientbandits.research.compare.figures import heat_map
from patientbandits.research.compare.frozen import ALL_PROBLEMS, TABLE_COLUMNS, Rows, rows_of_file
from patientbandits.research.compare.scores import Standing
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
    tables = [*lost_table(scores), "", *ratio_table(standings), "", *losses_in_words(scores)]
    return "\n".join(tables) + "\n"


def lost_table(scores: Rows) -> list[str]:
    """Regrets on a few problems."""
    regret = {(row["problem"], row["policy"]): float(row["regret"]) for row in scores}
    lines = [
        "Rewards lost on some problems of [DelayBench 1](compare.md) by policies that are",
        "told nothing about the delays; the least is bold:",
        "",
        "| delays | " + " | ".join(SHOWN.values()) + " |",
        "|---|" + "---:|" * len(SHOWN),
    ]
    for problem, words in PROBLEMS.items():
        own = [regret[problem, policy] for policy in SHOWN]
        cells = [f"**{lost:.0f}**" if lost == min(own) else f"{lost:.0f}" for lost in own]
        lines.append(f"| {words} | " + " | ".join(cells) + " |")
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


def ratio_table(standings: Rows) -> list[str]:
    """Geometric means of the ratios to the best, in both directions."""
    by_place = {(row["kind"], row["policy"]): row for row in standings}
    headings = [heading for heading, _ in TABLE_COLUMNS]
    lines = [
        "All of its 75 problems, most of them both ways round, and a third drawn at random: regret",
        "over that of the best policy, whatever that is told (1 is best; geometric means):",
        "",
        "| policy | " + " | ".join(headings) + " | at worst |",
        "|---|" + "---:|" * (len(headings) + 1),
    ]
    for policy, name in SHOWN.items():
        cells = []
        for _, kind in TABLE_COLUMNS:
            typical = float(by_place[kind, policy]["typical"])
            least = min(float(by_place[kind, other]["typical"]) for other in SHOWN)
            cells.append(f"**{typical:.2f}**" if typical == least else f"{typical:.2f}")
        worst = by_place[ALL_PROBLEMS, policy]
        cells.append(f"{float(worst['worst']):.1f} ({worst['worst_problem']})")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def losses_in_words(scores: Rows) -> list[str]:
    """Where PatientThompson loses: on how many problems, and where most."""
    ours = [row for row in scores if row["policy"] == "PatientThompson" and row["ratio"]]
    lost = [row for row in ours if row["tied"] == "False"]
    lost.sort(key=lambda row: -float(row["ratio"]))
    named = []
    for row in lost[:LOSSES_NAMED]:
        winner = best_on(row["problem"], scores)
        named.append(f"{row['problem']} ({float(row['ratio']):.1f} times {winner})")
    words = (
        f"PatientThompson is the best, or not significantly worse, on {len(ours) - len(lost)} of "
        f"{len(ours)} problems, and loses most on {', '.join(named[:-1])} and {named[-1]}."
    )
    return textwrap.wrap(words, LINE)


def best_on(problem: str, scores: Rows) -> str:
    """Of those that see only rewards."""
    own = [row for row in scores if row["problem"] == problem and row["group"] != "reports"]
    return min(own, key=lambda row: float(row["regret"]))["policy"]


def draw_map(standings: Rows, stem: Path) -> None:
    """Policies by kinds of problem, as PNG; framed: the best of those that see only rewards."""
    kinds = list(dict.fromkeys(row["kind"] for row in standings))
    kinds.remove(ALL_PROBLEMS)
    cells = []
    for kind in kinds:
        own = [row for row in standings if row["kind"] == kind]
        least = min(float(row["typical"]) for row in own if row["group"] != "reports")
        for row in own:
            ratio = float(row["typical"])
            cells.append(KindCell(kind, row["policy"], ratio, tied=ratio == least))
    order = [standing_of(row) for row in standings if row["kind"] == ALL_PROBLEMS]
    heat_map(cells, order, kinds, stem, formats=("png",))


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


if __name__ == "__main__":
    main()
