"""The text of the study of adaptivity: all its numbers come from the data or the variants."""

from __future__ import annotations

import math
from importlib.resources import files
from typing import Any

from patientbandits import theory
from patientbandits.research.paper.adaptivity.data import StudyData
from patientbandits.research.paper.adaptivity.departures import departure_values, late_values
from patientbandits.research.paper.adaptivity.over_gaps import HARD_C, HARD_TAIL, gap_values
from patientbandits.research.paper.adaptivity.over_time import (
    GAP_OVER_TIME,
    TAIL_OVER_TIME,
    THOMPSON,
    curve_values,
)
from patientbandits.research.paper.adaptivity.variants import (
    FAVOURITE,
    PRINTED,
    WORSE_MEAN,
    StudySize,
)
from patientbandits.research.paper.adaptivity.words import in_powers, with_half_width
from patientbandits.research.paper.section8_adaptive import (
    ADAPTIVE_ALPHA_FLOOR,
    ADAPTIVE_C,
    ADAPTIVE_MEAN_FLOOR,
)

PROCESSOR_MINUTES = 15
"""Of the whole study, once compiled."""


def adaptivity_page(data: StudyData) -> str:
    """The page in Markdown."""
    import jinja2

    environment = jinja2.Environment(
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "power": lambda value: in_powers(float(value)),
        "regret": with_half_width,
        "whole": lambda value: f"{float(value):.0f}",
    }
    template = (files("patientbandits.research.paper.adaptivity") / "page.md.j2").read_text()
    return environment.from_string(template).render(
        **size_values(data),
        **setting_values(),
        **formula_values(data.size.horizon),
        **bonus_values(),
        **curve_values(data),
        **late_values(data),
        **departure_values(data),
        **gap_values(data),
    )


def size_values(data: StudyData) -> dict[str, Any]:
    """How long, how often."""
    full = StudySize()
    asked = (data.size.horizon, data.size.runs)
    return {
        "settings": data.size,
        "reduced": asked != (full.horizon, full.runs),
        "minutes": PROCESSOR_MINUTES,
        "horizon": in_powers(data.size.horizon),
        "shorter": in_powers(data.size.shorter),
        "runs": data.curves[0]["runs"],
        "gap_runs": data.gaps[0]["runs"],
        "thompson_runs": data.curve(THOMPSON)[0]["runs"],
    }


def setting_values() -> dict[str, Any]:
    """What is true, and what Adapt is told."""
    return {
        "c": ADAPTIVE_C,
        "alpha_floor": ADAPTIVE_ALPHA_FLOOR,
        "mean_floor": ADAPTIVE_MEAN_FLOOR,
        "gap": GAP_OVER_TIME,
        "tail": TAIL_OVER_TIME,
        "hard_tail": HARD_TAIL,
        "hard_c": HARD_C,
    }


def formula_values(horizon: int) -> dict[str, Any]:
    """d / D, penalty, and what follows from them without any data."""
    penalty = theory.adaptive_penalty(2, horizon, ADAPTIVE_C, ADAPTIVE_MEAN_FLOOR)
    ratio = PRINTED.ratio_value()
    hard_ratio = PRINTED.ratio_value(HARD_C)
    half = FAVOURITE.ratio_value()
    tail = TAIL_OVER_TIME
    best = WORSE_MEAN + GAP_OVER_TIME
    return {
        "printed_ratio": f"{ratio:.2g}",
        "half_c": half,
        "hard_ratio": f"{hard_ratio:.1g}",
        "hard_first": in_powers(2 / hard_ratio),
        "printed_penalty_value": f"{penalty:.2f}",
        "first_estimate": in_powers(2 / ratio),
        "printed_start": in_powers(theory.adaptive_start(tail, best, penalty, ratio)),
        "excess": f"{-math.log(best * (half**-tail - 1) * 2**tail):.2f}",
    }


def bonus_values() -> dict[str, Any]:
    """How much more than the leader an arm gets that is pulled seldom, where that is most."""
    few = 2_000
    many = 1_000_000
    worst = math.log(math.log(many) / math.log(few)) / math.log(many / few)
    return {
        "few": few,
        "many": in_powers(many),
        "worst_alpha": f"{worst:.2f}",
        "worst_bonus": f"{2 * (few**-worst - many**-worst):.2f}",
    }
