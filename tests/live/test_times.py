"""Times as users write them."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import pytest

import patientbandits as pb
from patientbandits import live

UCB = pb.UCB1()


@pytest.mark.parametrize(
    "at",
    [
        math.nan,
        math.inf,
        10**400,
        True,
        "soon",
        "2026-01-01T00:00:00",
        datetime(2026, 1, 1),
        1e12,
        [1],
    ],
)
def test_times_that_are_none(shop, at):
    button = shop.experiment("button", ["a"], policy=UCB)
    with pytest.raises(live.RefusedError):
        button.convert(button.decide().id, at=at)


def test_times_in_all_their_forms(shop, clock):
    button, made = shop.experiment("button", ["a"], policy=UCB), None
    made, start = button.decide(), clock.now
    clock.now += 1000
    moment = datetime.fromtimestamp(start + 10, UTC)
    assert button.convert(made.id, at=moment) == (False, True)
    for form in (moment.isoformat(), start + 10, int(start) + 10):
        assert button.convert(made.id, at=form) == (True, True)
