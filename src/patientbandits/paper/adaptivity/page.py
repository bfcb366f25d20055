"""The text of the study of adaptivity: every number in it comes from the data or from the plan."""

from __future__ import annotations

import math
from importlib.resources import files
from typing import Any

from patientbandits import theory
from patientbandits.paper.adaptivity import plan
from patientbandits.paper.adaptivity.data import Data, Row

MINUTES = 15
"""Processor time of the whole study, once compiled."""

INVALID_PENALTY = 0.01
"""The variant whose alpha_low exceeds alpha."""

LATE_PENALTY = 0.1
"""The variant with the printed d/D that shows what a late departure costs."""


def render(data: Data) -> str:
    """The page in Markdown."""
    import jinja2

    environment = jinja2.Environment(
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "power": lambda value: power(float(value)),
        "regret": regret,
        "whole": lambda value: f"{float(value):.0f}",
    }
    template = (files("patientbandits.paper.adaptivity") / "page.md.j2").read_text()
    return environment.from_string(template).render(
        **setting(data), **over_time(data), **departing(data), **by_gap(data)
    )


def power(x: float) -> str:
    """999 -> 999, 10000 -> 10⁴, 3.4e12 -> 3.4·10¹²."""
    if math.isinf(x):
        return "–"
    if x < 1000:
        return f"{x:.0f}"
    digits, _, exponent = f"{x:.1e}".partition("e")
    raised = str(int(exponent)).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{raised}" if digits == "1.0" else f"{digits}·10{raised}"


def regret(row: Row) -> str:
    """Mean and half the width of the 95 % interval."""
    return f"{float(row['regret']):.0f} ± {(float(row['high95']) - float(row['low95'])) / 2:.0f}"


def setting(data: Data) -> dict[str, Any]:
    """What was asked."""
    horizon = data.settings["horizon"]
    penalty = theory.adaptive_penalty(2, horizon, plan.C, plan.MEAN_FLOOR)
    ratio, hard_ratio, half = (
        plan.ratio_of("printed"),
        plan.ratio_of("printed", plan.HARD_C),
        plan.ratio_of("c/2"),
    )
    best = 0.6 + plan.GAP
    few, many = 2_000, 1_000_000
    worst = math.log(math.log(many) / math.log(few)) / math.log(many / few)
    return {
        "settings": data.settings,
        "runs": data.curves[0]["runs"],
        "gap_runs": data.gaps[0]["runs"],
        "minutes": MINUTES,
        "thompson_runs": data.curve(plan.THOMPSON)[0]["runs"],
        "reduced": (horizon, data.settings["runs"]) != (plan.HORIZON, plan.RUNS),
        "horizon": power(horizon),
        "shorter": power(horizon // plan.SHORTER),
        "c": plan.C,
        "alpha_floor": plan.ALPHA_FLOOR,
        "mean_floor": plan.MEAN_FLOOR,
        "gap": plan.GAP,
        "tail": plan.TAIL,
        "hard_tail": plan.HARD_TAIL,
        "hard_c": plan.HARD_C,
        "printed_ratio": f"{ratio:.2g}",
        "half_c": half,
        "hard_ratio": f"{hard_ratio:.1g}",
        "hard_first": power(2 / hard_ratio),
        "printed_penalty_value": f"{penalty:.2f}",
        "first_estimate": power(2 / ratio),
        "printed_start": power(theory.adaptive_start(plan.TAIL, best, penalty, ratio)),
        "few": few,
        "many": power(many),
        "worst_alpha": f"{worst:.2f}",
        "worst_bonus": f"{2 * (few**-worst - many**-worst):.2f}",
        "excess": f"{-math.log(best * (half**-plan.TAIL - 1) * 2**plan.TAIL):.2f}",
    }


def over_time(data: Data) -> dict[str, Any]:
    """What the curves say."""
    horizon = data.settings["horizon"]
    shorter = horizon // plan.SHORTER
    ucb, patient_true, patient_floor, kl_true, kl_floor = plan.others(plan.TAIL)
    late, printed_penalty = (
        plan.adapt_name("printed", LATE_PENALTY),
        plan.adapt_name("c/2", "paper"),
    )
    left = {
        (row["ratio"], row["penalty"]): row
        for row in data.departures
        if int(row["horizon"]) == horizon
    }
    late_round = float(left["printed", str(LATE_PENALTY)]["median"])
    before = [row for row in data.curve(late) if int(row["round"]) < late_round][-1]
    rounds = sorted({t for t in (10**k for k in range(4, 10)) if t < horizon} | {horizon})
    final = {policy: data.curve(policy)[-1] for policy in data.policies()}
    return {
        "printed_left": left["printed", "paper"]["left"],
        "printed": final[plan.PRINTED],
        "ucb": final[ucb],
        "favourite": final[plan.FAVOURITE],
        "favourite_name": plan.FAVOURITE,
        "favourite_alpha": f"{float(final[plan.FAVOURITE]['alpha_low']):.2f}",
        "patient_true": final[patient_true],
        "patient_floor": final[patient_floor],
        "kl_true": final[kl_true],
        "kl_floor": final[kl_floor],
        "thompson": final[plan.THOMPSON],
        "late": final[late],
        "over_floor": _times(final[patient_floor], final[plan.FAVOURITE]),
        "over_ucb": _times(final[plan.FAVOURITE], final[ucb]),
        "favourite_shorter": _at(data, plan.FAVOURITE, shorter),
        "ucb_shorter": _at(data, ucb, shorter),
        "late_penalty": LATE_PENALTY,
        "late_round": power(late_round),
        "late_before": f"{float(before['regret']):.0f}",
        "late_before_round": power(int(before["round"])),
        "printed_penalty": final[printed_penalty],
        "printed_penalty_round": power(float(left["c/2", "paper"]["median"])),
        "printed_penalty_start": power(float(left["c/2", "paper"]["predicted_pulls"])),
        "table_rounds": rounds,
        "invalid": final[plan.adapt_name("c/2", INVALID_PENALTY)],
        "invalid_penalty": INVALID_PENALTY,
        "table": [
            {"policy": policy, "cells": [_cell(data, policy, t) for t in rounds]}
            for policy in data.policies()
        ],
        "versus": [
            row
            for row in data.versus
            if row["other"] == plan.PRINTED or not row["other"].startswith("Adapt")
        ],
    }


def departing(data: Data) -> dict[str, Any]:
    """Measured against predicted."""
    shorter = [
        row
        for row in data.departures
        if int(row["horizon"]) == data.settings["horizon"] // plan.SHORTER
    ]
    cells = {(float(r["gap"]), float(r["tail"]), r["ratio"], r["penalty"]): r for r in shorter}
    gap, other_gap = plan.DEPARTURE_GAPS
    table = [
        {
            "ratio": ratio,
            "penalty": "printed" if penalty == "paper" else f"{penalty:g}",
            "cells": [
                _departure(cells[gap, tail, ratio, str(penalty)]) for tail in plan.DEPARTURE_TAILS
            ],
        }
        for ratio, penalty in plan.DEPARTURES
    ]
    quotients = sorted(
        float(row["median"]) / float(row["predicted_pulls"])
        for row in shorter
        if row["left"] == row["runs"]
    )
    beyond = [row for row in shorter if float(row["predicted_pulls"]) > int(row["horizon"])]
    return {
        "departures": table,
        "departure_runs": shorter[0]["runs"],
        "tails": plan.DEPARTURE_TAILS,
        "other_gap": other_gap,
        "departed": len(quotients),
        "least_ratio": f"{quotients[0]:.2f}",
        "most_ratio": f"{quotients[-1]:.1f}",
        "never": sum(row["left"] == "0" for row in beyond),
        "never_settings": len(beyond),
    }


def by_gap(data: Data) -> dict[str, Any]:
    """Shares of wrong pulls, and where Adapt does best and worst against UCB1."""
    share = {
        (row["policy"], row["gap"]): float(row["regret"])
        / float(row["gap"])
        / float(row["horizon"])
        for row in data.gaps
    }
    gaps, policies = (
        list(dict.fromkeys(row[key] for row in data.gaps)) for key in ("gap", "policy")
    )
    quotient = {gap: share["UCB1", gap] / share[plan.FAVOURITE, gap] for gap in gaps}
    best, worst = max(gaps, key=quotient.__getitem__), min(gaps, key=quotient.__getitem__)
    largest = {
        p: f"{max(float(row['regret']) for row in data.gaps if row['policy'] == p):.0f}"
        for p in policies
    }
    ucb, _, _, _, kl_floor = plan.others(plan.HARD_TAIL)
    return {
        "gaps": gaps,
        "shares": [
            {"policy": p, "cells": [f"{share[p, gap]:.3f}" for gap in gaps], "largest": largest[p]}
            for p in policies
        ],
        "largest": largest[plan.FAVOURITE],
        "largest_ucb": largest[ucb],
        "largest_kl_floor": largest[kl_floor],
        "best_gap": best,
        "best_factor": f"{quotient[best]:.2f}",
        "worst_factor": f"{1 / quotient[worst]:.1f}",
    }


def _at(data: Data, policy: str, t: int) -> Row:
    return next(row for row in data.curve(policy) if int(row["round"]) == t)


def _cell(data: Data, policy: str, t: int) -> str:
    return next((regret(row) for row in data.curve(policy) if int(row["round"]) == t), "")


def _times(more: Row, less: Row) -> str:
    return f"{float(more['regret']) / float(less['regret']):.1f}"


def _departure(row: Row) -> str:
    return f"{power(float(row['predicted_pulls']))} → {power(float(row['median']))}"
