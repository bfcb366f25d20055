"""DelayBench's numbers, kept: what a full comparison found, as data to be committed."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from patientbandits._util.files import write_atomically
from patientbandits._version import __version__
from patientbandits.errors import require
from patientbandits.research.compare.cases import SLOW_BEST, SLOW_WORST
from patientbandits.research.compare.comparison import Comparison
from patientbandits.research.compare.contenders import NOT_COUNTED, contenders
from patientbandits.research.compare.delay_bench import DELAY_BENCH, SUITE_SEED, suite
from patientbandits.research.compare.tuned import tuned_contenders

SCORE_COLUMNS = ("problem", "policy", "group", "runs", "regret", "low", "high", "tied")
RATIO_COLUMNS = ("ratio", "ratio_low", "ratio_high", "to_oracle", "to_oracle_low", "to_oracle_high")
STANDING_COLUMNS = (
    "problems",
    "per_1000",
    "typical",
    "to_oracle",
    "worst",
    "worst_problem",
    "good",
    "low",
    "high",
    "level",
)
ALL_PROBLEMS = "all"
TABLE_COLUMNS = (
    ("on the whole", ALL_PROBLEMS),
    (SLOW_BEST, SLOW_BEST),
    (SLOW_WORST, SLOW_WORST),
    ("random", "random"),
)
"""heading -> kind of problem"""

Rows = list[dict[str, str]]


def write_frozen(comparison: Comparison, folder: Path) -> None:
    """Write scores.csv, standings.csv and summary.md, only of the whole suite with its seed."""
    rule = f"only all of {DELAY_BENCH} with its own seed, {SUITE_SEED}, can be frozen"
    # Frozen numbers go into documents: a part of the suite would look as if it were the whole.
    whole = comparison.cases == suite() and comparison.seed == SUITE_SEED
    everybody = [player.name for player in (*contenders(), *tuned_contenders())]
    complete = whole and [player.name for player in comparison.contenders] == everybody
    require(complete, "compare", rule, problems=len(comparison.cases), seed=comparison.seed)
    folder.mkdir(parents=True, exist_ok=True)
    columns = (*SCORE_COLUMNS, *RATIO_COLUMNS)
    rows = [[exact(getattr(row, column)) for column in columns] for row in comparison.scores]
    write_lines(folder / "scores.csv", columns, rows)
    standings = standing_rows(comparison)
    write_lines(folder / "standings.csv", ("kind", "policy", "group", *STANDING_COLUMNS), standings)
    table = summary_table(rows_of_file(folder / "standings.csv"))
    write_atomically(folder / "summary.md", table.encode())


def standing_rows(comparison: Comparison) -> list[list[str]]:
    """Rows of the standings on all problems, then kind by kind."""
    rows = []
    for kind, own in {ALL_PROBLEMS: comparison.standings, **comparison.by_kind}.items():
        for standing in own:
            numbers = [exact(getattr(standing, column)) for column in STANDING_COLUMNS]
            rows.append([kind, standing.policy, standing.group, *numbers])
    return rows


def exact(value: object) -> str:
    """A number to the last bit; nothing for None."""
    if value is None:
        return ""
    if isinstance(value, float):
        return repr(value)
    return str(value)


def write_lines(path: Path, heading: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write rows with commas between the cells, nothing quoted: no name has a comma."""
    lines = [",".join(heading), *(",".join(row) for row in rows)]
    write_atomically(path, ("\n".join(lines) + "\n").encode())


def rows_of_file(path: Path) -> Rows:
    """The rows of a file, by heading."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def counted(rows: Rows) -> Rows:
    """Those from which the best of a problem is chosen: nobody among them is below it."""
    return [
        row for row in rows if row["group"] not in NOT_COUNTED and float(row["ratio"] or 1.0) >= 1.0
    ]


def summary_table(standings: Rows) -> str:
    """Table in Markdown of who wins where: ratios to the best, geometric means."""
    by_place = {(row["kind"], row["policy"]): row for row in standings}
    problems = max(int(row["problems"]) for row in standings)
    headings = [*(heading for heading, _ in TABLE_COLUMNS), f"best or tied, of {problems}"]
    everybody = (*contenders(), *tuned_contenders())
    windowed = {player.name for player in everybody if player.windowed}
    lines = [
        f"{DELAY_BENCH}, patientbandits {__version__}: regret over the best's, geometric mean, in",
        "brackets its 95 % interval over problems. ≈: the best of those that are counted (not the",
        "tuned, nor those that see reports), or not told apart from it; bold: the only one.",
        "",
        "| policy | told | " + " | ".join(headings) + " | at worst | on |",
        "|---|---|" + "---:|" * (len(headings) + 1) + "---|",
    ]
    level = Counter(row["kind"] for row in standings if row["level"] == "True")
    for row in standings:
        if row["kind"] != ALL_PROBLEMS:
            continue
        knows = row["group"]
        if row["policy"] in windowed:
            knows += ", window"
        cells = [row["policy"], knows]
        for _, kind in TABLE_COLUMNS:
            cells.append(ratio_cell(by_place[kind, row["policy"]], alone=level[kind] == 1))
        good = "" if row["group"] == "reports" else row["good"]
        cells += [good, f"{float(row['worst']):.1f}", row["worst_problem"]]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def ratio_cell(row: dict[str, str], alone: bool) -> str:
    """A geometric mean with its interval, marked if it is not told apart from the best."""
    words = f"{float(row['typical']):.2f}"
    if row["level"] == "True":
        words = f"**{words}**" if alone else f"≈ {words}"
    if row["kind"] == ALL_PROBLEMS and row["low"]:
        words += f" ({float(row['low']):.2f}–{float(row['high']):.2f})"
    return words
