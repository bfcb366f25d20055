"""Advice that follows from the numbers."""

from __future__ import annotations

import pytest
from score_tables import SUITE, table

from patientbandits.research.compare.advice import advice

pytestmark = pytest.mark.slow


def test_advice_follows_from_the_numbers() -> None:
    groups = {
        "A": "nothing",
        "B": "nothing",
        "C": "bound",
        "D": "law",
        "E": "reports",
        "Uniform": "nothing",
    }
    regrets = {
        "homogeneous": {"A": 10.0, "B": 30.0, "C": 9.0, "D": 40.0, "E": 5.0, "Uniform": 500.0},
        "heterogeneous": {"A": 50.0, "B": 60.0, "C": 45.0, "D": 600.0, "E": 20.0, "Uniform": 500.0},
    }
    cases, cost = (
        [SUITE[name] for name in regrets],
        {"A": 1e-5, "B": 1e-6, "C": 1e-6, "D": 1e-6, "E": 1e-6, "Uniform": 1e-8},
    )

    def answers(changed: dict[str, dict[str, float]]) -> dict[str, tuple[str, str]]:
        return {
            part.when: (part.use, part.why)
            for part in advice(cases, table(changed, groups), cost, ["A"])
        }

    given = answers(regrets)
    assert given["You know nothing about the delays"][0] == "A"
    assert given["You can vouch for a bound on the delays"][0] == "C"
    assert given["You know the law of the delays of all arms together"][0] == "C"
    assert "does not pay" in given["You know the law of the delays of all arms together"][1]
    assert given["Every pull reports in the end, zeros too"][0] == "E"
    assert given["Every microsecond counts"][0] == "B", "ten times as fast"
    assert given["You cannot afford a bad surprise"][0] == "A"
    assert given["Where A loses"][0] == "2 of 2"
    assert given["Where A loses"][1].endswith(
        ": homogeneous (1.1 times C) and heterogeneous (1.1 times C)."
    )
    assert given["Worse than pulling at random somewhere"] == (
        "1 of 4",
        "D on 1 problem. Nowhere: A, B and C.",
    )

    doctored = {name: {**row, "B": row["A"] * 0.8, "D": 1.0} for name, row in regrets.items()}
    given = answers(doctored)
    assert given["You know nothing about the delays"][0] == "B"
    assert given["You know the law of the delays of all arms together"][0] == "D"
    assert "Every microsecond counts" not in given, "the best is the fastest already"
    assert given["Every pull reports in the end, zeros too"][0] == "E", "it needs no law"
    assert "50.0 times D" in given["Where A loses"][1]
    assert "Worse than pulling at random somewhere" not in given
    unlucky = answers(
        {
            "homogeneous": regrets["homogeneous"],
            "heterogeneous": {**regrets["heterogeneous"], "A": 400.0, "B": 300.0},
        }
    )
    assert unlucky["You know nothing about the delays"][0] == "A"
    assert unlucky["You cannot afford a bad surprise"][0] == "B"
    assert (
        answers({name: {**row, "A": 1.0} for name, row in regrets.items()})["Where A loses"][0]
        == "0 of 2"
    )
