"""Plays the suite, the bars and the clock, and writes page, figures and data."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from patientbandits.compare.advice import Advice, advice
from patientbandits.compare.bars import BAR_RUNS, LEAST_RUNS, Measured, bars
from patientbandits.compare.contenders import GROUPS, Contender, contenders, pick, world_for
from patientbandits.compare.page import write
from patientbandits.compare.scores import Score, Standing, scores, standings
from patientbandits.compare.speed import speeds
from patientbandits.compare.suite import QUICK_RUNS, Case, suite
from patientbandits.errors import whole
from patientbandits.result import Result
from patientbandits.sweeps import Simulation, sweep
from patientbandits.team import team

DEFAULT_SEED = 2020
RECORD = 60
Start = Callable[[int], Callable[[int], None]]


@dataclass(frozen=True)
class Comparison:
    """What `run` found."""

    cases: tuple[Case, ...]
    contenders: tuple[Contender, ...]
    groups: dict[str, str]
    """contender -> what it has to go on, of `GROUPS`"""
    results: dict[tuple[str, str], Result]
    """(problem, contender)"""
    scores: list[Score]
    standings: list[Standing]
    advice: list[Advice]
    bars: list[Measured]
    seconds_per_round: dict[tuple[str, int], float]
    """(contender, arms), on one core"""
    seed: int
    rounds: int

    def data(self) -> dict[str, Any]:
        """All numbers, as plain data."""
        return {
            "seed": self.seed,
            "rounds": self.rounds,
            "problems": [
                {
                    "name": c.name,
                    "what": c.what,
                    "tests": c.tests,
                    "horizon": c.horizon,
                    "runs": c.runs,
                    "problem": c.problem.describe(),
                }
                for c in self.cases
            ],
            "policies": [
                {"name": c.name, "group": self.groups[c.name], "note": c.note, "new": c.new}
                for c in self.contenders
            ],
            "groups": GROUPS,
            "scores": [asdict(score) for score in self.scores],
            "standings": [asdict(standing) for standing in self.standings],
            "advice": [asdict(part) for part in self.advice],
            "bars": [asdict(bar) for bar in self.bars],
            "seconds_per_round": [
                {"policy": name, "arms": arms, "seconds": seconds}
                for (name, arms), seconds in self.seconds_per_round.items()
            ],
        }


def run(
    out: str | os.PathLike[str],
    problems: Sequence[str | Case] | None = None,
    contenders: Sequence[str | Contender] | None = None,
    runs: int | None = None,
    seed: int = DEFAULT_SEED,
    quick: bool = False,
    with_bars: bool | None = None,
    workers: int | None = None,
    start: Start | None = None,
    **sweep_options: Any,
) -> Comparison:
    """Play ``contenders`` on ``problems`` and write comparison.html, figures and data to the folder ``out``.

    problems, contenders   names, or your own `Case` and `Contender`; all by default, with ``quick`` a few
    runs        of each problem, instead of its own number
    with_bars   whether the bars are measured; by default if nothing is left out
    start       called with the amount of work; gives a function that is told how much was done
    Finished pieces are kept in ``out``/pieces: after an interruption the same call goes on where it stopped.
    """
    cases, players = chosen(problems, contenders, quick)
    if runs is not None or quick:
        count = QUICK_RUNS if runs is None else whole("compare", "runs", runs, 2)
        cases = [replace(case, runs=count) for case in cases]
    seed = whole("compare", "seed", seed)
    if with_bars is None:
        with_bars = not quick and problems is None and contenders is None
    plan = {
        (case.name, player.name): simulation(case, player, seed)
        for case in cases
        for player in players
    }
    with team(workers, sweep_options.get("on", "threads")):
        pass  # who cannot do the work says so before anything is written
    folder = Path(out)
    for part in ("figures", "data", "pieces"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    batches: dict[tuple[str, int], dict[tuple[str, str], Simulation]] = {}
    for key, planned in plan.items():
        batches.setdefault((key[1], planned.problem.arms), {})[key] = planned
    samples = {of: next(iter(batch.values())) for of, batch in batches.items()}
    clock = speeds(samples, folder / "pieces", start(len(samples)) if start else None)
    hurdles = list(bars()) if with_bars else []
    bar_runs = BAR_RUNS if runs is None else max(runs, LEAST_RUNS)
    costly = [(clock[of], list(batch.values())) for of, batch in batches.items()]
    costly += [
        (_bar_cost(batch, clock), batch)
        for batch in (bar.simulations(bar_runs, seed) for bar in hurdles)
    ]
    played = play(costly, folder / "pieces", start, workers=workers, **sweep_options)
    results = {
        key: result
        for batch, done in zip(batches.values(), played[: len(batches)], strict=True)
        for key, result in zip(batch, done, strict=True)
    }
    measured = [
        bar.measured(done) for bar, done in zip(hurdles, played[len(batches) :], strict=True)
    ]

    groups = {player.name: player.group(cases[0].problem) for player in players}
    rows = [
        row
        for case in cases
        for row in scores(
            case, {player.name: results[case.name, player.name] for player in players}, groups
        )
    ]
    fewest = {
        name: clock[name, min(arms for other, arms in clock if other == name)] for name, _ in clock
    }
    comparison = Comparison(
        tuple(cases),
        tuple(players),
        groups,
        results,
        rows,
        standings(rows),
        advice(cases, rows, fewest, [player.name for player in players if player.new]),
        measured,
        clock,
        seed,
        sum(one.rounds for _, batch in costly for one in batch),
    )
    write(comparison, folder)
    return comparison


def chosen(
    problems: Sequence[str | Case] | None, players: Sequence[str | Contender] | None, quick: bool
) -> tuple[list[Case], list[Contender]]:
    """The problems and contenders that take part."""
    cases: list[Case] = pick("compare", "problem", suite(), problems, Case)
    known: list[Contender] = pick("compare", "policy", contenders(), players, Contender)
    if quick and problems is None:
        cases = [case for case in cases if case.quick]
    if quick and players is None:
        known = [player for player in known if player.quick]
    return cases, known


def simulation(case: Case, player: Contender, seed: int) -> Simulation:
    policy = player.make(case.problem)
    return Simulation(
        world_for(case.problem, policy), policy, case.horizon, case.runs, seed, record=RECORD
    )


def play(
    batches: Sequence[tuple[float, list[Simulation]]],
    pieces: Path,
    start: Start | None,
    **sweep_options: Any,
) -> list[list[Result]]:
    """Carry out batches of simulations, each with its seconds per round: what the estimate of the time left goes by."""
    tell = (
        start(
            max(1, round(1e9 * sum(cost * one.rounds for cost, batch in batches for one in batch)))
        )
        if start
        else None
    )

    def counting(cost: float) -> Callable[[int], None] | None:
        return (lambda rounds: tell(round(1e9 * cost * rounds))) if tell else None

    return [
        sweep(batch, pieces, progress=counting(cost), **sweep_options) for cost, batch in batches
    ]


def _bar_cost(simulations: Sequence[Simulation], clock: Mapping[tuple[str, int], float]) -> float:
    """Seconds per round of a bar's simulations, on average, from the times of policies of the same name."""
    times = [clock.get((one.policy.owner, one.problem.arms), 1e-6) for one in simulations]
    return sum(times) / len(times)
