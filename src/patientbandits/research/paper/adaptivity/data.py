"""The data of the study of adaptivity, as its files hold them."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from patientbandits.research.paper.adaptivity.variants import StudySize

DataRow = Mapping[str, str]
"""A line of one of the files: column -> cell."""


@dataclass(frozen=True)
class StudyData:
    """The rows of the files of the same names; settings.json has the size."""

    size: StudySize
    curves: list[DataRow]
    departures: list[DataRow]
    gaps: list[DataRow]
    versus: list[DataRow]

    def policies(self) -> list[str]:
        """Policies that have a curve."""
        return list(dict.fromkeys(row["policy"] for row in self.curves))

    def curve(self, policy: str) -> list[DataRow]:
        return [row for row in self.curves if row["policy"] == policy]

    def at(self, policy: str, t: int) -> DataRow:
        """The policy's curve at round ``t``."""
        return next(row for row in self.curve(policy) if int(row["round"]) == t)


def read_study_data(folder: Path) -> StudyData:
    """Read the files that `run.adaptivity` wrote."""

    def rows(name: str) -> list[DataRow]:
        with (folder / f"{name}.csv").open(newline="") as file:
            return list(csv.DictReader(file))

    settings = json.loads((folder / "settings.json").read_text())
    return StudyData(
        size=StudySize(**settings),
        curves=rows("curves"),
        departures=rows("departures"),
        gaps=rows("gaps"),
        versus=rows("versus"),
    )


RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def digits(*values: Any) -> tuple[str, ...]:
    """Five of each."""
    return tuple(f"{value:.5g}" for value in values)


def in_powers(x: float) -> str:
    """999 -> 999, 10000 -> 10⁴, 3.4e12 -> 3.4·10¹²."""
    if math.isinf(x):
        return "–"
    if x < 1000:
        return f"{x:.0f}"
    mantissa, _, exponent = f"{x:.1e}".partition("e")
    power = str(int(exponent)).translate(RAISED)
    if mantissa == "1.0":
        return f"10{power}"
    return f"{mantissa}·10{power}"


def with_half_width(row: DataRow) -> str:
    """Mean and half the width of the 95 % interval."""
    half = (float(row["high95"]) - float(row["low95"])) / 2
    return f"{float(row['regret']):.0f} ± {half:.0f}"
