"""Upper bounds: Theorems 1, 2 and 3, and Corollary 1."""

from __future__ import annotations

import math
from collections.abc import Sequence

from patientbandits._util.arithmetic import plain_sum
from patientbandits.errors import choice, items, number, positive, require, whole
from patientbandits.problems import Problem

FORMS = ("corrected", "printed")
FIRST_TERM = {"paper": 128.0, "tight": 32.0}
"""width -> the factor of log(2T) / gap that the proof of Theorem 2 gives"""


def confidence_width(
    pulls: int,
    arms: int,
    horizon: int,
    alpha: float,
    width: str = "paper",
    delta: float | None = None,
) -> float:
    """sqrt(2 log(2/delta) / n) + 2 n^-(alpha ^ 1/2)        (Theorem 1, eq. 4)

    |mean estimate - mean| is at most this with probability 1 - delta, by default 1 - 1 / (K T^3),
    after a number of pulls n that was fixed beforehand. A policy chooses n as it goes: a round t
    at which it may be any of 1, ..., t costs a union over them, 1 - t delta. Width "tight": half
    the first term.
    """
    owner = "confidence_width"
    n = whole(owner, "pulls", pulls, 1)
    arms = whole(owner, "arms", arms, 1)
    horizon = whole(owner, "horizon", horizon, 1)
    alpha = positive(owner, "alpha", alpha)
    spread = {"paper": 2.0, "tight": 0.5}[choice(owner, "width", width, ("paper", "tight"))]
    if delta is None:
        level = math.log(2 * arms) + 3 * math.log(horizon)
    else:
        require(
            0 < number(owner, "delta", delta) < 1, owner, "delta must be in (0, 1)", delta=delta
        )
        level = math.log(2 / delta)
    return math.sqrt(spread * level / n) + 2 * n ** -min(alpha, 0.5)


def gap_dependent_bound(
    problem: Problem | Sequence[float],
    horizon: int,
    alpha: float,
    form: str = "corrected",
    width: str = "paper",
) -> float:
    """sum over gaps > 0 of [128 log(2T) / gap  v  4 (4/gap)^(((1-alpha)/alpha) v 1)] + 2K

    Theorem 2. With the tight width 32 in place of 128. Printed: 64, and (8/gap)^(...) for the
    second term. Takes a problem or its gaps.
    """
    return _gap_sum("gap_dependent_bound", problem, horizon, alpha, form, width, printed=64.0)


def schedule_bound(problem: Problem | Sequence[float], horizon: int, alpha: float) -> float:
    """sum over gaps > 0 of [128 log(2T) / gap  v  (8/gap)^(((1-alpha)/alpha) v 1)] + 2K

    Corollary 1, as printed. It does not follow as printed: see `ScheduledPatientBandits`.
    """
    return _gap_sum("schedule_bound", problem, horizon, alpha, "printed", "paper", printed=128.0)


def _gap_sum(
    owner: str,
    problem: Problem | Sequence[float],
    horizon: int,
    alpha: float,
    form: str,
    width: str,
    printed: float,
) -> float:
    if isinstance(problem, Problem):
        gaps = problem.gaps
    else:
        gaps = tuple(number(owner, "every gap", gap) for gap in items(owner, "gaps", problem))
    require(all(0 <= gap <= 1 for gap in gaps), owner, "every gap must be in [0, 1]", gaps=gaps)
    whole(owner, "horizon", horizon, len(gaps))
    positive(owner, "alpha", alpha)
    choice(owner, "form", form, FORMS)
    choice(owner, "width", width, ("paper", "tight"))
    first = printed
    factor = 1.0
    base = 8.0
    if form == "corrected":
        first = FIRST_TERM[width]
        factor = base = 4.0
    power = max((1 - alpha) / alpha, 1.0)

    def term(gap: float) -> float:
        log_second = math.log(factor) + power * math.log(base / gap)
        second_term = math.exp(log_second) if log_second < 700 else math.inf
        return max(first * math.log(2 * horizon) / gap, second_term)

    return plain_sum(term(gap) for gap in gaps if gap > 0) + 2 * len(gaps)


def minimax_bound(
    arms: int, horizon: int, alpha: float, form: str = "corrected", width: str = "paper"
) -> float:
    """2 * 128^((1-alpha) v 1/2) T^(1 - alpha ^ 1/2) (K log(2T))^(alpha ^ 1/2) + 2K

    Theorem 3. With the tight width 32 in place of 128; printed: 64. Whether the factor
    K^(alpha ^ 1/2) is needed for alpha < 1/2 is open: Theorem 4 has none.
    """
    owner = "minimax_bound"
    arms = whole(owner, "arms", arms, 1)
    horizon = whole(owner, "horizon", horizon, 1)
    alpha = positive(owner, "alpha", alpha)
    choice(owner, "form", form, FORMS)
    choice(owner, "width", width, FIRST_TERM)
    base = FIRST_TERM[width] if form == "corrected" else 64.0
    a = min(alpha, 0.5)
    constant = 2 * base ** max(1 - alpha, 0.5)
    arms_and_log = arms * math.log(2 * horizon)
    return constant * horizon ** (1 - a) * arms_and_log**a + 2 * arms
