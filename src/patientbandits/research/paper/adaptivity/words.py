"""Numbers as the study's files and its text have them."""

from __future__ import annotations

import math
from typing import Any

from patientbandits.research.paper.adaptivity.data import DataRow

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
