"""The walks of docs/design.md pass as few files as its table says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from tools.walks import WALKS

ROOT = Path(__file__).parents[2]


def files_passed(walk: str) -> list[str]:
    """Take the walk in a process of its own, which nothing else has warmed up."""
    command = [sys.executable, "-m", "tools.walks", walk]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return re.findall(r"^    (\S+)$", done.stdout, re.MULTILINE)


def counted(files: list[str]) -> int:
    return sum(not file.startswith("_util/") and file != "errors.py" for file in files)


def table() -> list[int]:
    """Read the counts of the four rows; a decision's last file is the compiled policy."""
    text = (ROOT / "docs" / "design.md").read_text()
    rows = re.findall(r"^\| .* \| (\d+)( of the service, and .*)? \|$", text, re.MULTILINE)
    return [int(count) + bool(more) for count, more in rows]


@pytest.mark.slow
@pytest.mark.parametrize(("place", "walk"), list(enumerate(WALKS)))
def test_a_walk_passes_no_more_files_than_the_design_says(place: int, walk: str) -> None:
    files = files_passed(walk)
    assert counted(files) <= table()[place], "\n".join(["a new one:", *files])


@pytest.mark.slow
def test_a_walk_passes_the_files_that_the_design_names() -> None:
    """Between its beginning and its end a decision cannot do without these."""
    needed = {"server/protocol.py", "server/writer.py", "commands/journal.py", "policy/state.py"}
    assert {f"live/{file}" for file in needed} <= set(files_passed("decision"))


def test_the_table_of_the_design_has_four_rows() -> None:
    assert len(table()) == 4
