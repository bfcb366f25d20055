"""A live experiment's report as lines of text."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from patientbandits.cli.shop import arm_label
from patientbandits.cli.tables import table_lines


def report_lines(found: dict[str, Any]) -> list[str]:
    amount = amount_words(found)
    corrected = "corrected rate"
    if amount is not percent_words:
        corrected = f"corrected, per {'visitor' if found['sticky'] else 'decision'}"
    heading = [
        "arm",
        "decisions",
        "conversions",
        "seen so far",
        corrected,
        f"{100 * found['level']:g} % interval",
        "still to come",
        "best",
    ]
    rows = [report_row(arm, amount) for arm in found["arms"]]
    lines = table_lines([heading, *rows])
    for goal in found["goals"]:
        lines += ["", *goal_lines(goal)]
    return [*lines, *found["notes"]]


def goal_lines(found: dict[str, Any]) -> list[str]:
    heading = [found["goal"], "times", "units", "rate", "value"]
    rows = []
    for arm in found["arms"]:
        counted = [str(arm["count"]), str(arm["units"])]
        rows.append([arm["arm"], *counted, _known(arm["rate"], ".2%"), f"{arm['value']:.2f}"])
    return table_lines([heading, *rows])


def percent_words(rate: float) -> str:
    return f"{rate:.2%}"


def amount_words(found: dict[str, Any]) -> Callable[[float], str]:
    """How what a decision brings in is written: as a rate, or as money."""
    from patientbandits.analysis import amount

    currency = found["currency"] or ""
    if found["scale"] == 1.0 and not currency:
        return percent_words
    return partial(amount, currency=currency)


def report_row(arm: dict[str, Any], amount: Callable[[float], str]) -> list[str]:
    """Estimates are shown once there is something to estimate from."""
    counted = [arm_label(arm["arm"], arm["retired"]), str(arm["pulls"]), str(arm["conversions"])]
    if arm["state"] == "no data":
        return [*counted, "no data yet", "-", "-", "-", "-"]
    seen = amount(arm["raw_rate"])
    to_come = f"{arm['to_come']:.1f}"
    if arm["state"] == "too early":
        return [*counted, seen, "too early", "-", "-", "-"]
    interval = f"{amount(arm['low'])} .. {amount(arm['high'])}"
    return [*counted, seen, amount(arm["rate"]), interval, to_come, _known(arm["best"], ".1%")]


def _known(value: float | None, form: str) -> str:
    if value is None:
        return "-"
    return format(value, form)
