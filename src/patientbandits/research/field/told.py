"""The findings as a table in Markdown, from the committed data."""

from __future__ import annotations

import csv
from pathlib import Path

TABLE_HEADING = "| paper | published | ours: ratio of regrets | verdict |\n|---|---|---|---|\n"


def findings_table(path: Path) -> str:
    """A line for each finding of findings.csv."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    pairs: dict[tuple[str, str, str], list[dict[str, str]]] = {}
    for row in rows:
        pairs.setdefault((row["paper"], row["finding"], row["verdict"]), []).append(row)
    lines = []
    for (paper, finding, verdict), own in pairs.items():
        ratios = [float(row["ratio"]) for row in own]
        found = sum(float(row["high"]) < float(row["limit"]) for row in own)
        ours = f"{found} of {len(own)}, {min(ratios):.2f} to {max(ratios):.2f}"
        lines.append(f"| {paper} | {finding} | {ours} | {verdict} |\n")
    return TABLE_HEADING + "".join(lines)
