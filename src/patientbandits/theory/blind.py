"""Theorem C: a policy that takes every zero at face value is logarithmic in the end."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from patientbandits.errors import number, require, whole
from patientbandits.problems.delays.base import first_below


def patience(gap: float, envelope: Callable[[int], float], limit: int = 2**53) -> int:
    """m_gap = min{m >= 1: env(m) <= gap / 8}        (Theorem C)

    The age from which all but an eighth of the gap must be visible; ``envelope`` bounds the best
    arm's P(D > m), such as `Pareto(alpha).survival`.
    """
    level = _gap("patience", gap) / 8
    age = first_below(envelope, level, limit)
    require(age < math.inf, "patience", "the envelope must fall to an eighth of the gap", gap=gap)
    return int(age)


def bad_rounds_bound(gap: float, horizon: int, m_gap: int) -> float:
    """m_gap (1 + (8/gap) log T)        (Theorem C)

    A round is bad if more than a quarter of the gap of the best arm's rewards may still be hidden.
    There are at most this many among T, whichever way the arm is pulled: a count, not a chance.
    """
    owner = "bad_rounds_bound"
    horizon = whole(owner, "horizon", horizon, 1)
    m_gap = whole(owner, "m_gap", m_gap, 1)
    return m_gap * (1 + 8 / _gap(owner, gap) * math.log(horizon))


def blind_pulls_bound(
    gap: float, horizon: int, envelope: Callable[[int], float], c: float = 3.0
) -> float:
    """8 f(T)/gap^2 + 1 + m_gap (1 + (8/gap) log T) + 8/gap^2 + 4/gap + 2
    + e sum_{t=3..T} (f log(2t) + 2) e^-f,  f(t) = log t + c log log t        (Theorem C)

    Expected pulls of an arm by T under KL-UCB with c >= 3, which is told nothing about the delays;
    ``envelope`` bounds those of the best arm, and the other arms' do not matter. Logarithmic in T:
    a classical UCB is not linear in the long run, however heavy the tails.
    """
    owner = "blind_pulls_bound"
    horizon = whole(owner, "horizon", horizon, 3)
    require(3 <= number(owner, "c", c) < math.inf, owner, "c must be finite and >= 3", c=c)
    bad = bad_rounds_bound(gap, horizon, patience(gap, envelope))
    t = np.arange(3, horizon + 1, dtype=float)
    level = np.log(t) + c * np.log(np.log(t))
    failures = math.e * float(np.sum((level * np.log(2 * t) + 2) * np.exp(-level)))
    return 8 * (float(level[-1]) + 1) / gap**2 + bad + 4 / gap + 3 + failures


def _gap(owner: str, gap: float) -> float:
    require(0 < number(owner, "gap", gap) <= 1, owner, "gap must be in (0, 1]", gap=gap)
    return gap
