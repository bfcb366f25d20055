"""Curves made to break a rule of the report: numbers around a known curve, not simulated."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

import patientbandits as pb
from patientbandits.research.paper.curve import Series

RUNS = 40

TWO_ARMS = pb.Problem([0.6, 0.8], [pb.Pareto(1.0), pb.Pareto(0.3)])


def made_result(means: np.ndarray, rounds: np.ndarray, noise: float, seed: int) -> pb.Result:
    """Runs around these means; a run's noise is the same in all its rounds."""
    factor = 1 + noise * np.random.default_rng(seed).standard_normal((RUNS, 1))
    trace = np.full((RUNS, len(rounds)), 0.3)
    pulls = np.ones((RUNS, 2), np.int64)
    return pb.Result(rounds, factor * means, pulls, trace, {}, TWO_ARMS, pb.PatientBandits(0.3))


def series(name: str, x: np.ndarray, results: list[pb.Result]) -> Series:
    if len(results) == 1:
        mean = results[0].mean()
        low, high = results[0].interval()
    else:
        mean = np.array([result.mean()[-1] for result in results])
        low = high = mean
    return Series(name=name, x=x, mean=mean, low=low, high=high, results=results)


def over_x(name: str, x: Sequence[float], means: Sequence[float], noise: float = 0.01) -> Series:
    """A curve of one simulation for each x."""
    horizon = np.array([3000])
    results = [
        made_result(np.array([mean], float), horizon, noise, number)
        for number, mean in enumerate(means)
    ]
    return series(name, np.array(x, float), results)


def over_rounds(
    name: str, regret: Callable[[np.ndarray], np.ndarray], rounds: np.ndarray, noise: float = 0.01
) -> Series:
    """A curve of one simulation over its rounds."""
    return series(name, rounds.astype(float), [made_result(regret(rounds), rounds, noise, 1)])


ROUNDS = np.arange(50, 5001, 50)
