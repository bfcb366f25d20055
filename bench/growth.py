"""What a round costs with more arms, with other policies, and late in a long run."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

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


class Game(NamedTuple):
    """A policy and what it plays."""

    work: Workload
    policy: pb.Policy

    def play(self) -> pb.Result:
        return self.work.simulate(self.policy)

    def warm(self) -> None:
        """A short game, to compile the kernel and fill the tables."""
        replace(self.work, runs=1).simulate(self.policy)


def per_round_of(games: dict[str, Game], repetitions: int) -> dict[str, float]:
    """Nanoseconds per round of each game."""
    for game in games.values():
        game.warm()
    best = take_turns({name: timed(game.play) for name, game in games.items()}, repetitions)
    return {name: 1e9 * seconds / games[name].work.rounds for name, seconds in best.items()}


def growth_row(what: str, long: float, short: float, at_most: float) -> Row:
    """How many times as long a round takes in the long game."""
    return Row(what, long / short, per_round(long, short), at_most=at_most)


def arms_rows(quick: bool) -> list[Row]:
    """More arms."""
    horizon = 100_000
    runs = 2 if quick else 8
    games = {
        "few": Game(many_arms(10, horizon, runs), PATIENT),
        "many": Game(many_arms(1000, horizon, runs), PATIENT),
    }
    cost = per_round_of(games, repetitions=4)
    what = f"K=1000 over K=10, T={horizon:,}"
    return [growth_row(what, cost["many"], cost["few"], at_most=5)]


POLICIES_TITLE = "other policies, time per round over PatientBandits' (K=2, T=10,000)"


def policy_rows(quick: bool) -> list[Row]:
    """Other policies, in times of PatientBandits' cost."""
    work = two_arms(10_000, 20 if quick else 100)
    games = {"PatientBandits": Game(work, PATIENT)}
    for name, policy, _ in BESIDE_PATIENT:
        games[name] = Game(work, policy)
    cost = per_round_of(games, repetitions=5 if quick else 15)
    base = cost["PatientBandits"]
    return [growth_row(name, cost[name], base, at_most=bar) for name, _, bar in BESIDE_PATIENT]


SAME_DELAYS = (0.7, 0.7)
"""With the arms of W1 later rounds are other work than early ones, with more pulls of the slow arm.
With these they are not."""


def time_sizes(quick: bool, tails: tuple[float, float]) -> tuple[Workload, Workload]:
    """Short and long; both fill all lanes, where runs are played side by side."""
    if quick:
        return two_arms(10_000, 80, tails=tails), two_arms(200_000, 4, tails=tails)
    return two_arms(10_000, 100, tails=tails), two_arms(1_000_000, 32, tails=tails)


def time_title(quick: bool, tails: tuple[float, float]) -> str:
    short, long = time_sizes(quick, tails)
    shown = " and ".join(map(str, tails))
    above = f"T = {long.horizon:,} ({long.runs} runs)"
    below = f"T = {short.horizon:,} ({short.runs} runs)"
    return f"time per round at {above} over {below}, K=2, tails {shown}"


def time_rows(quick: bool, tails: tuple[float, float]) -> list[Row]:
    """A hundred times longer."""
    short, long = time_sizes(quick, tails)
    found = []
    for name, policy in ALL.items():
        games = {"short": Game(short, policy), "long": Game(long, policy)}
        cost = per_round_of(games, repetitions=2)
        found.append(growth_row(name, cost["long"], cost["short"], at_most=1.2))
    return found


STRONGER: list[tuple[str, pb.Policy, float]] = [
    ("PatientKL", pb.PatientKL(0.3), 400),
    ("PatientThompson", pb.PatientThompson(), 15_000),
]
"""Policy and how many nanoseconds a round may take at T = 100,000."""


def stronger_rows(quick: bool) -> list[Row]:
    """The policies beyond the paper: a round's time, and how it grows."""
    longest = 200_000 if quick else 1_000_000
    found = []
    for name, policy, bar in STRONGER:
        rounds = longest // 4
        if bar <= 1000:
            rounds *= 10
        games = {}
        for what, horizon in (("short", 10_000), ("middle", 100_000), ("long", longest)):
            games[what] = Game(two_arms(horizon, max(1, rounds // horizon)), policy)
        cost = per_round_of(games, repetitions=2)
        growth = f"{name}, T = {longest:,} over T = 10,000"
        found += [
            Row(f"{name}, T = 100,000", cost["middle"], at_most=bar, unit=" ns"),
            growth_row(growth, cost["long"], cost["short"], at_most=1.3),
        ]
    return found
