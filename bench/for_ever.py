"""How near the truth is the rate for ever, which is extrapolated? On random laws of delays.

    python bench/for_ever.py [experiments, 120 by default [seed, 777 by default]]

Each experiment has the arms of a random problem, 100, 400 or 1500 pulls of each at even times, and
lasts 500 to 4000 units. Told are, by family and by the number of pulls: how often the 95 % interval
holds the rate; the relative bias and error of its mean; the error of the rate within the largest
age beside it; and the interval's width over the rate."""

from __future__ import annotations

import sys

import numpy as np

import patientbandits as pb
from patientbandits.problems.random_problems import random_problem

PULLS = (100, 400, 1500)
SPANS = (500, 1000, 2000, 4000)


def counts(law: pb.Delay, mean: float, pulls: int, span: int, random) -> pb.CureCounts:
    """What is known at the end of pulls at random times."""
    begun = random.integers(0, span, pulls)
    delays = np.array(law.sample(pulls, random))
    seen = (random.random(pulls) < mean) & (begun + delays <= span)
    return pb.CureCounts.of(ages=span - begun[~seen], delays=delays[seen])


def experiment(number: int, seed: int, random) -> list[tuple[str, list[float]]]:
    """Of each arm: its family, and pulls, truth, mean, low, high, mean within the largest age."""
    problem = random_problem(seed, number)
    pulls = int(random.choice(PULLS))
    span = int(random.choice(SPANS))
    laws = list(zip(problem.delays, problem.means, strict=True))
    told = pb.posterior([counts(law, mean, pulls, span, random) for law, mean in laws])
    found = []
    for (law, mean), arm in zip(laws, told, strict=True):
        rate = arm.rate
        row = [pulls, mean, rate.mean, rate.low, rate.high, arm.rate_within.mean]
        found.append((type(law).__name__, row))
    return found


def line(name: str, rows: np.ndarray) -> str:
    """One line of the table."""
    truth = rows[:, 1]
    held = np.mean((rows[:, 3] <= truth) & (truth <= rows[:, 4]))
    bias = np.mean(rows[:, 2] / truth - 1)
    error = np.mean(abs(rows[:, 2] / truth - 1))
    within = np.mean(abs(rows[:, 5] / truth - 1))
    width = np.mean((rows[:, 4] - rows[:, 3]) / truth)
    return f"{name:14}{len(rows):6}{held:8.0%}{bias:+8.2f}{error:8.2f}{within:8.2f}{width:8.2f}"


def main() -> None:
    """Print the table."""
    experiments = int(sys.argv[1]) if len(sys.argv) > 1 else 120
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 777
    random = np.random.default_rng(seed)
    found = []
    for number in range(experiments):
        found += experiment(number, seed, random)
    families = np.array([family for family, _ in found])
    rows = np.array([row for _, row in found])
    print(f"{'':14}{'arms':>6}{'held':>8}{'bias':>8}{'error':>8}{'within':>8}{'width':>8}")
    print(line("all", rows))
    for family in sorted(set(families)):
        print(line(family, rows[families == family]))
    for pulls in PULLS:
        print(line(f"{pulls} pulls", rows[rows[:, 0] == pulls]))


if __name__ == "__main__":
    main()
