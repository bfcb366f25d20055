"""Intervals over problems: by their definition, with mirrors together, and how often they cover."""

from __future__ import annotations

import math

import numpy as np
import pytest

from patientbandits.research.compare.spread import (
    LEAST_FAMILIES,
    RESAMPLES,
    SEED,
    family,
    interval,
    told_apart,
)

NAMES = [f"p{number}" for number in range(12)]


def naive_interval(logs: dict[str, float]) -> tuple[float, float]:
    """Draw families one by one, and take the mean over all of their problems."""
    families: dict[str, list[float]] = {}
    for problem, log in logs.items():
        families.setdefault(family(problem), []).append(log)
    groups = list(families.values())
    size = (RESAMPLES, len(groups) - 1)
    means = []
    for drawn in np.random.default_rng(SEED).integers(len(groups), size=size):
        values = [log for place in drawn for log in groups[place]]
        means.append(math.exp(sum(values) / len(values)))
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def with_mirrors(rng: np.random.Generator, direction: float) -> dict[str, float]:
    logs = {}
    for name in NAMES:
        shift = rng.normal(0, 0.1)
        logs[name] = shift + direction
        logs[f"{name}_mirrored"] = shift - direction
    return logs


def test_the_interval_by_its_definition() -> None:
    rng = np.random.default_rng(1)
    uneven = {**with_mirrors(rng, 0.4), "alone": 2.0, "slow_is_worst": 0.1, "heterogeneous": 1.0}
    for logs in (uneven, {name: rng.normal() for name in NAMES}):
        assert interval(logs) == pytest.approx(naive_interval(logs), rel=1e-3)


def test_a_problem_and_its_mirror_are_drawn_together() -> None:
    """A policy that expects late rewards wins on one what it loses on the other; apart they would
    look like noise."""
    logs = with_mirrors(np.random.default_rng(2), 1.0)
    low, high = interval(logs) or (0.0, 0.0)
    renamed = {f"q{number}": log for number, log in enumerate(logs.values())}
    wide_low, wide_high = interval(renamed) or (0.0, 0.0)
    assert math.log(high / low) < 0.3 * math.log(wide_high / wide_low)
    assert family("two_modes_mirrored") == family("two_modes") == "two_modes"
    assert family("slow_is_worst") == family("heterogeneous")
    assert family("theorem4_b") == family("theorem4_a")


def test_the_interval_covers() -> None:
    """Of 400 samples of 30 problems 95 %, give or take four standard errors."""
    rng = np.random.default_rng(3)
    hits = 0
    for _ in range(400):
        low, high = interval({f"p{k}": rng.normal(0.5, 1.0) for k in range(30)}) or (0.0, 0.0)
        hits += low <= math.exp(0.5) <= high
    assert 0.9 < hits / 400 < 0.99


def test_too_few_problems_say_nothing() -> None:
    few = dict.fromkeys(NAMES[: LEAST_FAMILIES - 1], 1.0)
    assert interval(few) is None
    assert told_apart(few, few) is None
    mirrored = {**few, **{f"{name}_mirrored": 1.0 for name in few}}
    assert interval(mirrored) is None, "mirrors are no new problems"


def test_policies_are_told_apart_problem_by_problem() -> None:
    """Paired: problems differ far more than the policies on each."""
    rng = np.random.default_rng(4)
    better = {name: rng.normal(0, 2) for name in NAMES}
    worse = {name: log + 0.2 + rng.normal(0, 0.1) for name, log in better.items()}
    assert told_apart(worse, better) is True
    assert told_apart(better, worse) is False
    assert told_apart(better, better) is False
