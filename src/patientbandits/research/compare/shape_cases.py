"""Problems for shapes of delays that the others leave out, and for a window."""

from __future__ import annotations

from patientbandits.problems import Problem
from patientbandits.problems.delays import Geometric, LogLogistic, UniformDelay, Weibull
from patientbandits.research.compare.suite import Case


def shape_cases() -> tuple[Case, ...]:
    """The better arm is the slow one in all but the last; the mirror has it the other way round."""
    return (
        Case(
            name="bounded",
            what="Every reward comes within 40 rounds, or between 200 and 600 for the better arm.",
            tests="delays with an end, beyond which nothing is to be hoped for",
            problem=Problem([0.35, 0.45], [UniformDelay(0, 40), UniformDelay(200, 600)]),
            horizon=5000,
            kinds=("light tails",),
        ),
        Case(
            name="stretched",
            what="Stretched exponential delays: half within 20 rounds, 150 for the better arm.",
            tests="tails between exponential and power law",
            problem=Problem([0.25, 0.3], [Weibull(0.6, 37), Weibull(0.6, 276)]),
            horizon=5000,
            kinds=("light tails",),
        ),
        Case(
            name="log_logistic",
            what="Three arms: half of it comes within 10, 40 and 200 rounds, the best arm's last.",
            tests="power laws with a mode: few rewards at once, few very late, most in between",
            problem=Problem(
                [0.4, 0.5, 0.6],
                [LogLogistic(10, 1.5), LogLogistic(40, 1.5), LogLogistic(200, 1.5)],
            ),
            horizon=5000,
            kinds=("heavy tails",),
        ),
        Case(
            name="within_a_window",
            what="Only rewards within 60 rounds count; the slow arm is the better one even so.",
            tests="a window, at whose end every pull is known: 0.30 against 0.42",
            problem=Problem([0.3, 0.6], [Geometric(0.1), Geometric(0.02)], window=60),
            horizon=5000,
            kinds=("window",),
        ),
        Case(
            name="too_late",
            what=(
                "Only rewards within 60 rounds count: the slow arm is the better one for ever, and "
                "the worse one within them."
            ),
            tests="counting what counts: 0.40 against 0.30 for ever, 0.18 against 0.30 in time",
            problem=Problem([0.3, 0.4], [Geometric(0.1), Geometric(0.01)], window=60),
            horizon=5000,
            kinds=("window",),
        ),
    )
