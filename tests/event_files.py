"""Files of exposures and orders, and histories, as tests need them."""

from __future__ import annotations

import math
import random
from pathlib import Path

import numpy as np

from patientbandits._util.durations import DAY
from patientbandits.analysis.events import Events

BEGIN = 1_767_225_600  # 2026-01-01 00:00 UTC


Exposure = tuple[str, int, str]


Order = tuple[str, int, float, str]


def write_rows(path: Path, heading: str, rows: list[str]) -> Path:
    path.write_text("\n".join([heading, *rows]) + "\n")
    return path


def tables(folder: Path, shown: list[Exposure], bought: list[Order]) -> tuple[Path, Path]:
    exposures = [f"{unit},{BEGIN + time},{variant}" for unit, time, variant in shown]
    orders = [f"{unit},{BEGIN + time},{value},{order}" for unit, time, value, order in bought]
    return (
        write_rows(folder / "exposures.csv", "unit,time,variant", exposures),
        write_rows(folder / "orders.csv", "unit,time,value,order_id", orders),
    )


def rows_add_up(events: Events) -> None:
    assert events.report is not None
    for table in (events.report.exposures, events.report.orders):
        parts = (
            table.counted,
            table.unreadable,
            table.duplicates,
            table.others,
            table.filtered,
            table.refunds,
            table.unmatched_refunds,
            table.after_end,
            table.repeats,
            table.unmatched,
            table.before_exposure,
            table.out_of_window,
        )
        assert min(parts) >= 0
        assert sum(parts) == table.rows


def messy_history(seed: int) -> tuple[list[Exposure], list[Order]]:
    """A small history with everything that goes wrong."""
    source = random.Random(seed)
    shown = [
        (f"u{source.randrange(40)}", source.randrange(60) * 3600, source.choice("abc"))
        for _ in range(90)
    ]
    bought = [
        (f"u{source.randrange(50)}", source.randrange(90) * 3600, source.randrange(-1, 9), f"o{n}")
        for n in range(80)
    ]
    bought += [bought[3], bought[9]]
    return shown, bought


def log_normal_arm(
    seed: int, decisions: int, rate: float, median_days: float, span_days: float = 60
) -> tuple[np.ndarray, np.ndarray]:
    """Ages and delays in seconds: log-normal delays, decisions spread evenly over the span."""
    random = np.random.default_rng(seed)
    ages = random.random(decisions) * span_days * DAY
    delays = random.lognormal(math.log(median_days * DAY), 1.0, decisions)
    converts = (random.random(decisions) < rate) & (delays <= ages)
    return ages, np.where(converts, delays, np.inf)
