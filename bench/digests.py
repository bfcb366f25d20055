"""Are the numbers the same? One SHA-256 for each thing that a change of the code must leave alone.

    python -m bench.digests [NAME ...] > before        in the tree of before
    python -m bench.digests --against before           in the tree of now

Through the public API and the command line only, so that the same file, copied to bench/ of another
tree, runs there too, whatever its modules are called. NAME picks items whose names contain it. What
is digested:

simulation   every policy in worlds with and without delay, heavy tails, drift, a calendar, signals,
             many arms
bandit       decisions outside a simulation
analyse      the example shop and three random ones: numbers, and words apart, as they may improve
rehearse     policies in worlds drawn from a shop's history
live         every policy with conversions, retractions, orders, aliases and goals; again after the
             database has been opened anew, so that its log is replayed
old          the databases of older versions in tests/live/data, and what they decide next
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import hashlib
import io
import json
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import patientbandits as pb
from patientbandits import live
from patientbandits.cli import main as command_line

HORIZON, RUNS = 600, 3
REFUSED = "refused"
DATABASES = Path(__file__).parents[1] / "tests"
START = 1_700_000_000.0

Items = Iterator[tuple[str, Any]]

LAW = pb.Lomax(0.7, 5)
MIXTURE = pb.Mixture([pb.NoDelay(), pb.Geometric(0.2), pb.UniformDelay(3, 90)], [0.25, 0.5, 0.25])

WORLDS = {
    "heavy tails": pb.Problem([0.6, 0.8], [pb.Pareto(1.0), pb.Pareto(0.3)]),
    "mixed": pb.Problem(
        [0.3, 0.5, 0.45],
        [pb.Lomax(0.7, 10), pb.LogNormal(8, 1.2), MIXTURE],
        [pb.Beta(3), pb.TwoPoint(0.25, 0.75), pb.Scaled(0.5)],
    ),
    "40 arms": pb.Problem([0.1 + 0.7 * (7 * i % 40) / 40 for i in range(40)], pb.Geometric(0.1)),
    "no delay": pb.Problem([0.5, 0.65], pb.NoDelay()),
    "drift": pb.Problem(
        [0.4, 0.6],
        pb.Weibull(0.6, 12),
        changes=[pb.Shift(250, means=[0.7, 0.3], delays=pb.LogLogistic(9, 1.3))],
    ),
    "calendar": pb.Problem(
        [0.2, 0.3],
        pb.LogNormal(20, 1.0),
        calendar=pb.Calendar(
            20,
            [pb.Factor.weekly([1, 1, 1, 1, 1, 1.5, 1.5]), pb.Factor.trend(0.5, 1.5, 30)],
            [None, pb.Factor.step(15, 0.5)],
        ),
    ),
    "signals": pb.Problem(
        [0.2, 0.4], pb.Fixed(80), signals=pb.Signal(0.9, 0.1, delays=pb.Geometric(0.2))
    ),
    "window": pb.Problem([0.3, 0.5], pb.Empirical([1, 3, 3, 14, 60])).with_window(30),
}

POLICIES: dict[str, Callable[[], pb.Policy]] = {
    "UCB1": pb.UCB1,
    "KLUCB": lambda: pb.KLUCB(c=3.0),
    "MOSS": pb.MOSS,
    "Thompson": pb.Thompson,
    "Uniform": pb.Uniform,
    "ArrivedThompson": pb.ArrivedThompson,
    "PatientThompson": pb.PatientThompson,
    "PatientThompson, window": lambda: pb.PatientThompson(window=16.0),
    "GuardedThompson": lambda: pb.GuardedThompson(guard=pb.PatientKL(0.3, c=3.0)),
    "TopTwoThompson": pb.TopTwoThompson,
    "PatientBandits": lambda: pb.PatientBandits(alpha=0.3),
    "PatientBandits, tight": lambda: pb.PatientBandits(0.2, width="tight", bias="sum"),
    "PatientKL": lambda: pb.PatientKL(alpha=0.3),
    "PatientKL, envelope": lambda: pb.PatientKL(envelope=MIXTURE),
    "ScheduledPatientBandits": pb.ScheduledPatientBandits,
    "AdaptPatientBandits": lambda: pb.AdaptPatientBandits(c=0.7, alpha_floor=0.1, mean_floor=0.6),
    "DUCB": lambda: pb.DUCB(law=LAW, window=20),
    "DUCB, waiting": lambda: pb.DUCB(law=LAW, window=30, mode="wait", exploration=0.5),
    "DKLUCB": lambda: pb.DKLUCB(law=LAW, window=15),
    "BootstrappedThompson": lambda: pb.BootstrappedThompson(replicates=3, steps=1),
    "DTS": lambda: pb.DTS(batch=10, warmup=7),
    "DTSBayes": lambda: pb.DTSBayes(batch=10, warmup=7),
    "the policy that knows the laws": lambda: pb.OracleThompson(laws=LAW),
    "WindowThompson": lambda: pb.WindowThompson(window=40.5),
    "SignalThompson": lambda: pb.SignalThompson(window=30.5, signal_window=4.0, borrowed=2.5),
    "OTFLinUCB": lambda: pb.OTFLinUCB(window=40),
    "OTFLinTS": lambda: pb.OTFLinTS(window=40, spread=0.1),
    "DelayedUCB1": pb.DelayedUCB1,
    "QPMD": lambda: pb.QPMD(base=pb.UCB1()),
    "PhasedElimination": pb.PhasedElimination,
    "OptimisticElimination": pb.OptimisticElimination,
    "SuccessiveElimination": pb.SuccessiveElimination,
    "DelayedEXP3": pb.DelayedEXP3,
    "FloorMixture": lambda: pb.FloorMixture(base=pb.Thompson(), floor=1.0, decay=0.24),
}


def digest(data: Any) -> str:
    """The SHA-256 of plain data and arrays, floats to the last bit."""
    if isinstance(data, str) and data == REFUSED:
        return f"{REFUSED:64}"
    return hashlib.sha256(repr(canonical(data)).encode()).hexdigest()


def canonical(data: Any) -> Any:
    if isinstance(data, np.ndarray):
        return [str(data.dtype), data.shape, hashlib.sha256(data.tobytes()).hexdigest()]
    if isinstance(data, dict):
        return [[str(key), canonical(data[key])] for key in sorted(data, key=str)]
    if isinstance(data, list | tuple):
        return [canonical(part) for part in data]
    if isinstance(data, float):
        return float(data).hex()
    return data


def is_sentence(data: Any) -> bool:
    return isinstance(data, str) and " " in data


def without_sentences(data: Any) -> Any:
    """The data without the texts that people read."""
    if isinstance(data, dict):
        return {key: without_sentences(data[key]) for key in data if not is_sentence(data[key])}
    if isinstance(data, list | tuple):
        return [without_sentences(part) for part in data if not is_sentence(part)]
    return data


def sentences(data: Any) -> list[str]:
    if isinstance(data, dict):
        data = list(data.values())
    if isinstance(data, list | tuple):
        return [text for part in data for text in sentences(part)]  # depth first
    return [data] if is_sentence(data) else []


def in_two(name: str, report: Callable[[], Any]) -> Items:
    """Numbers and words of a report, apart."""
    once = cache(report)
    yield f"{name}: numbers", lambda: without_sentences(once())
    yield f"{name}: words", lambda: sentences(once())


# Simulations


def simulations() -> Items:
    for name, make in POLICIES.items():
        for world, problem in WORLDS.items():
            yield f"simulation: {name}, {world}", lambda m=make, p=problem: simulated(m(), p)
    debug = WORLDS["mixed"].with_feedback(pb.PatientKL(0.3).feedback)
    yield (
        "simulation: interpreted",
        lambda: arrays(pb.simulate(debug, pb.PatientKL(0.3), 40, 2, seed=5, debug=True)),
    )


def arrays(result: pb.Result) -> list[Any]:
    return [result.rounds, result.regret, result.pulls, result.trace]


def simulated(policy: pb.Policy, problem: pb.Problem) -> Any:
    try:
        fitting = problem.with_feedback(policy.feedback)
        told = pb.simulate(fitting, policy, HORIZON, RUNS, seed=11, record=50, workers=1)
        untold = pb.simulate(
            fitting, policy, HORIZON, 1, seed=12, record=7, anytime=True, first_run=2, workers=1
        )
    except pb.InputError:
        return REFUSED
    return arrays(told) + arrays(untold)


def bandits() -> Items:
    for name in ("PatientThompson", "PatientKL", "UCB1", "Thompson", "FloorMixture"):
        yield f"bandit: {name}", lambda n=name: bandit_pulls(POLICIES[n]())


def bandit_pulls(policy: pb.Policy) -> list[Any]:
    bandit = pb.Bandit(policy, ["blue", "green", "red"], seed=6)
    pulls = []
    for number in range(150):
        pull = bandit.pull()
        pulls.append(pull.arm)
        if number % 3 == 0:
            bandit.reward(pull.id, 0.25 * (number % 5))
    return pulls


# A shop's history


def run(*arguments: Any) -> Any:
    """What a command prints as JSON."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        status = command_line([str(argument) for argument in arguments])
    if status:
        raise RuntimeError(f"patientbandits {arguments[0]} ended with {status}")
    return json.loads(printed.getvalue())


def histories(folder: Path) -> Items:
    with contextlib.redirect_stdout(io.StringIO()):
        command_line(["example", str(folder / "example")])
    for seed in range(3):
        write_shop(folder / f"shop {seed}", seed)
    ways = {
        "rate": ("--window", "14d"),
        "revenue": ("--by", "revenue"),
        "cut": ("--as-of", "2026-02-20", "--credit", "last", "--control", "b", "--window", "5d"),
    }
    traffic = ("--window", "14d", "--traffic", "100/day", "--days", 10, "--draws", 5)
    for shop in ("example", "shop 0", "shop 1", "shop 2"):
        files = (folder / shop / "exposures.csv", folder / shop / "orders.csv")
        end = ("--json", "--quiet", "--out", folder / "out")
        for way, options in ways.items():
            if (shop, way) != ("example", "cut"):
                yield from in_two(
                    f"analyse: {shop}, {way}", partial(run, "analyse", *files, *options, *end)
                )
        if shop != "shop 2":
            yield from in_two(
                f"rehearse: {shop}",
                partial(run, "rehearse", *files, *traffic, "--workers", 1, *end),
            )


def write_shop(folder: Path, seed: int) -> None:
    """Write exposures and orders of two or three arms with heavy tails over two months."""
    random = np.random.default_rng(seed)
    folder.mkdir()
    variants = "abc"[: 2 + seed % 2]
    with (folder / "exposures.csv").open("w") as shown, (folder / "orders.csv").open("w") as paid:
        exposures, orders = csv.writer(shown), csv.writer(paid)
        exposures.writerow(["unit", "time", "variant"])
        orders.writerow(["unit", "time", "value", "order_id"])
        for number in range(2500):
            at = 1_767_225_600 + int(random.random() * 60 * 86400)
            place = int(random.integers(len(variants)))
            exposures.writerow([f"u{number}", at, variants[place]])
            while random.random() < 0.08 + 0.03 * place:
                delay = int(43_200 * (1 + place) * random.pareto(0.8))
                value = round(float(random.lognormal(3, 1)), 2)
                orders.writerow([f"u{number}", at + delay, value, f"o{number}-{delay}"])


# The live service


class Clock:
    def __init__(self, now: float = START) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def live_logs(folder: Path) -> Items:
    for number, (name, make) in enumerate(POLICIES.items()):
        yield (
            f"live: {name}",
            lambda m=make, n=number: replayed(folder / f"{n}.db", policy=m()),
        )
    extras: dict[str, dict[str, Any]] = {
        "the policy by default": {},
        "credit every": {"credit": "every"},
        "credit last, not sticky": {"credit": "last", "sticky": False},
        "shares": {
            "shares": {"minimum": 0.05, "holdback": 0.1, "per_day": 0.1},
            "control": "green",
        },
    }
    for number, (name, settings) in enumerate(extras.items()):
        yield (
            f"live: {name}",
            lambda s=settings, n=number: replayed(folder / f"x{n}.db", **s),
        )


def replayed(path: Path, **settings: Any) -> Any:
    """What is decided and reported by a shop, and after its log has been replayed."""
    clock = Clock()
    arms = ["red", "green", "blue"]
    with live.open(str(path), clock=clock, units="clear") as shop:
        usual = {"window": "2d", "largest_value": 20, "goals": ["order", "cart"], "seed": 4}
        try:
            handle = shop.experiment("button", arms, **(usual | settings))
        except live.RefusedError:
            return REFUSED
        everything = [traffic(shop, handle, clock, 0), reports(handle)]
    with live.open(str(path), create=False, clock=clock) as shop:
        handle = shop.open("button")
        everything += [reports(handle), traffic(shop, handle, clock, 300), reports(handle)]
    return everything


def traffic(shop: Any, handle: Any, clock: Clock, first: int) -> list[Any]:
    """Let something of everything happen; the arms that were chosen, and what was refused."""
    chosen: list[Any] = []
    converted: list[str] = []

    def attempt(action: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        try:
            return action(*arguments, **options)
        except live.RefusedError as error:
            chosen.append(type(error).__name__)

    for number in range(first, first + 120):
        clock.now += 97.25 * (number % 5)
        unit = f"visitor {number}"
        if number % 8 == 3:
            attempt(handle.expose, unit, ["red", "blue"][number % 2], propensity=0.5)
        elif number % 8 == 5 and handle.settings.sticky:
            chosen.append(handle.evaluate(unit, provisional=number % 16 == 5).arm)
        else:
            decision = handle.decide(unit, key=f"key {number}")
            chosen.append(decision.arm)
            if number % 10 == 4:
                attempt(handle.convert, decision.id, value=number % 20)
                converted.append(decision.id)
        if number % 3 == 1:
            attempt(handle.convert, unit=unit, order=f"order {number}", value=number % 7)
        if number % 40 == 19:
            attempt(handle.retract, converted[-1])
        if number % 5 == 2:
            attempt(shop.track, f"visitor {number - 2}", order=f"cart {number}", goal="cart")
        if number % 11 == 4:
            attempt(handle.alias, unit, f"account {number // 22}")
        if number % 12 == 10:
            attempt(handle.retract, order=f"order {number}")
            attempt(handle.convert, unit=unit, order=f"order {number}", value=3.5)
    return chosen


def reports(handle: Any) -> list[Any]:
    """Numbers of all reports, and the rows of the export without ids, which differ by secret."""
    rows = list(csv.DictReader(io.StringIO(b"".join(handle.export()).decode())))
    for row in rows:
        row.pop("decision", None)
    every = [handle.report(), handle.verdict(), handle.timeseries("hour"), handle.weights(), rows]
    return list(without_sentences(every))


def old_databases(folder: Path) -> Items:
    for path in sorted(DATABASES.rglob("v*.db")):
        yield f"old: {path.stem}", lambda p=path: continued(p, folder / p.name)


def continued(path: Path, copy: Path) -> list[Any]:
    shutil.copy(path, copy)
    clock = Clock(START + 90 * 86400)
    everything: list[Any] = []
    with live.open(str(copy), create=False, clock=clock) as shop:
        for handle in shop.experiments():
            everything += [handle.name, reports(handle)]
            for number in range(30):
                clock.now += 60
                decision = handle.decide(f"new {number}")
                everything.append(decision.arm)
                if number % 3 == 0:
                    handle.convert(decision.id, value=handle.settings.scale / 4)
            everything.append(reports(handle))
    return everything


# The command


def items(folder: Path) -> Items:
    yield from simulations()
    yield from bandits()
    yield from histories(folder)
    yield from live_logs(folder)
    yield from old_databases(folder)


def measured(only: list[str]) -> Iterator[tuple[str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        for name, data in items(Path(folder)):
            if only and not any(part in name for part in only):
                continue
            yield name, digest(data() if callable(data) else data)


def main() -> int:
    parser = argparse.ArgumentParser(description="Are the numbers the same?")
    parser.add_argument("names", nargs="*", metavar="NAME", help="parts of the items' names")
    parser.add_argument("--against", type=Path, metavar="FILE", help="the output of an earlier run")
    options = parser.parse_args()
    warnings.simplefilter("ignore", DeprecationWarning)  # old names are used on purpose
    before: dict[str, str] = {}
    if options.against:
        for line in options.against.read_text().splitlines():
            before[line[66:]] = line[:64]
    different = 0
    for name, value in measured(options.names):
        if not options.against:
            print(f"{value}  {name}", flush=True)
        elif before.get(name) != value:
            different += 1
            print(f"{'different' if name in before else 'new'}: {name}", flush=True)
    if options.against:
        print(f"{different} of {len(before)} differ")
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main())
