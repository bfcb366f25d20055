"""The data of the study of adaptivity, as its files hold them."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

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
        """Those that have a curve."""
        return list(dict.fromkeys(row["policy"] for row in self.curves))

    def curve(self, policy: str) -> list[DataRow]:
        return [row for row in self.curves if row["policy"] == policy]

    def at(self, policy: str, t: int) -> DataRow:
        """The policy's curve at round ``t``."""
        return next(row for row in self.curve(policy) if int(row["round"]) == t)


def read_study_data(folder: Path) -> StudyData:
    """What `run.adaptivity` wrote."""

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
