"""A twentieth of the million messages; `messages.py` has the rest."""

from __future__ import annotations

import pytest
from messages import run

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("seed", [1, 2])
def test_messages(address, seed):
    """Seed 1: unknown ids are forged. Seed 2: they are signed, but of no decision."""
    must, did, _ = run(address, 5_000, 50_000, seed)
    assert did == must
    assert all(must.answers.values())
