"""What the documents say is true: their examples run, their numbers are the code's."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import patientbandits

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
EXAMPLE = re.compile(r"<!-- example: (\w+) -->\n```(\w+)\n(.*?)```", re.DOTALL)
EXAMPLES = {
    name: (kind, text) for page in PAGES for name, kind, text in EXAMPLE.findall(page.read_text())
}


def test_all_examples_are_marked() -> None:
    fences = sum(
        len(re.findall(r"^```(?:python|toml)$", page.read_text(), re.MULTILINE)) for page in PAGES
    )
    assert fences == len(EXAMPLES) >= 5


@pytest.mark.parametrize("name", [name for name, (kind, _) in EXAMPLES.items() if kind == "python"])
def test_example_runs(name: str, tmp_path: Path) -> None:
    (tmp_path / "example.py").write_text(EXAMPLES[name][1])
    done = subprocess.run(
        [sys.executable, "-W", "error", "example.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr


def test_the_policy_example_is_short() -> None:
    assert len([line for line in EXAMPLES["policy"][1].splitlines() if line.strip()]) <= 25


def test_the_study_example_runs(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(EXAMPLES["study"][1])
    command = [sys.executable, "-m", "patientbandits", "simulate", "study.toml", "--runs", "5"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_readme_commands_are_make_targets() -> None:
    makefile = (ROOT / "Makefile").read_text()
    named = set(
        re.findall(r"(?:^    |`)make ([\w-]+)", (ROOT / "README.md").read_text(), re.MULTILINE)
    )
    assert named >= {"reproduce", "test", "compare", "bench"}
    for target in named:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    assert "make test" in (ROOT / ".ci" / "run").read_text()


def test_every_public_name_is_there_and_typed() -> None:
    for name in patientbandits.__all__:
        assert getattr(patientbandits, name) is not None
    source = Path(patientbandits.__file__).read_text()
    typed = set(
        re.findall(r"^    from patientbandits\S* import (\w+) as \1$", source, re.MULTILINE)
    )
    assert typed == set(patientbandits.__all__) - {"__version__"}
    assert (Path(patientbandits.__file__).parent / "py.typed").exists()


def test_changelog_has_the_version() -> None:
    assert f"## {patientbandits.__version__}" in (ROOT / "CHANGELOG.md").read_text()
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dynamic"] == ["version"]


def test_lock_files_name_no_host() -> None:
    for lock in ROOT.glob("requirements*.lock"):
        assert "://" not in lock.read_text()
