"""Old names of modules still import, with a warning that names the new one."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

import pytest

from patientbandits._util.moved import MOVED

SCRIPT = """
import sys, warnings
from importlib import import_module
old, new = sys.argv[1:]
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    module = import_module(f"patientbandits.{old}")
moved = [str(w.message) for w in caught if issubclass(w.category, DeprecationWarning)]
assert f"patientbandits.{old} is now patientbandits.{new}" in moved, moved
assert module is import_module(f"patientbandits.{new}")
"""


@pytest.mark.parametrize("old", ["anytime", "events", "gym", "posteriors", "events.reading"])
def test_an_old_name_is_the_new_module(old: str) -> None:
    head, _, rest = old.partition(".")
    new = MOVED[head] + (f".{rest}" if rest else "")
    subprocess.run([sys.executable, "-c", SCRIPT, old, new], check=True)


@pytest.mark.parametrize("old", MOVED)
def test_every_new_name_is_a_module(old: str) -> None:
    assert find_spec(f"patientbandits.{MOVED[old]}") is not None
