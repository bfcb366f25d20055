"""Plays the suite, the targets and the clock, and writes page, figures and data."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from patientbandits.errors import whole
from patientbandits.research.compare import timing
from patientbandits.research.compare.advice import advice
from patientbandits.research.compare.cases import QUICK_SUITE_RUNS, Case
from patientbandits.research.compare.comparison import Comparison, write
from patientbandits.research.compare.contenders import Contender, world_for
from patientbandits.research.compare.delay_bench import SUITE_SEED
from patientbandits.research.compare.scores import Score, scores, standings, standings_by_kind
from patientbandits.research.compare.selection import FIRST_SUITE, SUITES, chosen
from patientbandits.research.compare.targets import LEAST_TARGET_RUNS, TARGET_RUNS, Target, targets
from patientbandits.simulation import Result, Simulation, Start, executor, progress_from

RECORDED_ROUNDS = 60


def run(
    out: str | os.PathLike[str],
    problems: Sequence[str | Case] | None = None,
    contenders: Sequence[str | Contender] | None = None,
    runs: int | None = None,
    seed: int = SUITE_SEED,
    quick: bool = False,
    with_bars: bool | None = None,
    workers: int | None = None,
    start: Start | None = None,
    on: str = "threads",
    suite: str = FIRST_SUITE,
    tuned: bool = False,
) -> Comparison:
    """Play ``contenders`` on ``problems``; page, figures and data go to the folder ``out``.

    problems, contenders   names, or your own `Case` and `Contender`; all by default, with ``quick``
                           a few
    runs         of each problem, instead of its own number
    seed         of the worlds, and of the random problems
    with_bars    whether the bars are measured; by default if nothing is left out
    start        called with the amount of work; gives a function that is told how much was done
    workers, on  as in `sweep`
    suite        the name of the suite, of `SUITES`
    tuned        whether rivals take part once more, with constants chosen on other problems
    Finished pieces are kept in ``out``/pieces: after an interruption the same call goes on where it
    stopped.
    """
    seed = whole("compare", "seed", seed)
    cases, players = chosen(problems, contenders, quick, seed, suite, tuned)
    if runs is not None or quick:
        count = QUICK_SUITE_RUNS if runs is None else whole("compare", "runs", runs, 2)
        cases = [replace(case, runs=count) for case in cases]
    if with_bars is None:
        everything = not quick and problems is None and contenders is None
        with_bars = everything and suite == FIRST_SUITE
    plan = {
        (case.name, player.name): simulation_of(case, player, seed)
        for case in cases
        for player in players
    }
    with executor(workers, on):
        pass  # who cannot do the work says so before anything is written
    folder = Path(out)
    pieces = folder / "pieces"
    for part in (folder / "figures", folder / "data", pieces):
        part.mkdir(parents=True, exist_ok=True)

    groups = timing.grouped(plan)
    # One simulation of each group is timed, so that progress can be told in time, not in rounds.
    samples = {key: next(iter(group.values())) for key, group in groups.items()}
    clock = timing.timings(samples, pieces, progress_from(start, len(samples)))
    batches = [timing.Batch(list(group.values()), clock[key]) for key, group in groups.items()]
    aims: Sequence[Target] = ()
    if with_bars:
        aims = targets()
    aim_runs = max(runs or TARGET_RUNS, LEAST_TARGET_RUNS)
    for aim in aims:
        simulations = aim.simulations(aim_runs, seed)
        batches.append(timing.Batch(simulations, timing.usual_time(simulations, clock)))

    played = iter(timing.play_batches(batches, pieces, start, workers=workers, on=on))
    results: dict[tuple[str, str], Result] = {}
    for group in groups.values():
        results |= zip(group, next(played), strict=True)
    measured = [aim.measured(next(played)) for aim in aims]

    knowledge = {player.name: player.group(cases[0].problem) for player in players}
    beside = [player.name for player in players if not player.counted]
    rows: list[Score] = []
    for case in cases:
        own = {player.name: results[case.name, player.name] for player in players}
        rows += scores(case, own, knowledge, beside)
    new = [player.name for player in players if player.new]
    comparison = Comparison(
        cases=tuple(cases),
        contenders=tuple(players),
        groups=knowledge,
        results=results,
        scores=rows,
        standings=standings(rows),
        by_kind=standings_by_kind(cases, rows),
        advice=advice(cases, rows, _with_fewest_arms(clock), new),
        bars=measured,
        seconds_per_round=clock,
        seed=seed,
        rounds=sum(batch.rounds for batch in batches),
        suite=SUITES[suite],
    )
    write(comparison, folder)
    return comparison


def simulation_of(case: Case, player: Contender, seed: int) -> Simulation:
    policy = player.make(case.problem)
    return Simulation(
        problem=world_for(case.problem, policy),
        policy=policy,
        horizon=case.horizon,
        runs=case.runs,
        seed=seed,
        record=RECORDED_ROUNDS,
    )


def _with_fewest_arms(clock: timing.Timings) -> dict[str, float]:
    """contender -> seconds per round on its problems with the fewest arms."""
    seconds = {}
    for name, _ in clock:
        fewest = min(arms for other, arms in clock if other == name)
        seconds[name] = clock[name, fewest]
    return seconds
