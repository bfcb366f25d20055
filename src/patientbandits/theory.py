"""The paper's theorems as functions.

``form="printed"`` is what the paper states, ``form="corrected"`` (default) what its proofs give:
16 L / gap^2 in the proof of Theorem 2 should be 32 L / gap^2, and gap (8/gap)^(x+1) is 8 (8/gap)^x.
With the width "tight" the first correction is not needed. Logarithms are natural; L = log(2 K T^3);
a ^ b is the minimum, a v b the maximum.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from patientbandits.errors import choice, items, number, positive, require, whole
from patientbandits.problem import Problem

FORMS = ("corrected", "printed")


def confidence_width(
    pulls: int,
    arms: int,
    horizon: int,
    alpha: float,
    width: str = "paper",
    delta: float | None = None,
) -> float:
    """sqrt(2 log(2/delta) / n) + 2 n^-(alpha ^ 1/2)        (Theorem 1, eq. 4)

    |mean estimate - mean| is at most this with probability 1 - delta, by default 1 - 1 / (K T^3).
    Width "tight": half the first term.
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
    """sum over gaps > 0 of [64 log(2T) / gap  v  (8/gap)^(((1-alpha)/alpha) v 1)] + 2K

    Theorem 2. Corrected: 128 in place of 64 (64 with the tight width), and 8 times the second term.
    Takes a problem or its gaps.
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
    second = 1.0
    if form == "corrected":
        second = 8.0
    if form == "corrected" and width == "paper":
        first = 2 * printed
    power = max((1 - alpha) / alpha, 1.0)

    def term(gap: float) -> float:
        log_second = math.log(second) + power * math.log(8 / gap)
        second_term = math.exp(log_second) if log_second < 700 else math.inf
        return max(first * math.log(2 * horizon) / gap, second_term)

    return sum(term(gap) for gap in gaps if gap > 0) + 2 * len(gaps)


def minimax_bound(
    arms: int, horizon: int, alpha: float, form: str = "corrected", width: str = "paper"
) -> float:
    """2 * 64^((1-alpha) v 1/2) T^(1 - alpha ^ 1/2) (K log(2T))^(alpha ^ 1/2) + 2K

    Theorem 3. Corrected: 128 in place of 64; with the tight width 64 holds.
    """
    owner = "minimax_bound"
    arms = whole(owner, "arms", arms, 1)
    horizon = whole(owner, "horizon", horizon, 1)
    alpha = positive(owner, "alpha", alpha)
    choice(owner, "form", form, FORMS)
    base = 64.0
    if form == "corrected" and choice(owner, "width", width, ("paper", "tight")) == "paper":
        base = 128.0
    a = min(alpha, 0.5)
    constant = 2 * base ** max(1 - alpha, 0.5)
    arms_and_log = arms * math.log(2 * horizon)
    return constant * horizon ** (1 - a) * arms_and_log**a + 2 * arms


def lower_bound(horizon: int, alpha: float) -> float:
    """T^(1-alpha) / 8        (Theorem 4)

    For any policy, on one of the two problems of `problems.indistinguishable_pair`.
    """
    horizon = whole("lower_bound", "horizon", horizon, 2)
    return horizon ** (1 - positive("lower_bound", "alpha", alpha)) / 8


def no_adaptation_bound(horizon: int, alpha: float) -> float:
    """T^(1-alpha) / 16        (Theorem 5, corrected)

    A policy with regret below 3 T^(1-alpha) / 16 on all problems with alpha has at least this much
    on some problem with any beta > alpha. (As printed the class, regret below T^(1-alpha) / 8, is
    empty by Theorem 4.)
    """
    return lower_bound(horizon, alpha) / 2


def adaptive_rate(arms: int, horizon: int, alpha: float) -> float:
    """T (K/T)^(alpha ^ 1/2)        (Theorem 6)

    The rate of Adapt-PatientBandits, without constants and logarithms. The printed constant,
    8^17 (c mean_floor)^-4 (2/c)^(...) log(2T)^(13/2), exceeds T for any T met in practice.
    """
    owner = "adaptive_rate"
    horizon = whole(owner, "horizon", horizon, 1)
    arms = whole(owner, "arms", arms, 1)
    return horizon * (arms / horizon) ** min(positive(owner, "alpha", alpha), 0.5)


def adaptive_penalty(arms: int, horizon: int, c: float, mean_floor: float) -> float:
    """log(16 sqrt(log(2 K T^3)) / (c mean_floor))        (Algorithm 2)

    What Adapt-PatientBandits takes off its estimate, times log N.
    """
    owner = "adaptive_penalty"
    arms = whole(owner, "arms", arms, 1)
    horizon = whole(owner, "horizon", horizon, 1)
    level = math.log(2 * arms) + 3 * math.log(horizon)
    least = positive(owner, "c", c) * positive(owner, "mean_floor", mean_floor)
    return math.log(16 / least) + 0.5 * math.log(level)


def adaptive_start(
    alpha: float, mean: float, penalty: float, ratio: float, share: float = 1.0
) -> float:
    """max(2 ceil(d/r), e^(2 penalty)),  d = 1 v ceil((share mean (1 - r^alpha)
    e^penalty)^(1/alpha))

    r = d/D. The pulls N of the leading arm from which Adapt-PatientBandits' alpha_low is above 0,
    noise aside, if that arm has this mean and delays with P(D > m) = share m^-alpha. Not in the
    paper. alpha_low > 0 says that min(-log(m(D) - m(d)), log(N) / 2) > penalty; with D = N/2 = d/r,
    m(D) - m(d) is share mean d^-alpha (1 - r^alpha) on average, and d is an integer of at least 1.
    In rounds it is between N and K N.
    """
    owner = "adaptive_start"
    alpha = positive(owner, "alpha", alpha)
    mean = positive(owner, "mean", mean)
    share = positive(owner, "share", share)
    require(
        0 <= number(owner, "penalty", penalty) < math.inf,
        owner,
        "penalty must be finite and >= 0",
        penalty=penalty,
    )
    require(0 < number(owner, "ratio", ratio) < 1, owner, "ratio must be in (0, 1)", ratio=ratio)
    log_d = (math.log(share * mean * -math.expm1(alpha * math.log(ratio))) + penalty) / alpha
    if max(log_d - math.log(ratio), 2 * penalty) > 700:
        return math.inf
    return max(2.0 * math.ceil(max(1, math.ceil(math.exp(log_d))) / ratio), math.exp(2 * penalty))
