"""DelayBench 1: the suite of problems on which policies are compared.

Three parts. Problems chosen for what they test; each of them whose arms differ in their delays a
second time, with the delays handed from the best arm to the worst and back, so that patience pays
in one and is wasted in the other; and problems that nobody has chosen, `random_problem(seed, n)`.

The suite is frozen: with `SUITE_SEED` its problems, horizons and runs are those of its name, and a
change of any of them asks for a new one. Another seed gives other worlds and another random part: a
policy that was tuned to the frozen one shows it there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from patientbandits._util.arithmetic import plain_sum
from patientbandits.problems import RANDOM_HORIZON, Problem, mirrored, random_problem
from patientbandits.research.compare.cases import (
    HOPELESS,
    SLOW_BEST,
    SLOW_WORST,
    Case,
    shape_cases,
    usual_cases,
    world_cases,
)
from patientbandits.research.compare.contenders import Contender

DELAY_BENCH = "DelayBench 1"
SUITE_SEED = 2020

RANDOM_CASES = 25
RANDOM_RUNS = 40
MIRRORED_RUNS = 60
QUICK_RANDOM = 2
"""Of the random problems with two arms, so many are played by --quick."""

QUICK_MIRRORED = ("light_tails",)
MIRRORED_ALREADY = ("heterogeneous", "slow_is_worst")
"""Each is the other's mirror."""


@dataclass(frozen=True)
class Suite:
    """A standard set of problems, and who plays them."""

    name: str
    what: str
    """a sentence for the page"""
    cases: Callable[[int], Sequence[Case]]
    """of the seed"""
    contenders: Callable[[], Sequence[Contender]]


COMPARED_AGES = (3, 10, 30, 100, 300, 1000)
"""Ages at which delays are compared."""


def suite(seed: int = SUITE_SEED) -> tuple[Case, ...]:
    """DelayBench 1, the paper's problems first."""
    named = [*usual_cases(), *shape_cases(), *world_cases()]
    other_way_round = [mirror_of(case) for case in named if has_mirror(case)]
    return tuple(map(with_direction, (*named, *other_way_round, *random_cases(seed))))


def has_mirror(case: Case) -> bool:
    """True if the delays make a difference that the mirror turns round."""
    apart = HOPELESS in case.kinds or case.name in MIRRORED_ALREADY
    return case.counted and not apart and mirrored(case.problem) != case.problem


def mirror_of(case: Case) -> Case:
    """The same arms, the best with the delays of the worst."""
    return replace(
        case,
        name=f"{case.name}_mirrored",
        what=f"As {case.name}, with the delays handed from the best arm to the worst, and back.",
        tests=f"the price of what helps on {case.name}",
        problem=mirrored(case.problem),
        kinds=tuple(kind for kind in case.kinds if kind != SLOW_BEST),
        runs=min(case.runs, MIRRORED_RUNS),
        quick=case.name in QUICK_MIRRORED,
    )


def random_cases(seed: int) -> list[Case]:
    """Cases that nobody has chosen: their problems are drawn at random."""
    cases = []
    quick = 0
    for number in range(RANDOM_CASES):
        problem = random_problem(seed, number)
        # With --quick only the cheapest are played: those with two arms.
        pair = problem.arms == 2
        case = Case(
            name=f"random_{number:02}",
            what=arms_in_words(problem),
            tests="a problem drawn from the published generator",
            problem=problem,
            horizon=RANDOM_HORIZON,
            kinds=("random",),
            runs=RANDOM_RUNS,
            quick=pair and quick < QUICK_RANDOM,
        )
        quick += pair
        cases.append(case)
    return cases


def arms_in_words(problem: Problem) -> str:
    """Means and laws."""
    laws = [law.owner for law in problem.delays]
    arms = [f"{mean:g} ({law})" for mean, law in zip(problem.means, laws, strict=True)]
    return f"Drawn at random: arms of {', '.join(arms)}."


def with_direction(case: Case) -> Case:
    """Add the kind that says whether the best arm is slower than the worst, or faster.

    Where rates or delays change: on the whole, as long as each phase lasts.
    """
    if not case.counted or HOPELESS in case.kinds:
        return case
    difference = lead_in_slowness(case.problem, case.horizon)
    # The computed direction replaces what the case, or the one it mirrors, came with.
    kinds = [kind for kind in case.kinds if kind not in (SLOW_BEST, SLOW_WORST)]
    if difference > 0:
        kinds.append(SLOW_BEST)
    if difference < 0:
        kinds.append(SLOW_WORST)
    return replace(case, kinds=tuple(kinds))


def lead_in_slowness(problem: Problem, horizon: int) -> float:
    """Lead of the best arm over the worst in slowness, phases weighted by their length."""
    phases = problem.phases_until(horizon)
    # A phase lasts until the next begins, and the last one through the last round.
    ends = [*(start for start, _ in phases[1:]), horizon + 1]
    total = 0.0
    for (start, phase), end in zip(phases, ends, strict=True):
        lead = slowness(phase, best=True) - slowness(phase, best=False)
        total += lead * (end - start)
    return total


def slowness(problem: Problem, best: bool) -> float:
    """Share of the best arm's rewards, or of the worst's, that is late, on a logarithmic scale."""
    rates = problem.rates
    rate = max(rates) if best else min(rates)
    law = problem.delays[rates.index(rate)]
    return plain_sum(law.survival_at(age) for age in COMPARED_AGES)
