"""Chooses the constants of `research.compare.tuned`: python -m bench.tune [--runs N] [POLICY ...]

Every value of every policy plays 25 random problems of a seed of its own and their mirrors; the
value with the least geometric mean of regrets is chosen.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import replace

from patientbandits.problems import mirrored
from patientbandits.research.compare.cases import Case
from patientbandits.research.compare.delay_bench import random_cases
from patientbandits.research.compare.run import simulation_of
from patientbandits.research.compare.tuned import TUNABLE, Tunable

TUNING_SEED = 1719
RUNS = 20
LEAST_REGRET = 0.1


def tuning_cases(runs: int = RUNS) -> list[Case]:
    """Random problems that the suite has not, both ways round."""
    drawn = [replace(case, runs=runs) for case in random_cases(TUNING_SEED)]
    return [*drawn, *(replace(case, problem=mirrored(case.problem)) for case in drawn)]


def typical_regret(tunable: Tunable, value: float, cases: list[Case]) -> float:
    """The geometric mean over the cases."""
    logs = []
    for case in cases:
        simulation = simulation_of(case, tunable.contender(value), TUNING_SEED)
        regret = float(simulation.play(0, case.runs, 1).final.mean())
        logs.append(math.log(max(regret, LEAST_REGRET)))
    return math.exp(math.fsum(logs) / len(logs))


def best_value(regrets: dict[float, float]) -> float:
    return min(regrets, key=regrets.__getitem__)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("policies", nargs="*", metavar="POLICY")
    parser.add_argument("--runs", type=int, default=RUNS)
    options = parser.parse_args()
    cases = tuning_cases(options.runs)
    for tunable in TUNABLE:
        if options.policies and tunable.policy not in options.policies:
            continue
        regrets = {value: typical_regret(tunable, value, cases) for value in tunable.values}
        row = "  ".join(f"{value:g}: {regret:.1f}" for value, regret in regrets.items())
        best = best_value(regrets)
        mark = "" if best == tunable.chosen else f"   IS {tunable.chosen:g}"
        print(f"{tunable.policy} {tunable.constant}: {best:g}{mark}   ({row})", flush=True)


if __name__ == "__main__":
    main()
