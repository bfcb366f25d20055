"""What a round costs with more arms, with other policies, and late in a long run."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import patientbandits as pb
from bench.measure import take_turns, timed
from bench.table import Row, per_round
from bench.workloads import ALPHA, Workload, many_arms, two_arms

LAW = pb.Pareto(0.7)
PATIENT = pb.PatientBandits(ALPHA)


@dataclass(frozen=True)
class Own(pb.Policy):
    """A policy as a user would write it."""

    c: float = 2.0

    def index(self, arm, round):
        return arm.rewards / arm.pulls + math.sqrt(self.c * math.log(round) / arm.pulls)


BESIDE_PATIENT: list[tuple[str, pb.Policy, float]] = [
    ("AdaptPatientBandits", pb.AdaptPatientBandits(0.7, 0.1, 0.6), 3),
    ("DUCB wait, m=50", pb.DUCB(LAW, 50, "wait"), 3),
    ("DUCB discard, m=50", pb.DUCB(LAW, 50, "discard"), 3),
    ("DUCB eq5, m=200", pb.DUCB(LAW, 200), 10),
    ("a user's own index", Own(), 2),
]
"""Policy and how many times PatientBandits' time per round it may take."""

ALL: dict[str, pb.Policy] = {
    "PatientBandits": PATIENT,
    "AdaptPatientBandits, estimating": pb.AdaptPatientBandits(
        0.7, 0.1, 0.6, penalty=1.0, ratio=0.35
    ),
    "DUCB wait, m=50": pb.DUCB(LAW, 50, "wait"),
    "DUCB discard, m=50": pb.DUCB(LAW, 50, "discard"),
    "DUCB eq5, m=50": pb.DUCB(LAW, 50),
    "DUCB uncensored": pb.DUCB(LAW, None, "uncensored"),
    "DKLUCB uncensored": pb.DKLUCB(LAW, None, "uncensored"),
    "PatientKL": pb.PatientKL(0.3),
    "UCB1": pb.UCB1(),
    "KLUCB": pb.KLUCB(),
    "MOSS": pb.MOSS(),
    "Thompson": pb.Thompson(),
}


def per_round_of(
    cases: dict[str, tuple[Workload, pb.Policy]], repetitions: int
) -> dict[str, float]:
    """Nanoseconds per round of each case, after a short game to compile its kernel and tables."""
    for work, policy in cases.values():
        replace(work, runs=1).simulate(policy)
    best = take_turns(
        {name: timed(lambda w=w, p=p: w.simulate(p)) for name, (w, p) in cases.items()}, repetitions
    )
    return {name: 1e9 * seconds / cases[name][0].rounds for name, seconds in best.items()}


def arms_rows(quick: bool) -> list[Row]:
    """More arms."""
    horizon, runs = 100_000, 2 if quick else 8
    cost = per_round_of(
        {str(arms): (many_arms(arms, horizon, runs), PATIENT) for arms in (10, 1000)}, 4
    )
    return [
        Row(
            f"K=1000 over K=10, T={horizon:,}",
            cost["1000"] / cost["10"],
            per_round(cost["1000"], cost["10"]),
            at_most=5,
        )
    ]


def policy_rows(quick: bool) -> list[Row]:
    """Other policies, in times of PatientBandits' cost."""
    work = two_arms(10_000, 20 if quick else 100)
    cases = {
        "PatientBandits": (work, PATIENT),
        **{name: (work, policy) for name, policy, _ in BESIDE_PATIENT},
    }
    cost = per_round_of(cases, 5 if quick else 15)
    base = cost["PatientBandits"]
    return [
        Row(name, cost[name] / base, per_round(cost[name], base), at_most=bar)
        for name, _, bar in BESIDE_PATIENT
    ]


SAME_DELAYS = (0.7, 0.7)
"""With the arms of W1 later rounds are other work than early ones: they pull the slow arm more often. With these they are not."""


def time_sizes(quick: bool, tails: tuple[float, float]) -> tuple[Workload, Workload]:
    """Short and long."""
    if quick:
        return two_arms(10_000, 80, tails=tails), two_arms(200_000, 4, tails=tails)
    return two_arms(10_000, 100, tails=tails), two_arms(1_000_000, 16, tails=tails)


def time_title(quick: bool, tails: tuple[float, float]) -> str:
    short, long = time_sizes(quick, tails)
    shown = " and ".join(map(str, tails))
    return f"time per round at T = {long.horizon:,} ({long.runs} runs) over T = {short.horizon:,} ({short.runs} runs), K=2, tails {shown}"


def time_rows(quick: bool, tails: tuple[float, float]) -> list[Row]:
    """A hundred times longer."""
    short, long = time_sizes(quick, tails)
    found = []
    for name, policy in ALL.items():
        cost = per_round_of({"short": (short, policy), "long": (long, policy)}, 3)
        found.append(
            Row(
                name,
                cost["long"] / cost["short"],
                per_round(cost["long"], cost["short"]),
                at_most=1.3,
            )
        )
    return found


STRONGER: list[tuple[str, pb.Policy, float]] = [
    ("PatientKL", pb.PatientKL(0.3), 400),
    ("PatientThompson", pb.PatientThompson(), 15_000),
]
"""Policy and how many nanoseconds a round may take at T = 100,000."""


def stronger_rows(quick: bool) -> list[Row]:
    """The policies beyond the paper: a round's time, and how it grows."""
    sizes = (10_000, 100_000, 200_000 if quick else 1_000_000)
    found = []
    for name, policy, bar in STRONGER:
        runs = 1 if bar > 1000 else 10
        cost = per_round_of(
            {
                str(size): (two_arms(size, max(1, runs * sizes[-1] // size // 4)), policy)
                for size in sizes
            },
            2,
        )
        short, middle, long = (cost[str(size)] for size in sizes)
        found += [
            Row(f"{name}, T = {sizes[1]:,}", middle, at_most=bar, unit=" ns"),
            Row(
                f"{name}, T = {sizes[2]:,} over T = {sizes[0]:,}",
                long / short,
                per_round(long, short),
                at_most=1.3,
            ),
        ]
    return found
