"""New experiments: the first lines of their logs, and what is refused."""

from __future__ import annotations

import pytest

import patientbandits as pb
from patientbandits import live

UCB = pb.UCB1()


@pytest.mark.parametrize("seed", [-1, 2**63, 1.5, "1", True])
def test_a_refused_experiment(shop, seed):
    with pytest.raises(live.RefusedError):
        shop.experiment("button", ["a"], policy=UCB, seed=seed)
    for name in ("", "a b", "/", "x" * 101, 7):
        with pytest.raises(live.RefusedError):
            shop.experiment(name, ["a"], policy=UCB)
    assert shop.experiments() == []
    assert shop.experiment("button", ["a"], policy=UCB, seed=2**63 - 1).decide().arm == "a"


def test_a_new_experiment_knows_the_aliases_so_far(shop, clock):
    """Its log begins with the settings, and with each alias that does not follow from others."""
    button = shop.experiment("button", ["a"], policy=UCB)
    shop.experiment("other", ["a"], policy=UCB)
    shop.alias("u", "v")
    shop.alias("v", "w")
    shop.alias("u", "w")
    late = shop.experiment("late", ["a"], policy=UCB)
    assert shop.store.lines_by_kind(late.experiment.id) == {"change": 1, "alias": 2}
    made = late.decide(unit="w")
    assert late.convert(unit="u").counted
    assert late.report()["arms"][0]["conversions"] == 1
    assert made.arm == "a"
    shop.erase("u")
    fresh = shop.experiment("fresh", ["a"], policy=UCB)
    assert shop.store.lines_by_kind(fresh.experiment.id) == {"change": 1}
    assert button.settings == fresh.settings
