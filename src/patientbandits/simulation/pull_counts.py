"""How often each arm was pulled, over time.

A simulation records regret, which is a sum over arms of gap * pulls. So the same runs are played
again with gaps that are the digits of a number: with base b = T + 1, gaps 1, b, b^2, ... make
"regret" a number whose digits are the pulls. Doubles are exact up to 2^53: arms that do not fit
into one number are counted in a further pass.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from patientbandits.errors import InputError
from patientbandits.simulation.engine import Job, Match, played
from patientbandits.simulation.result import Result

EXACT_BITS = 53


def pulls_over_time(result: Result, workers: int | None = None) -> NDArray[np.int64]:
    """(runs, rounds, arms): pulls of each arm up to each recorded round of ``result``.

    Plays the runs again, in the same worlds: it takes as long as the simulation did, and longer
    with many arms.
    """
    problem = result.problem
    policy = result.policy
    if problem is None or policy is None:
        raise InputError(
            "pulls_over_time: problem and policy must be known; a result loaded from a file does "
            "not bring those of your own."
        )
    settings = result.settings
    first_run = settings["first_run"]
    job = Job(
        problem=problem,
        policy=policy,
        rounds=result.rounds,
        runs=range(first_run, first_run + settings["runs"]),
        seed=settings["seed"],
        anytime=settings["anytime"],
    )
    counted = [pulls for arms in arms_by_pass(job) for pulls in _counts(job, arms, workers)]
    return np.stack(counted, axis=-1)


def arms_by_pass(job: Job) -> Iterator[range]:
    """Arms that are counted together: as many as have room in one number."""
    together = max(1, int(EXACT_BITS / math.log2(job.horizon + 1)))
    for first in range(0, job.problem.arms, together):
        yield range(first, min(first + together, job.problem.arms))


def _counts(job: Job, arms: range, workers: int | None) -> Iterator[NDArray[np.int64]]:
    """(runs, rounds) for each of the arms."""
    base = job.horizon + 1
    digits = np.zeros(job.problem.arms)
    for place, arm in enumerate(arms):
        digits[arm] = float(base**place)
    match = Match(job, interpreted=False)
    match.world = match.world._replace(gaps=digits)
    out = match.output()
    match.play(0, 0, out)  # compile, or find in the cache, before threads start
    for _ in played(match, out, min(workers or os.cpu_count() or 1, len(job.runs))):
        pass
    left = out.regret.astype(np.int64)
    for _ in arms:
        yield left % base
        left = left // base
