"""The logarithmic derivatives of the gamma function, to the same bits everywhere."""

from __future__ import annotations

from patientbandits.inference.posterior.portable import logarithm


def digamma(x: float) -> float:
    """psi(x) for x > 0: psi(x + 1) = psi(x) + 1/x up to 8, then the asymptotic series."""
    total = 0.0
    while x < 8.0:
        total -= 1.0 / x
        x += 1.0
    inverse = 1.0 / (x * x)
    series = inverse * (1.0 / 12.0 - inverse * (1.0 / 120.0 - inverse / 252.0))
    return total + logarithm(x) - 0.5 / x - series


def trigamma(x: float) -> float:
    """psi'(x) for x > 0, as `digamma`."""
    total = 0.0
    while x < 8.0:
        total += 1.0 / (x * x)
        x += 1.0
    inverse = 1.0 / (x * x)
    series = inverse * (1.0 / 6.0 - inverse * (1.0 / 30.0 - inverse / 42.0))
    return total + 1.0 / x + 0.5 * inverse + series / x
