"""A small comparison that several files look at."""

from __future__ import annotations

from pathlib import Path

import pytest

from patientbandits.research import compare

TWO, FEW = (
    ("no_delay", "equal_means", "heterogeneous"),
    ("KLUCB", "UCB1", "PatientBandits", "Uniform", "DUCB"),
)


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, compare.Comparison]:
    """A comparison with few runs on few problems."""
    out = tmp_path_factory.mktemp("small")
    return out, compare.run(out, TWO, FEW, runs=8, seed=3)
