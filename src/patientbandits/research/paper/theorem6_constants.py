"""Theorem 6 and Proposition 1: from where on they say anything."""

from __future__ import annotations

from collections.abc import Callable

from patientbandits import theory
from patientbandits.research.paper.claim import Claim, verdict
from patientbandits.research.paper.section8_adaptive import (
    ADAPTIVE_ALPHA_FLOOR,
    ADAPTIVE_C,
    ADAPTIVE_MEAN_FLOOR,
    TRUE_ALPHA,
)

PLAYABLE = 10**12
"""Rounds that nobody will play more of: at a nanosecond each, a quarter of an hour a run."""


def adaptive_claims() -> list[Claim]:
    """With the parameters of Section 8.3 and two arms."""
    return [constant_claim(PLAYABLE), interval_claim(PLAYABLE)]


def constant_claim(most: int) -> Claim:
    """Fails if the bound exceeds T for every T up to this many rounds."""
    says_something = first_power(most, lambda T: printed_bound(T) < T)
    at_most = printed_bound(most) / most
    return Claim(
        source="Theorem 6",
        statement="Its bound on the regret of Adapt-PatientBandits is below T, so says something",
        verdict=verdict(says_something is not None),
        measured=(
            f"at T = 10^{len(str(most)) - 1} the bound is {at_most:.0e} T; "
            f"it is below T {in_words('from T', says_something)}"
        ),
        why="The rate T (K/T)^(alpha ^ 1/2) is what it offers; docs/adaptivity.md measures it.",
    )


def interval_claim(most: int) -> Claim:
    """Fails if the interval contains [0, 1/2], where the estimate always is, for every N."""
    lower = first_power(most, lambda N: interval(N)[0] > 0)
    upper = first_power(most, lambda N: interval(N)[1] < 0.5)
    return Claim(
        source="Proposition 1",
        statement="Its interval says something about the estimate of alpha",
        verdict=verdict(lower is not None, upper is not None),
        measured=(
            "after N pulls of the leading arm the lower end is above 0 "
            f"{in_words('from N', lower)}, the upper end below 1/2 {in_words('from N', upper)}"
        ),
        why="Section 8.3 plays 10 000 rounds. Before d >= 1 there is no estimate at all.",
    )


def printed_bound(horizon: int) -> float:
    return theory.adaptive_bound(
        2, horizon, TRUE_ALPHA, ADAPTIVE_C, ADAPTIVE_ALPHA_FLOOR, ADAPTIVE_MEAN_FLOOR
    )


def interval(pulls: int) -> tuple[float, float]:
    """Of Proposition 1, after this many pulls in as many rounds."""
    return theory.alpha_interval(
        pulls, 2, pulls, TRUE_ALPHA, ADAPTIVE_C, ADAPTIVE_ALPHA_FLOOR, ADAPTIVE_MEAN_FLOOR
    )


def first_power(most: int, is_true: Callable[[int], bool]) -> int | None:
    """The first power of ten up to ``most`` of which it is true."""
    power = 10
    while power <= most:
        if is_true(power):
            return power
        power *= 10
    return None


def in_words(start: str, power: int | None) -> str:
    if power is None:
        return f"nowhere up to 10^{len(str(PLAYABLE)) - 1}"
    return f"{start} = 10^{len(str(power)) - 1} on"
