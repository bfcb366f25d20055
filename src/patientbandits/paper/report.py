"""The report of `reproduce` as one self-contained page."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from patientbandits.pages import render_page
from patientbandits.paper.claim import FAILS, HOLDS, PARTLY
from patientbandits.paper.experiment import Section
from patientbandits.paper.published import (
    ABSOLUTE_TOLERANCE,
    D_UCB_TOLERANCE,
    RELATIVE_TOLERANCE,
)


def report_page(
    sections: list[Section], summary: dict[str, Any], figures: Path, seconds: float
) -> str:
    """The page; it takes its pictures from the folder ``figures``."""
    counts = Counter[str]()
    for section in sections:
        counts.update(claim.verdict for _, claim in section.claims)
    return render_page(
        "paper/report.html.j2",
        figures,
        sections=sections,
        summary=summary,
        seconds=seconds,
        counts=counts,
        verdicts={"holds": HOLDS, "partly": PARTLY, "fails": FAILS},
        tolerance={
            "relative": RELATIVE_TOLERANCE,
            "absolute": ABSOLUTE_TOLERANCE,
            "ducb": D_UCB_TOLERANCE,
        },
    )
