"""The shop: its experiments, created, opened and compared."""

from __future__ import annotations

import pytest

import patientbandits as pb
from patientbandits import live

UCB = pb.UCB1()


def test_experiments(shop):
    button = shop.experiment("button", ["a", "b"], policy=UCB, seed=3)
    assert shop.experiment("button", ["a", "b"]).experiment == button.experiment
    with pytest.raises(live.ConflictError):
        shop.experiment("button", ["a", "c"])
    with pytest.raises(live.NotFoundError):
        shop.open("nothing")
    assert [found.name for found in shop.experiments()] == ["button"]
    assert shop.open("button").arms == ("a", "b")
