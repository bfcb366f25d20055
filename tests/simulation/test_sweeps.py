"""Sweeps: what is done is kept, what is damaged is done again,
what has changed has another name.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from cases import PROBLEMS

import patientbandits as pb
from patientbandits.simulation import sweeps

pytestmark = pytest.mark.slow

HEAVY = PROBLEMS["heavy tails"]


def simulations(runs=10, seed=0):
    return [
        pb.Simulation(HEAVY, policy, 100, runs, seed, record=20)
        for policy in (pb.PatientBandits(0.3), pb.UCB1())
    ]


@pytest.fixture
def in_pieces(monkeypatch):
    """Pieces of 4 runs: 10 runs make 3."""
    monkeypatch.setattr(sweeps, "PIECE_ROUNDS", 400)


@pytest.fixture
def played(monkeypatch):
    """What is really played: (policy, first run) of each piece."""
    log, play = [], pb.Simulation.play
    monkeypatch.setattr(
        pb.Simulation,
        "play",
        lambda self, first, *rest: (
            log.append((self.policy.owner, first)) or play(self, first, *rest)
        ),
    )
    return log


def contents(folder):
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def test_pieces_are_parts_of_the_whole(in_pieces, tmp_path):
    done = []
    for folder in (None, tmp_path):
        for simulation, result in zip(
            simulations(), pb.sweep(simulations(), folder, progress=done.append), strict=True
        ):
            direct = pb.simulate(HEAVY, simulation.policy, 100, 10, record=20)
            np.testing.assert_array_equal(result.regret, direct.regret)
            np.testing.assert_array_equal(result.pulls, direct.pulls)
            assert result.settings == direct.settings
            assert result.minus(direct).values.any() == np.False_
    assert sum(done) == 2 * sum(simulation.rounds for simulation in simulations())


def test_resumes(in_pieces, played, tmp_path):
    first = pb.sweep(simulations(), tmp_path)
    before = contents(tmp_path)
    assert len(before) == len(played) == 6
    played.clear()
    pb.sweep(simulations(), tmp_path)
    assert played == []
    gone, cut, flipped, empty, exchanged, _ = sorted(tmp_path.iterdir())
    exchanged.write_bytes(cut.read_bytes())  # whole, but another piece
    gone.unlink()
    cut.write_bytes(cut.read_bytes()[:-100])
    empty.write_bytes(b"")
    data = bytearray(flipped.read_bytes())
    data[len(data) // 2] ^= 1
    flipped.write_bytes(data)
    again = pb.sweep(simulations(), tmp_path)
    assert len(played) == 5
    assert contents(tmp_path) == before
    for a, b in zip(first, again, strict=True):
        np.testing.assert_array_equal(a.regret, b.regret)
        assert (a.settings, a.policy, a.problem) == (b.settings, b.policy, b.problem)


def test_few_pieces_share_the_cores(in_pieces, monkeypatch):
    """3 pieces on 8 cores have 2 each, 6 have 1."""
    threads, play = [], pb.Simulation.play
    monkeypatch.setattr(
        pb.Simulation, "play", lambda self, *part: threads.append(part[-1]) or play(self, *part)
    )
    pb.sweep(simulations()[:1], workers=8)
    pb.sweep(simulations(), workers=8)
    assert threads == [2] * 3 + [1] * 6


@pytest.mark.parametrize("on", ["threads", "processes"])
def test_an_exception_stops_it_and_what_is_done_is_kept(in_pieces, played, tmp_path, on):
    def progress(rounds):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pb.sweep(simulations(), tmp_path, 2, progress, on)
    assert len(contents(tmp_path)) == 1
    played.clear()
    pb.sweep(simulations(), tmp_path)
    assert len(played) == 5
    assert len(contents(tmp_path)) == 6


def law_of_mine(tail):
    @dataclass(frozen=True)
    class Law(pb.Delay):
        def survival_at(self, m):
            return (m + 1.0) ** -tail

    return Law()


class Start(NamedTuple):
    values: np.ndarray


def policy_of_mine(start):
    @dataclass(frozen=True)
    class Mine(pb.Policy):
        def memory(self, arms, capacity):
            return Start(np.full(arms, start))

        def index(self, memory, arm):
            return memory.values[arm.number]

    return Mine()


def test_every_ingredient_is_in_the_name():
    """Laws, rewards and `memory` of the user's are code as well:
    same name, same fields, another content.
    """
    base = {
        "problem": HEAVY,
        "policy": pb.DUCB(law_of_mine(0.5), window=9),
        "horizon": 100,
        "runs": 10,
        "seed": 0,
        "record": 20,
    }
    changes = [
        {},
        {"seed": 1},
        {"horizon": 101},
        {"record": 21},
        {"anytime": True},
        {"problem": HEAVY.without_delays()},
        {"problem": HEAVY.select([1, 0])},
        {"problem": pb.Problem(HEAVY.means, law_of_mine(0.5))},
        {"problem": pb.Problem(HEAVY.means, law_of_mine(0.6))},
        {"policy": pb.DUCB(law_of_mine(0.5), window=10)},
        {"policy": pb.DUCB(law_of_mine(0.6), window=9)},
        {"policy": policy_of_mine(1.0)},
        {"policy": policy_of_mine(2.0)},
    ]
    names = [pb.Simulation(**{**base, **change}).piece_name(0, 5) for change in changes]
    assert len(set(names)) == len(names)
    simulation = pb.Simulation(**base)
    assert simulation.piece_name(0, 5) == names[0]
    assert (
        len({simulation.piece_name(0, 5), simulation.piece_name(5, 5), simulation.piece_name(0, 4)})
        == 3
    )
