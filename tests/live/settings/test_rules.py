"""Rules of settings: a change that breaks one changes nothing."""

from __future__ import annotations

import math

import pytest

import patientbandits as pb
from patientbandits import live

UCB = pb.UCB1()


REFUSED = [
    {"arms": ["b", "a"]},
    {"arms": ["a"]},
    {"arms": "abc"},
    {"arms": ["a", "b", "b"]},
    {"arms": ["a", "b", 7]},
    {"arms": ["a", "b", "\0"]},
    {"retired": ["z"]},
    {"retired": ["a", "b"]},
    {"retired": "a"},
    {"retired": None},
    {"window": 0},
    {"window": -1.0},
    {"window": math.nan},
    {"window": math.inf},
    {"window": "1"},
    {"window": True},
    {"window": 10**400},
    {"paused": "yes"},
    {"paused": None},
    {"sticky": 1},
    {"scale": 2.0},
    {"scale": "x"},
    {"name": "other"},
    {"seed": 3},
    {"policy": "Nobody"},
    {"policy": 7},
    {"policy": {"policy": "UCB1", "x": 1}},
    {"policy": {"policy": "PatientKL", "alpha": math.nan}},
    {"policy": {"policy": "DUCB", "law": pb.Pareto(1.0), "window": 9}},
    {"policy": {"policy": "DUCB", "window": 9}},
    {"policy": {}},
    {"policy": {"policy": "DUCB", "law": pb.Pareto(1.0).describe(), "window": 10**15}},
    {
        "policy": {
            "policy": "DUCB",
            "law": pb.Empirical(range(0, 9000, 7)).describe(),
            "mode": "uncensored",
        }
    },
]


@pytest.mark.parametrize("change", REFUSED, ids=str)
def test_a_refused_change_changes_nothing(shop, change):
    button = shop.experiment("button", ["a", "b"], policy=UCB)
    before = button.settings
    with pytest.raises(live.RefusedError):
        button.change(**change)
    assert button.settings == before
    assert button.decide().arm in "ab"
    assert shop.store.head(button.experiment.id) == 2
