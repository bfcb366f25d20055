"""The paper's figures at full size, and the whole report in small."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from patientbandits.research.paper.report import reproduce

COMPARED = ("alpha_sweep", "gap_sweep", "homogeneous", "heterogeneous")

FIGURES = (*COMPARED, "adaptive")


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The four figures of the LaTeX at full size, in the published preset."""
    return reproduce(tmp_path_factory.mktemp("published"), COMPARED, ["published"])


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything but the long studies, both presets, few runs."""
    out = tmp_path_factory.mktemp("small")
    reproduce(out, [*FIGURES, "theory"], runs=4, seed=1)
    return out
