"""The report of `reproduce` as one self-contained page."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from patientbandits.plotting import render_page
from patientbandits.research.paper.claim import FAILS, HOLDS, OPEN, PARTLY
from patientbandits.research.paper.experiment import Section
from patientbandits.research.paper.published import CLOSELY, LOOSELY, READ_FROM


def report_page(
    sections: list[Section], summary: dict[str, Any], figures: Path, seconds: float
) -> str:
    """The page; it takes its pictures from the folder ``figures``."""
    counts = Counter[str]()
    for section in sections:
        counts.update(claim.verdict for _, claim in section.claims)
    return render_page(
        "research/paper/report.html.j2",
        figures,
        sections=sections,
        summary=summary,
        seconds=seconds,
        counts=counts,
        verdicts={"holds": HOLDS, "partly": PARTLY, "fails": FAILS, "open": OPEN},
        tolerance={"closely": CLOSELY, "loosely": LOOSELY},
        read_from=READ_FROM,
    )
