"""problem x policy x seed -> Result; and the same runs again, for pulls over time."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from patientbandits._util.progress import Progress, progress_of
from patientbandits._version import __version__
from patientbandits.errors import InputError, require, whole
from patientbandits.policies import Policy
from patientbandits.policies.base import require_window
from patientbandits.problems import Problem
from patientbandits.simulation.engine import Block, Job, play
from patientbandits.simulation.result import Result

COUNTS_KEPT = 1 << 24
"""A result keeps its pulls over time if they are so many numbers at most: 64 MB."""


def simulate(
    problem: Problem,
    policy: Policy,
    horizon: int,
    runs: int = 100,
    seed: int = 0,
    *,
    record: int | Sequence[int] = 200,
    anytime: bool = False,
    first_run: int = 0,
    workers: int | None = None,
    progress: Progress | bool | None = None,
    debug: bool = False,
) -> Result:
    """Play ``policy`` on ``problem`` for ``horizon`` rounds, ``runs`` times.

    The same seed gives every policy the same world: the visitor of run r and round t would answer
    each arm in the same way, whoever asks. Results depend on nothing else; in particular not on
    ``workers``.

    record     how many rounds to record, evenly spaced, or which ones; the horizon always is one
               of them
    anytime    do not tell the policy the horizon
    first_run  number of the first run: runs 0..99 and 100..199 are two halves of runs 0..199
    workers    threads; by default one per core
    progress   called with the number of runs done since the last call; True shows a bar
    debug      play the same runs interpreted, in this thread: prints and breakpoints work, indices
               are checked; about a thousand times slower
    """
    require_match("simulate", problem, policy)
    horizon = whole("simulate", "horizon", horizon, 1)
    runs = whole("simulate", "runs", runs, 1)
    rule = f"horizon must be at least the number of arms, {problem.arms}, and below 2^31 - 2"
    require(problem.arms <= horizon < 2**31 - 2, "simulate", rule, horizon=horizon)
    seed = whole("simulate", "seed", seed)
    first_run = whole("simulate", "first_run", first_run)
    if workers is not None:
        workers = whole("simulate", "workers", workers, 1)
    rounds = recorded_rounds(record, horizon)
    job = Job(
        problem=problem,
        policy=policy,
        rounds=rounds,
        runs=range(first_run, first_run + runs),
        seed=seed,
        anytime=anytime,
        interpreted=debug,
    )
    # Kept for `Result.plot`, which must not simulate, unless they would fill the memory.
    with_counts = runs * len(rounds) * problem.arms <= COUNTS_KEPT
    out = play(job, workers, progress_of(progress, runs, "run"), with_counts)
    return Result(
        rounds=rounds,
        regret=out.regret,
        pulls=out.pulls,
        trace=out.trace if out.trace.size else None,
        settings=settings_of(problem, policy, horizon, runs, seed, anytime, first_run),
        problem=problem,
        policy=policy,
        counts=out.counts if with_counts else None,
    )


def pulls_over_time(result: Result, workers: int | None = None) -> NDArray[np.int64]:
    """(runs, rounds, arms): pulls of each arm up to each recorded round of ``result``.

    A result of `simulate` has them, unless they are too many. For any other, and one from a file,
    the runs are played again, in the same worlds, which takes as long as the simulation did; the
    result then keeps them.
    """
    if result.counts is None:
        object.__setattr__(result, "counts", _play_again(result, workers).counts)
    return np.asarray(result.counts, np.int64)


def _play_again(result: Result, workers: int | None) -> Block:
    if result.problem is None or result.policy is None:
        raise InputError(
            "pulls_over_time: problem and policy must be known; a result loaded from a file does "
            "not bring those of your own."
        )
    first_run = result.settings["first_run"]
    job = Job(
        problem=result.problem,
        policy=result.policy,
        rounds=result.rounds,
        runs=range(first_run, first_run + result.settings["runs"]),
        seed=result.settings["seed"],
        anytime=result.settings["anytime"],
    )
    return play(job, workers, with_counts=True)


def require_match(owner: str, problem: Problem, policy: Policy) -> None:
    """Refuse what is no problem or no policy, and a policy that cannot play on the problem.

    One that needs reports cannot run where rewards of 0 are never announced; the other way round
    it can.
    """
    require(isinstance(problem, Problem), owner, "problem must be a Problem", problem=problem)
    require(isinstance(policy, Policy), owner, "policy must be a policy", policy=policy)
    heard = policy.feedback != "reports" or problem.feedback == "reports"
    rule = (
        f"{policy.owner} must be told of every pull, zeros too: "
        "it needs a problem with feedback 'reports'"
    )
    require(heard, owner, rule, feedback=problem.feedback)
    require_window(owner, problem.window, policy)


def recorded_rounds(record: int | Sequence[int], horizon: int) -> NDArray[np.int64]:
    """The rounds to record, growing, the last one the horizon."""
    if isinstance(record, (Sequence, np.ndarray)):
        chosen = [whole("simulate", "every recorded round", t, 1) for t in record]
        rule = f"every recorded round must be <= the horizon, {horizon}"
        require(all(t <= horizon for t in chosen), "simulate", rule, record=max(chosen, default=0))
        return np.unique(np.array([*chosen, horizon], np.int64))
    count = whole("simulate", "record", record, 1)
    spaced = np.linspace(horizon / count, horizon, count).round().astype(np.int64)
    return np.unique(spaced.clip(1, horizon))


def settings_of(
    problem: Problem,
    policy: Policy,
    horizon: int,
    runs: int,
    seed: int,
    anytime: bool,
    first_run: int,
) -> dict[str, Any]:
    """All that a result depends on, as plain data."""
    import numba

    versions = {
        "patientbandits": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
    }
    return {
        "problem": problem.describe(),
        "policy": policy.describe(),
        "horizon": horizon,
        "runs": runs,
        "first_run": first_run,
        "seed": seed,
        "anytime": anytime,
        "versions": versions,
    }
