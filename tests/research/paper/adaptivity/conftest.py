"""The data beside docs/adaptivity.md."""

from __future__ import annotations

from pathlib import Path

import pytest

from patientbandits.research.paper.adaptivity.data import DataRow, StudyData, read_study_data

DOCS = Path(__file__).parents[4] / "docs"


@pytest.fixture(scope="session")
def committed() -> StudyData:
    """The data beside the page."""
    return read_study_data(DOCS / "data" / "adaptivity")


@pytest.fixture(scope="session")
def final(committed: StudyData) -> dict[str, DataRow]:
    """Each policy's last row over time."""
    return {policy: committed.curve(policy)[-1] for policy in committed.policies()}


@pytest.fixture(scope="session")
def regret(final: dict[str, DataRow]) -> dict[str, float]:
    """Each policy's regret at the end."""
    return {policy: float(row["regret"]) for policy, row in final.items()}
