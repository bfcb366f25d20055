"""Adapt-PatientBandits: Theorem 6 and Proposition 1."""

from __future__ import annotations

import math

from patientbandits.errors import number, positive, require, whole


def adaptive_rate(arms: int, horizon: int, alpha: float) -> float:
    """T (K/T)^(alpha ^ 1/2)        (Theorem 6)

    The rate of Adapt-PatientBandits, without constants and logarithms. The printed constant,
    8^17 (c mean_floor)^-4 (2/c)^(...) log(2T)^(13/2), exceeds T for any T met in practice.
    """
    owner = "adaptive_rate"
    horizon = whole(owner, "horizon", horizon, 1)
    arms = whole(owner, "arms", arms, 1)
    return horizon * (arms / horizon) ** min(positive(owner, "alpha", alpha), 0.5)


def adaptive_bound(
    arms: int, horizon: int, alpha: float, c: float, alpha_floor: float, mean_floor: float
) -> float:
    """8^17 (c mean_floor)^-4 (2/c)^(4 (alpha ^ 1/2) / alpha_floor) log(2T)^(13/2) T (K/T)^(alpha ^
    1/2)

    Theorem 6 with its printed constant: more than T for every T that can be played.
    """
    owner = "adaptive_bound"
    c = positive(owner, "c", c)
    a = min(positive(owner, "alpha", alpha), 0.5)
    power = 4 * a / positive(owner, "alpha_floor", alpha_floor)
    constant = 8.0**17 * (c * positive(owner, "mean_floor", mean_floor)) ** -4 * (2 / c) ** power
    return constant * math.log(2 * horizon) ** 6.5 * adaptive_rate(arms, horizon, alpha)


def alpha_interval(
    pulls: int,
    arms: int,
    horizon: int,
    alpha: float,
    c: float,
    alpha_floor: float,
    mean_floor: float,
) -> tuple[float, float]:
    """alpha ^ 1/2 - log(8 ((2/c)^((alpha ^ 1/2)/alpha_floor) + B)) / log N,
    alpha ^ 1/2 + log(2^(7/2) B / (c mean_floor)) / log N,  B = sqrt(2 log(2 K T^3))

    Proposition 1: where Adapt-PatientBandits' estimate is, with N pulls of the leading arm. It says
    something only once this is inside [0, 1/2], where the estimate always is.
    """
    owner = "alpha_interval"
    log_n = math.log(whole(owner, "pulls", pulls, 2))
    level = math.log(2 * whole(owner, "arms", arms, 1))
    level += 3 * math.log(whole(owner, "horizon", horizon, 1))
    b = math.sqrt(2 * level)
    c = positive(owner, "c", c)
    a = min(positive(owner, "alpha", alpha), 0.5)
    hidden = (2 / c) ** (a / positive(owner, "alpha_floor", alpha_floor))
    least = c * positive(owner, "mean_floor", mean_floor)
    return a - math.log(8 * (hidden + b)) / log_n, a + math.log(2**3.5 * b / least) / log_n


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
    rule = "penalty must be finite and >= 0"
    require(0 <= number(owner, "penalty", penalty) < math.inf, owner, rule, penalty=penalty)
    require(0 < number(owner, "ratio", ratio) < 1, owner, "ratio must be in (0, 1)", ratio=ratio)
    log_d = (math.log(share * mean * -math.expm1(alpha * math.log(ratio))) + penalty) / alpha
    if max(log_d - math.log(ratio), 2 * penalty) > 700:
        return math.inf
    return max(2.0 * math.ceil(max(1, math.ceil(math.exp(log_d))) / ratio), math.exp(2 * penalty))
