"""A release names one version everywhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools import release

import patientbandits

FILES = {
    "src/patientbandits/_version.py": '__version__ = "1.2.3"\n',
    "CITATION.cff": "version: 1.2.3\ndate-released: 2026-01-31\n",
    "CHANGELOG.md": "# Changelog\n\n## Unreleased\n\n## 1.2.3 (2026-01-31)\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_the_last_release_agrees_with_itself() -> None:
    assert release.disagreements(release.ROOT, f"v{patientbandits.__version__}") == []


def test_agreement(project: Path) -> None:
    assert release.disagreements(project, "v1.2.3") == []


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("src/patientbandits/_version.py", "1.2.3", "1.2.4"),
        ("CITATION.cff", "1.2.3", "1.2.2"),
        ("CITATION.cff", "01-31", "02-01"),
        ("CHANGELOG.md", "1.2.3", "1.2.30"),
        ("CHANGELOG.md", " (2026-01-31)", ""),
    ],
)
def test_each_file_is_looked_at(project: Path, name: str, old: str, new: str) -> None:
    path = project / name
    path.write_text(path.read_text().replace(old, new))
    (line,) = release.disagreements(project, "v1.2.3")
    assert line.startswith(f"{name}: ")


@pytest.mark.parametrize("arguments", [[], ["1.2.3"], ["v1.2"], ["v1.2.3", "v1.2.4"]])
def test_what_is_no_tag_is_refused(arguments: list[str]) -> None:
    assert release.main(arguments) == 2
