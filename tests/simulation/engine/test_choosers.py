"""Choosers: an index that is kept decides as one that is computed anew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from cases import PROBLEMS

import patientbandits as pb


def same(a, b):
    return np.array_equal(a.regret, b.regret) and np.array_equal(a.pulls, b.pulls)


@dataclass(frozen=True)
class Laplace(pb.Policy):
    """(S + 1) / (n + 2), from the first round on:
    an index that lasts until its arm is pulled or paid.
    """

    first_pulls: ClassVar[int] = 0

    def index(self, arm):
        return (arm.rewards + 1.0) / (arm.pulls + 2.0)


@dataclass(frozen=True)
class LaplaceEveryRound(Laplace):
    """The same, computed anew in every round, since it asks for the round."""

    def index(self, arm, round):
        return (arm.rewards + 1.0) / (arm.pulls + 2.0)


def test_a_lasting_index_is_only_a_shortcut():
    for title, problem in PROBLEMS.items():
        assert same(
            pb.simulate(problem, Laplace(), 200, 5),
            pb.simulate(problem, LaplaceEveryRound(), 200, 5),
        ), title
