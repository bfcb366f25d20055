"""The paper's assumption about delays, and the bias it implies.

Assumption 1: P(D > m) <= (m v 1)^-alpha. If n pulls were made in the last n rounds, the worst case,
the share of rewards not yet visible is at most (1/n) sum_{v=1..n} v^-alpha <= 2 n^-(alpha ^ 1/2)
(proof of Theorem 1).
"""

from __future__ import annotations

import math

EXACT = 32


def mean_power(n: int, alpha: float) -> float:
    """(1/n) sum_{v=1..n} v^-alpha, in time independent of n.

    Term by term up to 32; beyond, by the Euler-Maclaurin formula from there,

        sum_{v=h+1..n} f(v) = int_h^n f + [f/2 + f'/12 - f'''/720 + f'''''/30240]_h^n,

    f(v) = v^-alpha, whose error is below 1e-15 of the sum.
    """
    total = 0.0
    for v in range(1, min(n, EXACT) + 1):
        total += v**-alpha
    if n <= EXACT:
        return total / n
    h = float(EXACT)
    log_ratio = math.log(n / h)
    rise = 1.0 - alpha
    if rise == 0.0:
        integral = h**rise * log_ratio
    else:
        integral = h**rise * math.expm1(rise * log_ratio) / rise
    return (total + integral + corrections(float(n), alpha) - corrections(h, alpha)) / n


def corrections(v: float, alpha: float) -> float:
    """f/2 + f'/12 - f'''/720 + f'''''/30240 of f(v) = v^-alpha."""
    f = v**-alpha
    first = -alpha * f / v
    third = first * (alpha + 1.0) * (alpha + 2.0) / (v * v)
    fifth = third * (alpha + 3.0) * (alpha + 4.0) / (v * v)
    return f / 2.0 + first / 12.0 - third / 720.0 + fifth / 30240.0
