"""A live experiment's report as lines of text."""

from __future__ import annotations

from typing import Any

from patientbandits.cli.shop import arm_label
from patientbandits.cli.tables import table_lines


def report_lines(found: dict[str, Any]) -> list[str]:
    heading = [
        "arm",
        "decisions",
        "conversions",
        "seen so far",
        "corrected rate",
        f"{100 * found['level']:g} % interval",
        "still to come",
        "best",
    ]
    rows = [report_row(arm) for arm in found["arms"]]
    lines = table_lines([heading, *rows])
    for goal in found["goals"]:
        lines += ["", *goal_lines(goal)]
    return [*lines, *found["notes"]]


def goal_lines(found: dict[str, Any]) -> list[str]:
    heading = [found["goal"], "times", "units", "rate", "value"]
    rows = []
    for arm in found["arms"]:
        counted = [str(arm["count"]), str(arm["units"])]
        rows.append([arm["arm"], *counted, _known(arm["rate"], ".4g"), f"{arm['value']:.2f}"])
    return table_lines([heading, *rows])


def report_row(arm: dict[str, Any]) -> list[str]:
    interval = "-"
    if arm["rate"] is not None:
        interval = f"{arm['low']:.4g} .. {arm['high']:.4g}"
    return [
        arm_label(arm["arm"], arm["retired"]),
        str(arm["pulls"]),
        str(arm["conversions"]),
        _known(arm["raw_rate"], ".4g"),
        _known(arm["rate"], ".4g"),
        interval,
        _known(arm["to_come"], ".1f"),
        _known(arm["best"], ".1%"),
    ]


def _known(value: float | None, form: str) -> str:
    if value is None:
        return "-"
    return format(value, form)
