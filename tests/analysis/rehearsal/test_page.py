"""The page of a rehearsal."""

from __future__ import annotations

import json
from pathlib import Path

from patientbandits.analysis.rehearsal import Rehearsal
from patientbandits.analysis.rehearsal.page import write_rehearsal


def test_the_page(rehearsal: Rehearsal, tmp_path: Path) -> None:
    page = write_rehearsal(rehearsal, tmp_path).read_text()
    assert rehearsal.words in page
    assert "https://" not in page
    assert page.count("data:image/svg+xml;base64,") == 2
    data = json.loads((tmp_path / "rehearsal.json").read_text())
    assert data["policy"] == "Thompson"
