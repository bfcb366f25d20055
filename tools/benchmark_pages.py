"""DelayBench on the documentation's site: its problems, and what the policies made of them."""

from __future__ import annotations

import re
from pathlib import Path

from patientbandits.research.compare.delay_bench import DELAY_BENCH, suite
from patientbandits.research.compare.frozen import Rows, counted, rows_of_file

FROZEN = Path(__file__).parents[1] / "docs" / "data" / "delay-bench-1"
SHOWN = (
    "PatientThompson",
    "BootstrappedThompson",
    "Thompson",
    "KLUCB",
    "DTS",
    "WindowThompson",
    "PatientKL",
    "OracleThompson",
)
"""policies with a column of their own"""


def benchmark_page() -> str:
    """The problems of the comparison, from the suite itself."""
    cases = suite()
    lines = [
        f"# The problems of {DELAY_BENCH}",
        "",
        f"{len(cases)} problems, as `patientbandits compare` plays them. What the policies make of",
        "them: [the results](benchmark-results.md), and how to read them:",
        "[policies compared](compare.md).",
        "",
        "| problem | what it is, *and what it tests* | arms | horizon |",
        "|---|---|---:|---:|",
    ]
    for case in cases:
        words = f"{cell_text(case.what)} *{cell_text(case.tests)}*"
        row = f"| {cell_text(case.name)} | {words} | {case.problem.arms} | {case.horizon} |"
        lines.append(row)
    return "\n".join(lines)


def results_page(folder: Path = FROZEN) -> str:
    """The frozen numbers, problem by problem; says so if there are none."""
    lines = [f"# The results of {DELAY_BENCH}", ""]
    if not (folder / "scores.csv").exists():
        return "\n".join([*lines, "Not frozen yet: `make freeze` plays the suite and keeps them."])
    lines += [
        "Regret over that of the best policy that sees only rewards: 1 is best, 2 is twice the",
        "regret. ≈: not significantly worse (paired, 95 %); bold: the only one of all policies.",
        "`OracleThompson` knows the law of every arm's delays. All policies with intervals are in",
        "`docs/data/delay-bench-1/scores.csv`; on the whole and by kind:",
        "[policies compared](compare.md); what each problem is: [the problems](benchmark.md).",
        "",
        "| problem | the best | its regret | " + " | ".join(SHOWN) + " |",
        "|---|---|---:|" + "---:|" * len(SHOWN),
    ]
    scores = rows_of_file(folder / "scores.csv")
    for problem in dict.fromkeys(row["problem"] for row in scores):
        own = [row for row in scores if row["problem"] == problem]
        lines.append(result_line(problem, own))
    return "\n".join(lines)


def result_line(problem: str, own: Rows) -> str:
    """One problem; where nothing can be lost there is no best."""
    by_policy = {row["policy"]: row for row in own}
    best = min(counted(own), key=lambda row: float(row["regret"]))
    alone = sum(row["tied"] == "True" for row in own) == 1
    if not best["ratio"]:
        return f"| {cell_text(problem)} | | 0 |" + " |" * len(SHOWN)
    cells = [cell_text(problem), best["policy"], f"{float(best['regret']):.1f}"]
    for policy in SHOWN:
        row = by_policy[policy]
        ratio = f"{float(row['ratio']):.2f}"
        if row["tied"] == "True":
            ratio = f"**{ratio}**" if alone else f"≈ {ratio}"
        cells.append(ratio)
    return "| " + " | ".join(cells) + " |"


def cell_text(words: str) -> str:
    """As a cell of a table, taken literally."""
    return re.sub(r"([\\*_\[\]#{}|])", r"\\\1", words)
