"""The table of docs/field.md, from the committed data.

python -m tools.field_table
"""

from __future__ import annotations

import csv
from pathlib import Path

FINDINGS = Path(__file__).parents[1] / "docs" / "data" / "field" / "findings.csv"
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
        count = sum(float(row["high"]) < float(row["limit"]) for row in own)
        ours = f"{count} of {len(own)}, {min(ratios):.2f} to {max(ratios):.2f}"
        lines.append(f"| {paper} | {finding} | {ours} | {verdict} |\n")
    return TABLE_HEADING + "".join(lines)


if __name__ == "__main__":
    print(findings_table(FINDINGS), end="")
