"""Which simulations the study of adaptivity needs."""

from __future__ import annotations

import math

from patientbandits.delays import Mixture, NoDelay, Pareto
from patientbandits.paper.section8_adaptive import (
    ADAPTIVE_ALPHA_FLOOR,
    ADAPTIVE_C,
    ADAPTIVE_MEAN_FLOOR,
)
from patientbandits.policies import (
    UCB1,
    AdaptPatientBandits,
    PatientBandits,
    PatientKL,
    PatientThompson,
    Policy,
)
from patientbandits.problem import Problem
from patientbandits.sweeps import Simulation

C, ALPHA_FLOOR, MEAN_FLOOR = ADAPTIVE_C, ADAPTIVE_ALPHA_FLOOR, ADAPTIVE_MEAN_FLOOR
HORIZON, RUNS, SEED = 10_000_000, 30, 2020
QUICK_HORIZON, QUICK_RUNS = 10_000, 4
SHORTER, FEWER = 10, 3
"""Departures, gaps and PatientThompson stop at the horizon divided by the first; curves take the runs divided by the second, and
PatientThompson, whose rounds cost a hundred times as much, half of these."""

DEPARTURE_RUNS = 7
"""At most; odd, so that the median is one of them."""

STEP = 1.02
"""Recorded rounds grow by 2 %: how exactly a departure is known."""

GAP, TAIL = 0.2, 0.3
PENALTIES: tuple[str | float, ...] = ("paper", 1.0, 0.3, 0.1, 0.03, 0.01)
VARIANTS = [(ratio, penalty) for ratio in ("printed", "c/2") for penalty in PENALTIES]
DEPARTURES: list[tuple[str, str | float]] = [("printed", p) for p in ("paper", 1.0, 0.3, 0.1, 0.01)]
DEPARTURES += [("c/2", p) for p in ("paper", 4.0, 3.0, 1.0)]
DEPARTURE_TAILS, DEPARTURE_GAPS = (0.2, 0.3, 0.5, 0.8), (0.2, 0.05)
HARD_TAIL, HARD_C, HARD_GAPS = 0.2, 0.1, (0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32)
THOMPSON = "PatientThompson"


def slow(gap: float, tail: float, c: float = C) -> Problem:
    """Means 0.6 and 0.6 + gap; P(D > m) = c m^-tail and m^-tail: Assumption 2 holds with this c, the better arm is the slower one."""
    return Problem([0.6, 0.6 + gap], [Mixture([NoDelay(), Pareto(tail)], [1 - c, c]), Pareto(tail)])


def ratio_of(ratio: str, c: float = C) -> float:
    """d / D: "printed" (c/2)^(1/alpha_floor), or "c/2"."""
    return (c / 2) ** (1 / ALPHA_FLOOR) if ratio == "printed" else c / 2


def adapt(ratio: str, penalty: str | float, c: float = C) -> AdaptPatientBandits:
    """Adapt-PatientBandits with the printed index."""
    return AdaptPatientBandits(
        c, ALPHA_FLOOR, MEAN_FLOOR, penalty=penalty, ratio=ratio_of(ratio, c)
    )


def adapt_name(ratio: str, penalty: str | float) -> str:
    if (ratio, penalty) == ("printed", "paper"):
        return "Adapt as printed"
    return f"Adapt, d/D {ratio}, penalty {'printed' if penalty == 'paper' else f'{penalty:g}'}"


FAVOURITE, PRINTED = adapt_name("c/2", 1.0), adapt_name("printed", "paper")
"""The variant that follows alpha, and the paper's."""


def others(tail: float) -> dict[str, Policy]:
    """What one would use instead: told nothing, told the true tail, or told the smallest that is thought possible."""
    return {
        "UCB1": UCB1(),
        f"PatientBandits, alpha {tail:g} (true)": PatientBandits(tail),
        f"PatientBandits, alpha {ALPHA_FLOOR:g}": PatientBandits(ALPHA_FLOOR),
        f"PatientKL, alpha {tail:g} (true)": PatientKL(tail),
        f"PatientKL, alpha {ALPHA_FLOOR:g}": PatientKL(ALPHA_FLOOR),
    }


def recorded(horizon: int) -> list[int]:
    """Rounds from 10 on, 2 % apart, the powers of ten, and where the shorter simulations end."""
    steps = range(math.ceil(math.log(horizon) / math.log(STEP)) + 1)
    rounds = {round(STEP**j) for j in steps} | {10**k for k in range(1, 10)}
    return sorted(t for t in rounds | {horizon, horizon // SHORTER} if 10 <= t <= horizon)


def curves(horizon: int, runs: int, seed: int) -> dict[str, Simulation]:
    """Policy -> simulation, on the arms of the paper's adaptive experiment."""
    policies: dict[str, Policy] = {
        adapt_name(ratio, penalty): adapt(ratio, penalty) for ratio, penalty in VARIANTS
    }
    policies |= others(TAIL)
    problem, shorter, fewer = slow(GAP, TAIL), horizon // SHORTER, max(2, runs // FEWER)
    found = {
        name: Simulation(problem, policy, horizon, fewer, seed, recorded(horizon))
        for name, policy in policies.items()
    }
    return found | {
        THOMPSON: Simulation(
            problem, PatientThompson(), shorter, max(2, fewer // 2), seed, recorded(shorter)
        )
    }


def departures(
    horizon: int, runs: int, seed: int
) -> dict[tuple[float, float, str, str | float], Simulation]:
    """(gap, tail, d / D, penalty) -> simulation."""
    shorter, fewer = horizon // SHORTER, min(runs, DEPARTURE_RUNS)
    return {
        (gap, tail, ratio, penalty): Simulation(
            slow(gap, tail), adapt(ratio, penalty), shorter, fewer, seed, recorded(shorter)
        )
        for gap in DEPARTURE_GAPS
        for tail in DEPARTURE_TAILS
        for ratio, penalty in DEPARTURES
    }


def gaps(horizon: int, runs: int, seed: int) -> dict[tuple[float, str], Simulation]:
    """(gap, policy) -> simulation, where the better arm is by far the slower one."""
    policies = others(HARD_TAIL)
    policies |= {
        adapt_name(ratio, penalty): adapt(ratio, penalty, HARD_C)
        for ratio, penalty in (("printed", "paper"), ("c/2", 1.0))
    }
    return {
        (gap, name): Simulation(
            slow(gap, HARD_TAIL, HARD_C), policy, horizon // SHORTER, runs, seed, record=1
        )
        for gap in HARD_GAPS
        for name, policy in policies.items()
    }
