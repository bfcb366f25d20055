"""Policies that take part, with their parameters and what each is told beforehand.

What they are told is true: bounds and laws taken from the problem itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any

from patientbandits import policies
from patientbandits.errors import choice
from patientbandits.problems import FEEDBACK, Problem
from patientbandits.problems.delays import Delay, Mixture
from patientbandits.research import paper

LEAST_ALPHA = 0.05
"""Told where Assumption 1 holds with no alpha."""

GROUPS = {
    "nothing": "knows nothing about the delays",
    "bound": "knows a bound on the delays",
    "law": "knows the exact law of the delays",
    "factors": "knows all factors and delays",
    "tuned": "has a constant that was chosen on other problems of the suite's generator",
    "reports": "sees more: every pull reports in the end, zeros too",
}
"""What a contender has to go on."""

NOT_COUNTED = ("tuned", "reports")
"""Groups that the best of a problem is not chosen from: those of "reports" play another game, and
those that are tuned are shown beside the others, whose numbers do not depend on them."""

FIRST_SHOWN = "PatientThompson"
CALENDAR_ORACLE = "CalendarOracle"

PATIENT_ALPHA = 0.5

ENVELOPE_ALPHA = 1.0

BEST_WINDOW = 50
"""D-UCB's window at its best in the paper's figures."""

USUAL_WINDOW = 100
"""Rounds after which a decision counts as known, where the problem has no window."""

GIVEN: dict[str, dict[str, Any]] = {
    "OTFLinUCB": {"window": 100},
    "OTFLinTS": {"window": 100},
    "QPMD": {"base": policies.KLUCB()},
    "FloorMixture": {"base": policies.Thompson()},
}
"""policy -> the parameters that it has no default for, the same on every problem"""

EXCLUDED = {
    "SignalThompson": "no problem of the suite has early signals",
    "CalendarThompson": "for worlds with a season; it pays for that where there is none",
}
"""policy -> why it does not take part"""

QUICK = {"KLUCB", "Thompson", "DelayedUCB1"}


@dataclass(frozen=True)
class Slowest(Delay):
    """S(m) = max over the laws of S_j(m): the tightest bound that holds for every arm."""

    laws: Sequence[Delay]

    def survival_at(self, m: int) -> float:
        return max(law.survival_at(m) for law in self.laws)

    def describe(self) -> dict[str, Any]:
        return {"law": self.owner, "laws": [law.describe() for law in self.laws]}


def valid_alpha(problem: Problem, most: float) -> float:
    """The largest alpha up to ``most`` with which Assumption 1 holds; at least `LEAST_ALPHA`."""
    return min(most, max(problem.max_alpha(), LEAST_ALPHA))


def pooled(problem: Problem) -> Delay:
    """The law of the delays of all arms together.

    What a policy that knows one law for all arms can best be told.
    """
    laws = _different_laws(problem)
    if len(laws) == 1:
        return laws[0]
    # A law is in this list once for each arm that has it, so its count is its weight.
    counted = problem.laws_in_time()
    return Mixture(laws, [counted.count(law) / problem.arms for law in laws])


def slowest(problem: Problem) -> Delay:
    """The tightest bound on the delays of all arms."""
    laws = _different_laws(problem)
    if len(laws) == 1:
        return laws[0]
    return Slowest(laws)


def _different_laws(problem: Problem) -> tuple[Delay, ...]:
    return tuple(dict.fromkeys(problem.laws_in_time()))


@dataclass(frozen=True)
class Contender:
    """A policy for each problem."""

    name: str
    make: Callable[[Problem], policies.Policy]
    told: str = "nothing"
    """what `make` takes from the problem, of `GROUPS`; what a policy sees is read off the policy"""
    note: str = ""
    quick: bool = False
    """whether --quick plays it; also, whether it has a curve where there are too many"""
    new: bool = False
    """whether it was first published with this package"""
    windowed: bool = False
    """whether it is told the problem's window, if there is one"""
    counted: bool = True
    """whether the best of a problem may be chosen from it: not if it joined a suite whose numbers
    were frozen before"""

    def __post_init__(self) -> None:
        knowledge = [group for group in GROUPS if group != "reports"]
        choice(f"Contender {self.name}", "told", self.told, knowledge)

    def group(self, problem: Problem) -> str:
        """The contender's group, of `GROUPS`."""
        if feedback_of(self.make(problem)) == "reports":
            return "reports"
        return self.told


def feedback_of(policy: policies.Policy) -> str:
    """Feedback that the policy must see: "rewards" as they come, or "reports" of every pull."""
    return str(getattr(policy, "feedback", FEEDBACK[0]))


def world_for(problem: Problem, policy: policies.Policy) -> Problem:
    """The same world, with the feedback that the policy needs."""
    return problem.with_feedback(feedback_of(policy))


def adapt_patient_bandits(problem: Problem) -> policies.Policy:
    """The adaptive policy with the paper's constants; the floor of the means must be one."""
    shape = paper.patient(1.0, "published")
    return policies.AdaptPatientBandits(
        paper.ADAPTIVE_C,
        paper.ADAPTIVE_ALPHA_FLOOR,
        min(paper.ADAPTIVE_MEAN_FLOOR, max(problem.rates)),
        penalty=paper.NEAREST_PENALTY,
        ratio=paper.NEAREST_RATIO,
        width=shape.width,
        bias=shape.bias,
    )


def guarded_thompson(problem: Problem) -> policies.Policy:
    guard = policies.PatientKL(valid_alpha(problem, ENVELOPE_ALPHA), c=3.0)
    return policies.GuardedThompson(window=problem.window, guard=guard)


EXPLICIT = (
    Contender(
        name=FIRST_SHOWN,
        make=lambda problem: policies.PatientThompson(window=problem.window),
        note="knows the window, if there is one",
        quick=True,
        new=True,
        windowed=True,
    ),
    Contender(
        name="GuardedThompson",
        make=guarded_thompson,
        told="bound",
        note="guarded by PatientKL, given the largest alpha with which Assumption 1 holds",
        new=True,
        windowed=True,
    ),
    Contender(
        name="PatientKL",
        make=lambda problem: policies.PatientKL(valid_alpha(problem, ENVELOPE_ALPHA)),
        told="bound",
        note="given the largest alpha with which Assumption 1 holds",
        quick=True,
        new=True,
    ),
    Contender(
        name="PatientKL-envelope",
        make=lambda problem: policies.PatientKL(envelope=slowest(problem)),
        told="bound",
        note="given the survival function of the slowest arm",
        new=True,
    ),
    Contender(
        name="PatientBandits",
        make=lambda problem: policies.PatientBandits(valid_alpha(problem, PATIENT_ALPHA)),
        told="bound",
        note="the printed constants; given the largest alpha with which Assumption 1 holds",
    ),
    Contender(
        name="PatientBandits-tight",
        make=lambda problem: policies.PatientBandits(
            valid_alpha(problem, PATIENT_ALPHA), "tight", "aged"
        ),
        told="bound",
        note="width tight, bias aged: the same guarantee, the same alpha",
        counted=False,
    ),
    Contender(
        name="PatientBandits-0.5",
        make=lambda problem: paper.patient(0.5, "published"),
        note="the constants behind the paper's figures, alpha 0.5 whatever the delays",
        quick=True,
    ),
    Contender(
        name="AdaptPatientBandits",
        make=adapt_patient_bandits,
        told="bound",
        note="the variant nearest to the paper's plot; given c and floors of alpha and the mean",
    ),
    Contender(
        name="DUCB",
        make=lambda problem: policies.DUCB(pooled(problem), mode="uncensored"),
        told="law",
        note="no window; given the law of all delays together",
    ),
    Contender(
        name="DUCB-wait",
        make=lambda problem: policies.DUCB(pooled(problem), BEST_WINDOW, "wait"),
        told="law",
        note=f"as in the paper's figures, m = {BEST_WINDOW}; given the law of all delays together",
    ),
    Contender(
        name="DKLUCB",
        make=lambda problem: policies.DKLUCB(pooled(problem), mode="uncensored"),
        told="law",
        note="no window; given the law of all delays together",
        quick=True,
    ),
    Contender(
        name="WindowThompson",
        make=lambda problem: policies.WindowThompson(problem.window or USUAL_WINDOW),
        note=f"waits {USUAL_WINDOW} rounds, or the window, where there is one",
        quick=True,
        windowed=True,
    ),
    Contender(
        name="DelayedEXP3",
        make=lambda problem: policies.DelayedEXP3(),
        note="counts every report that is out, however long",
    ),
    Contender(
        name="DelayedEXP3-skipping",
        make=lambda problem: policies.DelayedEXP3(skipping=True),
        note="skips pulls that wait too long",
    ),
    Contender(
        name="OracleThompson",
        make=lambda problem: policies.OracleThompson(problem.laws_in_time()),
        told="law",
        note="knows the law of every arm's delays, which nobody does in practice",
    ),
)
"""Contenders that need something from the problem, or more than their defaults."""


def contenders() -> tuple[Contender, ...]:
    """`EXPLICIT`, and every other policy that can do with its defaults and what it is `GIVEN`."""
    # A policy may take part under several names; only its class says that it is covered.
    covered = {contender.make(Problem([0.4, 0.6])).owner for contender in EXPLICIT}
    left = [name for name in policies.POLICIES if name not in covered and name not in EXCLUDED]
    plain = [_with_defaults(name) for name in left if _complete(name)]
    return tuple(sorted((*plain, *EXPLICIT), key=lambda contender: contender.name != FIRST_SHOWN))


def _complete(name: str) -> bool:
    """True if every parameter has a default or is in `GIVEN`."""
    parameters: tuple[Any, ...] = fields(policies.POLICIES[name])  # type: ignore[arg-type]
    needed = {
        field.name
        for field in parameters
        if field.init and field.default is MISSING and field.default_factory is MISSING
    }
    return needed <= set(GIVEN.get(name, {}))


def _with_defaults(name: str) -> Contender:
    arguments = GIVEN.get(name, {})
    words = [f"{key} {getattr(value, 'label', value)}" for key, value in arguments.items()]
    return Contender(
        name=name,
        make=lambda problem: policies.POLICIES[name](**arguments),
        note=", ".join(words),
        quick=name in QUICK,
    )
