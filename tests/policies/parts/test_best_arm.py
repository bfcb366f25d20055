"""The probabilities with which randomised policies choose, against shares of many draws."""

from __future__ import annotations

import numpy as np
import pytest

import patientbandits as pb
from patientbandits.policies.parts.best_arm import (
    CELLS,
    EDGES,
    chance_of_best,
    set_chances,
    set_edges,
)
from patientbandits.simulation.engine.compile import compiled

RACES = [
    [(1, 1), (1, 1)],
    [(2, 1), (1, 2)],
    [(5, 3), (1, 1), (40, 60)],
    [(1, 1), (3000, 7000)],  # one far narrower than the other
    [(1, 1000), (2, 1500), (1, 400)],
    [(50_000, 50_000), (50_200, 49_800)],
    [(1.5, 0.7 + 1), (3.2, 1)],
    [(10, 5), (9, 5), (8, 5), (7, 5), (12, 8)],
]


@pytest.mark.parametrize("race", RACES, ids=str)
def test_chance_of_best(race):
    """400 000 draws: standard error below 0.001.

    The normal approximation is within 0.005 for each other arm.
    """
    shapes = np.array(race, float)
    draws = np.random.default_rng(1).beta(shapes[:, 0], shapes[:, 1], (400_000, len(race)))
    won = np.bincount(draws.argmax(axis=1), minlength=len(race)) / len(draws)
    got = [chance_of_best(shapes, arm) for arm in range(len(race))]
    np.testing.assert_allclose(got, won, atol=0.01)
    assert sum(got) == pytest.approx(1.0, abs=0.015)
    assert [compiled(chance_of_best)(shapes, arm) for arm in range(len(race))] == pytest.approx(
        got, rel=1e-9
    )


def test_never_sure():
    shapes = np.array([[1.0, 1e6], [1e6, 1.0]])
    assert 0 < chance_of_best(shapes, 0) < 1e-5
    assert 1 - 1e-5 < chance_of_best(shapes, 1) < 1


def known(policy, rounds=200):
    """A bandit after some rounds, and the propensities that its policy gives."""
    bandit, random = pb.Bandit(policy, range(3), seed=4), np.random.default_rng(6)
    for _ in range(rounds):
        pull = bandit.pull()
        if random.random() < (0.3, 0.4, 0.5)[pull.arm]:
            bandit.reward(pull.id, 1.0)
    bandit.pull()
    return bandit, [
        bandit._call("propensity", rounds + 1, arm=bandit._arm(arm), time=rounds + 1.0)
        for arm in range(3)
    ]


@pytest.mark.parametrize(
    "policy",
    [
        pb.Uniform(),
        pb.Thompson(),
        pb.PatientThompson(),
        pytest.param(pb.GuardedThompson(guard=pb.PatientKL(0.5, c=3.0)), marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_policies(policy):
    _, got = known(policy)
    assert all(0 < p <= 1 for p in got)
    assert sum(got) == pytest.approx(1.0, abs=0.02)
    assert known(policy)[1] == got
    if isinstance(policy, pb.Uniform):
        assert got == [1 / 3] * 3


def test_thompsons_is_the_share_of_its_decisions():
    """From one state with 20 000 seeds: standard error 0.0035."""
    bandit, got = known(pb.Thompson(), 60)
    shapes = bandit._memory.shapes
    draws = np.random.default_rng(2).beta(shapes[:, 0], shapes[:, 1], (20_000, 3))
    np.testing.assert_allclose(
        got, np.bincount(draws.argmax(axis=1), minlength=3) / 20_000, atol=0.02
    )
    np.testing.assert_array_equal(
        shapes.sum(axis=1) - 2,
        [n - (arm == bandit._made[-1][0]) for arm, n in bandit.pulls.items()],
    )


NORMALS = [
    [(0.0, 1.0), (0.0, 1.0)],
    [(0.0, 1.0), (0.5, 0.01)],  # one far narrower than the other
    [(-1.0, 1.8), (0.2, 0.3), (0.3, 0.05), (0.0, 0.6)],
    [(0.1 * k, 0.4) for k in range(20)],
]


def room(arms):
    """For the cells."""
    return np.empty(EDGES), np.empty((arms, EDGES)), np.empty(EDGES - 1)


@pytest.mark.parametrize("normals", NORMALS, ids=len)
def test_chances_of_normals(normals):
    """400 000 draws: standard error below 0.001."""
    centres, spreads = np.array(normals).T.copy()
    draws = np.random.default_rng(1).normal(centres, spreads, (400_000, len(normals)))
    won = np.bincount(draws.argmax(axis=1), minlength=len(normals)) / len(draws)
    got = np.empty(len(normals))
    set_chances(centres, spreads, got, *room(len(normals)))
    np.testing.assert_allclose(got, won, atol=0.01)
    assert got.sum() == pytest.approx(1.0, abs=1e-12)
    again = np.empty(len(normals))
    compiled(set_chances)(centres, spreads, again, *room(len(again)))
    assert again.tobytes() == got.tobytes()


def test_chances_are_the_same_bits_compiled():
    rng = np.random.default_rng(1)
    fast = compiled(set_chances)
    for arms in [1, 2, 3, 5, 20] * 40:
        centres = rng.normal(size=arms) * 10 ** rng.uniform(-4, 2)
        spreads = np.exp(2 * rng.normal(size=arms)) * 10 ** rng.uniform(-4, 0)
        plain, again = np.empty((2, arms))
        set_chances(centres, spreads, plain, *room(arms))
        fast(centres, spreads, again, *room(len(again)))
        assert plain.tobytes() == again.tobytes()


def test_edges_of_cells_are_two_even_grids_in_order():
    rng = np.random.default_rng(2)
    for _ in range(200):
        leader, spread = rng.normal(), np.exp(rng.normal())
        low = leader - 6 * spread + rng.exponential()
        high = leader + 6 * spread + rng.exponential()
        around = [leader + spread * 6.0 * (2.0 * cell / CELLS - 1.0) for cell in range(CELLS + 1)]
        even = [low + (high - low) * cell / CELLS for cell in range(1, CELLS + 2)]
        edges = np.empty(EDGES)
        set_edges(edges, leader, spread, low, high)
        assert edges.tolist() == sorted(around + even)


@pytest.mark.parametrize(
    "policy",
    [pb.PatientThompson(), pb.GuardedThompson(guard=pb.PatientKL(0.5, c=3.0))],
    ids=["free", "guarded"],
)
@pytest.mark.slow
def test_inverse_weights_have_mean_one(policy):
    """The sum over rounds of 1{A = a} / p has mean T for every arm, p the propensity logged: 40
    runs of 100 rounds, at most four standard errors away. Half the propensity is the control."""
    sums = np.zeros((40, 2))
    for seed in range(40):
        bandit = pb.Bandit(policy, [0, 1], seed=seed)
        random = np.random.default_rng(seed)
        for t in range(1, 101):
            arm = bandit.pull().arm
            known = bandit._arm(arm)
            chance = bandit._call("propensity", t, arm=known, time=float(t))
            sums[seed, arm] += 1 / chance / 100
            if random.random() < (0.3, 0.6)[arm]:
                bandit.reward(t, 1.0)
    errors = sums.std(axis=0) / np.sqrt(40)
    assert np.all(np.abs(sums.mean(axis=0) - 1) < 4 * errors)
    assert np.any(np.abs(2 * sums.mean(axis=0) - 1) > 4 * errors)
