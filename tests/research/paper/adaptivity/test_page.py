"""docs/adaptivity.md is made of its data."""

from __future__ import annotations

from pathlib import Path

from patientbandits.research.paper.adaptivity.data import StudyData
from patientbandits.research.paper.adaptivity.page import adaptivity_page

DOCS = Path(__file__).parents[4] / "docs"


def test_the_page_is_made_of_its_data(committed: StudyData) -> None:
    assert (DOCS / "adaptivity.md").read_text() == adaptivity_page(committed)
