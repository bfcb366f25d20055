"""Policies on problems, in the same worlds; finished pieces are kept, so a second call is quick."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import patientbandits as pb
from patientbandits.inference.intervals import ratio_interval

ADDED = 2.0
"""Added to both regrets of a problem's ratio, so that nothing near 0 decides."""

US = "policy"
"""What the policy on trial is called among the players."""

Player = Callable[[pb.Problem], pb.Policy]
Regrets = dict[str, NDArray[np.float64]]
"""player -> its regret in each run"""


@dataclass(frozen=True)
class Match:
    """A problem to be played."""

    name: str
    problem: pb.Problem
    horizon: int
    runs: int


@dataclass(frozen=True)
class Table:
    """Where matches are played: who is on trial, in which worlds, and where results are kept."""

    policy: pb.Policy
    seed: int
    folder: Path
    quick: bool
    workers: int | None = None

    def regrets(self, matches: Sequence[Match], players: Mapping[str, Player]) -> list[Regrets]:
        """Of the policy on trial and every player, match by match."""
        everyone = {US: always(self.policy), **players}
        simulations = [
            pb.Simulation(
                problem=match.problem,
                policy=player(match.problem),
                horizon=match.horizon,
                runs=match.runs,
                seed=self.seed,
                record=1,
            )
            for match in matches
            for player in everyone.values()
        ]
        told = Progress(sum(simulation.rounds for simulation in simulations))
        results = iter(pb.sweep(simulations, self.folder, self.workers, told.add))
        told.end()
        return [{name: next(results).final for name in everyone} for _ in matches]


class Progress:
    """A line about how far things are, on the standard error."""

    def __init__(self, rounds: int) -> None:
        self.rounds = rounds
        self.done = 0

    def add(self, rounds: int) -> None:
        self.done += rounds
        print(f"\r  {self.done / self.rounds:6.1%}", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        print(file=sys.stderr)


def always(policy: pb.Policy) -> Player:
    """The same policy on every problem."""
    return lambda problem: policy


def best_of(regrets: Regrets, names: Sequence[str]) -> str:
    """Whose mean regret is the least."""
    return min(names, key=lambda name: float(regrets[name].mean()))


def ratio_to(regrets: Regrets, names: Sequence[str], ours: str = US) -> float:
    """Mean regret of ``ours`` over that of the best of the ``names``, 2 added to both."""
    best = regrets[best_of(regrets, names)].mean()
    return float((regrets[ours].mean() + ADDED) / (best + ADDED))


def geometric_mean(ratios: Sequence[float]) -> float:
    """exp of the mean logarithm"""
    return float(np.exp(np.mean(np.log(ratios))))


def versus(ours: NDArray[np.float64], theirs: NDArray[np.float64], name: str) -> tuple[float, str]:
    """The ratio of mean regrets, and a note with its paired 95 % interval."""
    ratio, low, high = ratio_interval(ours, theirs)
    return ratio, f"{low:.2f}-{high:.2f} ({ours.mean():.1f} : {theirs.mean():.1f}, {name})"
