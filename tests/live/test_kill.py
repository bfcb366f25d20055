"""kill -9 of the real server under load: no acknowledged record is lost, none is doubled, and it
is soon back."""

from __future__ import annotations

from pathlib import Path

import pytest
from kill import kills
from workload import ids, lost, whole

from patientbandits import live

pytestmark = pytest.mark.slow

CYCLES, SECONDS, NOISE = 25, 5.0, 6
"""A restart must take 5 s at most on a machine with nothing else to do; tests share theirs."""


def test_killed_under_load(tmp_path: Path) -> None:
    db = str(tmp_path / "shop.db")
    answers, ready, repeated = kills(db, CYCLES)
    with live.open(db, create=False) as shop:
        whole(shop)
        assert lost(shop, answers) == []
        assert len({(answer.key, answer.value is None) for answer in answers}) == len(answers)
        decided = [answer for answer in answers if answer.value is None]
        assert 0 <= len(ids(shop)) - len(decided) <= 8, (
            "only the last request of each client may be there without having been answered"
        )
    assert len(answers) > 10 * CYCLES
    assert repeated > CYCLES, "the kills must come while requests are on their way"
    assert max(ready) <= SECONDS * NOISE
