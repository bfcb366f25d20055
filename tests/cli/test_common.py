"""Shared parts of the commands: tables, the database's address."""

from __future__ import annotations

import subprocess
import sys

import pytest
from command_line import command
from service import environment

from patientbandits.cli.common import table_lines

pytestmark = pytest.mark.slow


def test_tables_have_columns_as_wide_as_they_must_be() -> None:
    rows = [("name", "n", ""), ("a long name", "10", "x"), ("b", "1000", "")]
    assert table_lines(rows) == ["name         n", "a long name  10    x", "b            1000"]


def test_a_missing_database_is_not_made(tmp_path):
    for arguments in (["decide", "a"], ["experiments", "list"], ["keys", "list"], ["export", "a"]):
        done = command(*arguments, "--db", tmp_path / "none.db")
        assert (done.returncode, "no database" in done.stderr) == (2, True)
    assert list(tmp_path.iterdir()) == []


def test_the_environment_names_the_database(db, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "patientbandits", "experiments", "list"],
        capture_output=True,
        text=True,
        env=environment() | {"PATIENTBANDITS_DB": str(db)},
        cwd=tmp_path,
        timeout=120,
    )
    assert "button" in done.stdout
