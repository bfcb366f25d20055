"""DelayBench 2, calendar: the same two arms under every shape of change.

Nine shapes of change, each with the same delays for both arms, with the better arm slow, and with
the worse one slow: 240 visitors a day, six weeks, outcomes heard of every hour, a window of a week.
Means are such that the rates within the window are the same whatever the delays, 0.10 and 0.08 on
an average day. Frozen like DelayBench 1: a change of a problem asks for a new name.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from patientbandits.policies import CalendarThompson
from patientbandits.problems import Calendar, Factor, Problem, Shift
from patientbandits.problems.delays import Delay, LogNormal
from patientbandits.research.compare.calendar_rivals import (
    CalendarOracle,
    DeconfoundedThompson,
    PartialLikelihoodThompson,
)
from patientbandits.research.compare.cases import SLOW_BEST, SLOW_WORST, Case
from patientbandits.research.compare.contenders import (
    CALENDAR_ORACLE,
    USUAL_WINDOW,
    Contender,
    contenders,
)

CALENDAR_BENCH = "DelayBench 2, calendar"

A_DAY = 240
DAYS = 42
HALF_TIME = 21
WINDOW = 7 * A_DAY
HEARD_EVERY = 10
RATES = (0.10, 0.08)
FAST, SLOW = 1.0, 3.0
"""Median delays, in days."""
SPREAD = 1.0
CALENDAR_RUNS = 60

SAME = "same delays"
MEDIANS = {SAME: (FAST, FAST), SLOW_BEST: (SLOW, FAST), SLOW_WORST: (FAST, SLOW)}
"""direction -> median delays of the better arm and the worse"""
ENDINGS = {SAME: "", SLOW_BEST: "_slow_best", SLOW_WORST: "_slow_worst"}
"""direction -> how the names of its problems end"""


@dataclass(frozen=True)
class Shape:
    """A shape of change."""

    name: str
    what: str
    tests: str
    kind: str
    common: Factor | None = None
    worse: Factor | None = None
    """of the worse arm alone"""
    swap: bool = False
    """the arms change places at half time"""
    slower: float = 1.0
    """from half time on delays are so many times as long"""


def novelty(day: float) -> float:
    """A newcomer's charm, which wears off within weeks."""
    return rounded(0.9 + 0.6 * math.exp(-day / 7))


def rounded(x: float) -> float:
    """``x`` to nine digits, which are the same on every machine."""
    return float(f"{x:.9g}")


SHAPES = (
    Shape("constant", "Nothing changes.", "the price of expecting changes", "constant"),
    Shape(
        name="weekly",
        what="Visitors of a weekend convert half as often again.",
        tests="a rhythm that all arms share",
        kind="common",
        common=Factor.weekly([1.0, 1.0, 1.0, 1.0, 1.0, 1.5, 1.5]),
    ),
    Shape(
        name="rise",
        what="Rates rise from half to one and a half.",
        tests="good days that go to whoever leads",
        kind="common",
        common=Factor.trend(0.5, 1.5, DAYS),
    ),
    Shape(
        name="fall",
        what="Rates fall from one and a half to half.",
        tests="bad days that go to whoever leads",
        kind="common",
        common=Factor.trend(1.5, 0.5, DAYS),
    ),
    Shape(
        name="step",
        what="From day 10 on rates are twice what they were.",
        tests="a change at once",
        kind="common",
        common=Factor([0.7] * 10 + [1.4]),
    ),
    Shape(
        name="spike",
        what="Rates are two and a half times as high for a week.",
        tests="a sale that comes and goes",
        kind="common",
        common=Factor.spike(10, 7, 2.5),
    ),
    Shape(
        name="swap",
        what="At half time the arms change places.",
        tests="coming back from what was right",
        kind="arms change",
        swap=True,
    ),
    Shape(
        name="novelty",
        what="The worse arm is the better one for the first days, while it is new.",
        tests="charm that wears off",
        kind="arms change",
        worse=Factor.of(novelty, DAYS),
    ),
    Shape(
        name="late",
        what="From half time on delays are twice as long; rates stay.",
        tests="delays that change: young visitors look worse than they are",
        kind="delays change",
        slower=2.0,
    ),
)


def means_for(rates: Sequence[float], laws: Sequence[Delay]) -> list[float]:
    """Means with which the rates within the window are these."""
    shares = [1.0 - law.survival_at(WINDOW) for law in laws]
    return [rounded(rate / share) for rate, share in zip(rates, shares, strict=True)]


def problem_of(shape: Shape, direction: str) -> Problem:
    """The problem of a shape."""
    own = [None, shape.worse] if shape.worse else None
    calendar = Calendar(A_DAY, shape.common or (), own)
    laws = [LogNormal(median * A_DAY, SPREAD) for median in MEDIANS[direction]]
    changes = []
    if shape.swap or shape.slower != 1.0:
        later = [LogNormal(law.median * shape.slower, SPREAD) for law in laws]
        rates = RATES[::-1] if shape.swap else RATES
        changes = [Shift(calendar.first_round(HALF_TIME), means_for(rates, later), later)]
    return Problem(
        means_for(RATES, laws),
        laws,
        window=WINDOW,
        changes=changes,
        batch=HEARD_EVERY,
        calendar=calendar,
    )


def calendar_suite(seed: int = 0) -> tuple[Case, ...]:
    """All shapes, in three directions each; nothing in it is drawn at random."""
    cases = []
    for shape in SHAPES:
        for direction in MEDIANS:
            case = Case(
                name=shape.name + ENDINGS[direction],
                what=f"{shape.what} {direction.capitalize()}.",
                tests=shape.tests,
                problem=problem_of(shape, direction),
                horizon=A_DAY * DAYS,
                kinds=(shape.kind, direction),
                runs=CALENDAR_RUNS,
                quick=shape.name in ("constant", "rise") and direction == SAME,
            )
            cases.append(case)
    return tuple(cases)


def _window(problem: Problem) -> int:
    return problem.window or USUAL_WINDOW


def _day(problem: Problem) -> int:
    return problem.calendar.day if problem.calendar else USUAL_WINDOW


def _oracle(problem: Problem) -> CalendarOracle:
    return CalendarOracle(problem, A_DAY * DAYS, problem.batch or 1)


FORGET_DAYS = 14

RIVALS = (
    Contender(
        name="CalendarThompson",
        make=lambda problem: CalendarThompson(problem.window),
        note="knows the window",
        quick=True,
        new=True,
    ),
    Contender(
        name="CalendarThompson-forget",
        make=lambda problem: CalendarThompson(problem.window, forget=FORGET_DAYS * _day(problem)),
        note=f"the same, with a half-life of {FORGET_DAYS} days",
        new=True,
    ),
    Contender(
        name="DeconfoundedThompson",
        make=lambda problem: DeconfoundedThompson(_window(problem), _day(problem)),
        note="Qin and Russo, the day being the context; waits out the window",
        quick=True,
    ),
    Contender(
        name="PartialLikelihoodThompson",
        make=lambda problem: PartialLikelihoodThompson(_window(problem)),
        note="Wu and Wager; knows the window",
        quick=True,
    ),
    Contender(
        name=CALENDAR_ORACLE,
        make=_oracle,
        told="factors",
        note="knows all but one number of each arm, which nobody does in practice",
        quick=True,
    ),
)

LEFT_OUT = ("OracleThompson", "PatientKL-envelope", "DUCB", "DUCB-wait", "DKLUCB")
"""Told laws of delays, which change here."""


def calendar_contenders() -> tuple[Contender, ...]:
    """Those of DelayBench 1 but for a few, and those made for rates that change."""
    return (*(player for player in contenders() if player.name not in LEFT_OUT), *RIVALS)
