"""A database with one experiment."""

from __future__ import annotations

import pytest
from command_line import command


@pytest.fixture
def db(tmp_path):
    path = tmp_path / "shop.db"
    assert command("experiments", "create", "button", "blue", "green", "--db", path).returncode == 0
    return path
