"""The data of the study of adaptivity, as its files hold them."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

Row = Mapping[str, str]


@dataclass(frozen=True)
class Data:
    """The rows of the files of the same names."""

    settings: dict[str, int]
    curves: list[Row]
    departures: list[Row]
    gaps: list[Row]
    versus: list[Row]

    def curve(self, policy: str) -> list[Row]:
        return [row for row in self.curves if row["policy"] == policy]

    def policies(self) -> list[str]:
        return list(dict.fromkeys(row["policy"] for row in self.curves))


def read(folder: Path) -> Data:
    """What `run.adaptivity` wrote."""

    def rows(name: str) -> list[Row]:
        with (folder / f"{name}.csv").open(newline="") as file:
            return list(csv.DictReader(file))

    settings = json.loads((folder / "settings.json").read_text())
    return Data(settings, rows("curves"), rows("departures"), rows("gaps"), rows("versus"))
