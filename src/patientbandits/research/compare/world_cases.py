"""Problems in worlds that do not stay as they are, or of which one hears in batches."""

from __future__ import annotations

from patientbandits.problems import Problem, Shift, TwoPoint, gradual
from patientbandits.problems.delays import Geometric, LogLogistic, LogNormal, Weibull
from patientbandits.research.compare.suite import Case


def world_cases() -> tuple[Case, ...]:
    """Drift, batches, and delays that depend on the reward."""
    before = [0.5, 0.3]
    after = [0.3, 0.5]
    return (
        Case(
            name="drifting_rates",
            what="The better arm becomes the worse one between rounds 1500 and 2500 of 5000.",
            tests="rates that change: what was learned long ago misleads",
            problem=Problem(
                before,
                [LogNormal(20, 1.0), LogNormal(60, 1.0)],
                changes=gradual(before, after, first=1500, last=2500, steps=11),
            ),
            horizon=5000,
            kinds=("drifting",),
        ),
        Case(
            name="drifting_delays",
            what="Equal delays at first; from round 1000 on the better arm is ten times slower.",
            tests="delays that change: an arm that becomes slow looks as if it became worse",
            problem=Problem(
                [0.4, 0.5],
                LogLogistic(20, 1.5),
                changes=[Shift(1000, delays=[LogLogistic(20, 1.5), LogLogistic(200, 1.5)])],
            ),
            horizon=5000,
            kinds=("drifting",),
        ),
        Case(
            name="daily_batches",
            what="What has come is heard of every 250 rounds; half takes 20 or, better arm, 150.",
            tests="decisions in batches: 250 of them on what was known at their beginning",
            problem=Problem([0.3, 0.4], [Weibull(0.8, 32), Weibull(0.8, 237)], batch=250),
            horizon=5000,
            kinds=("batches",),
        ),
        Case(
            name="large_amounts_late",
            what="Every pull pays: 0.1 soon, or 1.0 late; the better arm's large ones much later.",
            tests="delays that depend on the reward: what comes first is not what counts",
            problem=Problem(
                [0.4, 0.5],
                [Geometric(1 / 30), Geometric(1 / 200)],
                TwoPoint(0.1, 1.0),
                low_delays=Geometric(0.2),
            ),
            horizon=5000,
            kinds=("dependent",),
        ),
    )
