"""What the settings of CalendarThompson cost and bring: the tables of docs/which-policy.md.

    python -m bench.shares [RUNS [NAME ...]]

Regret in conversions; in brackets the worst 5 % of runs. The worlds: visitors 600 a day for 42 days
(A/A: 200 a day for 30), conversions log-normal around a day (two), a window of 14 days. Today's
policy, PatientThompson, has the same minimum. NAME picks worlds whose names contain it.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

import patientbandits as pb
from patientbandits.policies.patient_thompson import exponential_race

DAY = 600
DAYS = 42
WINDOW = 14 * DAY
LEAST = 0.01


@dataclass(frozen=True)
class PatientWithMinimum(pb.PatientThompson):
    """PatientThompson with a minimum share for each arm, as in the service."""

    portable: ClassVar[bool] = False

    @staticmethod
    def index(self, memory, arm, random):
        free = 1.0 - LEAST * len(memory.chances)
        return exponential_race(LEAST + free * memory.chances[arm.number], random)


def policies(day: int) -> dict[str, pb.Policy]:
    window = 14.0 * day
    return {
        "today": PatientWithMinimum(window=window),
        "default": pb.CalendarThompson(window=window),
        "minimum 5 %": pb.CalendarThompson(window=window, minimum=0.05),
        "earn": pb.CalendarThompson(window=window, earn=True),
        "forget 14d": pb.CalendarThompson(window=window, forget=window),
    }


def season(kind: str, day: float) -> float:
    """The factor of all rates on a day."""
    if kind == "rise":
        return 0.5 + day / DAYS
    if kind == "step":
        return 0.7 if day < 10 else 1.4
    if kind == "weekends":
        return 1.5 if day % 7 >= 5 else 1.0
    return 1.0


def changing(rates: tuple[float, ...], kind: str, swap: bool = False) -> pb.Problem:
    """A world whose rates change from day to day."""
    before = [rate * season(kind, 0) for rate in rates]
    changes = []
    for day in range(1, DAYS):
        own = rates[::-1] if swap and day >= DAYS // 2 else rates
        means = [rate * season(kind, day) for rate in own]
        if means != before:
            changes.append(pb.Shift(day * DAY + 1, means=means))
            before = means
    first = [rate * season(kind, 0) for rate in rates]
    return pb.Problem(first, pb.LogNormal(DAY, 1.0), window=WINDOW, changes=changes)


def still(rates: tuple[float, ...], day: int = 200) -> pb.Problem:
    """A world that stays as it is."""
    return pb.Problem(rates, pb.LogNormal(2 * day, 1.2), window=14 * day)


WORLDS = {
    "4 %, +15 %": (changing((0.04, 0.046), "none"), DAY, DAYS * DAY),
    "3.5 and 5 %": (changing((0.035, 0.05), "none"), DAY, DAYS * DAY),
    "rise, +15 %": (changing((0.04, 0.046), "rise"), DAY, DAYS * DAY),
    "step, +15 %": (changing((0.04, 0.046), "step"), DAY, DAYS * DAY),
    "weekends, +15 %": (changing((0.04, 0.046), "weekends"), DAY, DAYS * DAY),
    "swap of 3.5 and 5 %": (changing((0.035, 0.05), "none", True), DAY, DAYS * DAY),
    "6 %, +15 %": (still((0.06, 0.069)), 200, 20_000),
    "6 %, +40 %": (still((0.06, 0.084)), 200, 20_000),
    "2 %, +15 %": (still((0.02, 0.023)), 200, 20_000),
    "2 %, +40 %": (still((0.02, 0.028)), 200, 20_000),
    "4 arms, 4 %, +40 %": (still((0.04, 0.04, 0.04, 0.056)), 200, 20_000),
    "A/A, 2 %": (still((0.02, 0.02)), 200, 6000),
    "A/A, 6 %": (still((0.06, 0.06)), 200, 6000),
}


def cell(world: pb.Problem, policy: pb.Policy, horizon: int, runs: int) -> str:
    """Regret, with its standard error and its worst; of equal arms, how often one is starved."""
    result = pb.simulate(world, policy, horizon, runs, seed=7, workers=1)
    if len(set(world.means)) == 1:
        conversions = result.pulls.reshape(runs, -1).min(axis=1) * world.means[0]
        return f"starved {np.mean(conversions < 10):.2f}"
    final = result.final
    error = final.std() / math.sqrt(runs)
    return f"{final.mean():.1f} ± {error:.1f} ({np.quantile(final, 0.95):.0f})"


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    for name, (world, day, horizon) in WORLDS.items():
        if len(sys.argv) > 2 and not any(part in name for part in sys.argv[2:]):
            continue
        for label, policy in policies(day).items():
            print(f"{name:20} {label:12} {cell(world, policy, horizon, runs)}", flush=True)


if __name__ == "__main__":
    main()
