"""Who takes part, with which parameters, and what each is told beforehand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any

from patientbandits.delays import Delay, Mixture
from patientbandits.errors import InputError, choice, items
from patientbandits.paper.experiments import (
    ADAPTIVE_ALPHA_FLOOR,
    ADAPTIVE_C,
    ADAPTIVE_MEAN_FLOOR,
    NEAREST_PENALTY,
    NEAREST_RATIO,
    patient,
)
from patientbandits.policies import (
    DKLUCB,
    DUCB,
    KLUCB,
    POLICIES,
    AdaptPatientBandits,
    GuardedThompson,
    PatientBandits,
    PatientKL,
    Policy,
    ToldThompson,
)
from patientbandits.problem import Problem

GROUPS = {
    "nothing": "told nothing about the delays",
    "bound": "told a bound on the delays",
    "law": "told the exact law of the delays",
    "reports": "sees more: every pull reports in the end, zeros too",
}
"""What a contender has to go on. Those of "reports" play another game, and are not counted among the best."""

LEAST_ALPHA, PATIENT_ALPHA, ENVELOPE_ALPHA = 0.05, 0.5, 1.0
WAIT = 50
"""D-UCB's window at its best in the paper's figures."""


@dataclass(frozen=True)
class Contender:
    """A policy for each problem."""

    name: str
    make: Callable[[Problem], Policy]
    told: str = "nothing"
    """"nothing", "bound" or "law": what `make` takes from the problem; what a policy sees is read off the policy"""
    note: str = ""
    quick: bool = False
    """whether --quick plays it; also, whether it has a curve where there are too many"""
    new: bool = False
    """whether it was first published with this package"""

    def __post_init__(self) -> None:
        choice(
            f"Contender {self.name}",
            "told",
            self.told,
            [group for group in GROUPS if group != "reports"],
        )

    def group(self, problem: Problem) -> str:
        """Of `GROUPS`."""
        return "reports" if feedback_of(self.make(problem)) == "reports" else self.told


def feedback_of(policy: Policy) -> str:
    """What the policy must see: "rewards" as they come, or "reports" of every pull."""
    return str(getattr(policy, "feedback", "rewards"))


def world_for(problem: Problem, policy: Policy) -> Problem:
    """The same world, with the feedback that the policy needs."""
    feedback = feedback_of(policy)
    if feedback == getattr(problem, "feedback", "rewards"):
        return problem
    more: dict[str, Any] = {"feedback": feedback}
    return Problem(problem.means, problem.delays, problem.rewards, problem.streams, **more)


@dataclass(frozen=True)
class Slowest(Delay):
    """S(m) = max over the laws of S_j(m): the tightest bound that holds for every arm."""

    laws: Sequence[Delay]

    def survival_at(self, m: int) -> float:
        return max(law.survival_at(m) for law in self.laws)

    def describe(self) -> dict[str, Any]:
        return {"law": self.owner, "laws": [law.describe() for law in self.laws]}


def valid_alpha(problem: Problem, most: float) -> float:
    """The largest alpha up to ``most`` with which Assumption 1 holds; if it holds with none, `LEAST_ALPHA`."""
    return min(most, max(problem.max_alpha(), LEAST_ALPHA))


def different(problem: Problem) -> tuple[Delay, ...]:
    return tuple(dict.fromkeys(problem.delays))


def pooled(problem: Problem) -> Delay:
    """The law of the delays of all arms together: what a policy that knows one law for all arms can best be told."""
    laws = different(problem)
    return (
        laws[0]
        if len(laws) == 1
        else Mixture(laws, [problem.delays.count(law) / problem.arms for law in laws])
    )


def slowest(problem: Problem) -> Delay:
    laws = different(problem)
    return laws[0] if len(laws) == 1 else Slowest(laws)


def adapt(problem: Problem) -> Policy:
    """With the paper's constants; the floor of the means must be one."""
    shape = patient(1.0, "published")
    floor = min(ADAPTIVE_MEAN_FLOOR, max(problem.means))
    return AdaptPatientBandits(
        ADAPTIVE_C,
        ADAPTIVE_ALPHA_FLOOR,
        floor,
        penalty=NEAREST_PENALTY,
        ratio=NEAREST_RATIO,
        width=shape.width,
        bias=shape.bias,
    )


EXPLICIT = (
    Contender(
        "GuardedThompson",
        lambda problem: GuardedThompson(
            guard=PatientKL(valid_alpha(problem, ENVELOPE_ALPHA), c=3.0)
        ),
        "bound",
        "guarded by PatientKL, told the largest alpha with which Assumption 1 holds",
        new=True,
    ),
    Contender(
        "PatientKL",
        lambda problem: PatientKL(valid_alpha(problem, ENVELOPE_ALPHA)),
        "bound",
        "told the largest alpha with which Assumption 1 holds",
        quick=True,
        new=True,
    ),
    Contender(
        "PatientKL-envelope",
        lambda problem: PatientKL(envelope=slowest(problem)),
        "bound",
        "told the survival function of the slowest arm",
        new=True,
    ),
    Contender(
        "PatientBandits",
        lambda problem: PatientBandits(valid_alpha(problem, PATIENT_ALPHA)),
        "bound",
        "the printed constants; told the largest alpha with which Assumption 1 holds",
    ),
    Contender(
        "PatientBandits-0.5",
        lambda problem: patient(0.5, "published"),
        note="the constants behind the paper's figures, alpha 0.5 whatever the delays",
        quick=True,
    ),
    Contender(
        "AdaptPatientBandits",
        adapt,
        "bound",
        "the variant nearest to the paper's plot; told c, floors of alpha and the mean",
    ),
    Contender(
        "DUCB",
        lambda problem: DUCB(pooled(problem), mode="uncensored"),
        "law",
        "no window; told the law of all delays together",
    ),
    Contender(
        "DUCB-wait",
        lambda problem: DUCB(pooled(problem), WAIT, "wait"),
        "law",
        f"as in the paper's figures, m = {WAIT}; told the law of all delays together",
    ),
    Contender(
        "DKLUCB",
        lambda problem: DKLUCB(pooled(problem), mode="uncensored"),
        "law",
        "no window; told the law of all delays together",
        quick=True,
    ),
    Contender(
        "ToldThompson",
        lambda problem: ToldThompson(problem.delays),
        "law",
        "told the law of every arm's delays: what nobody knows in practice",
    ),
)
"""The contenders that need something from the problem, or that take part with more than their defaults."""

GIVEN: dict[str, dict[str, Any]] = {"OTFLinUCB": {"window": 100}, "QPMD": {"base": KLUCB()}}
"""policy -> the parameters that it has no default for, the same on every problem"""

EXCLUDED: dict[str, str] = {}
"""policy -> why it does not take part"""

FIRST = "PatientThompson"
QUICK, NEW = {FIRST, "KLUCB", "Thompson", "DelayedUCB1"}, {FIRST}


def covered() -> set[str]:
    """The names of the policies that `EXPLICIT` covers."""
    return {contender.make(Problem([0.4, 0.6])).owner for contender in EXPLICIT}


def contenders() -> tuple[Contender, ...]:
    """`EXPLICIT`, and every other policy of the package that can do with its defaults and what it is `GIVEN`."""
    left = [
        name
        for name in POLICIES
        if name not in covered() and name not in EXCLUDED and _complete(name)
    ]
    plain = [
        Contender(name, _same(name), note=_note(name), quick=name in QUICK, new=name in NEW)
        for name in left
    ]
    return tuple(sorted((*plain, *EXPLICIT), key=lambda contender: contender.name != FIRST))


def _complete(name: str) -> bool:
    known: tuple[Any, ...] = fields(POLICIES[name])  # type: ignore[arg-type]
    needed = {
        f.name for f in known if f.init and f.default is MISSING and f.default_factory is MISSING
    }
    return needed <= set(GIVEN.get(name, {}))


def _same(name: str) -> Callable[[Problem], Policy]:
    return lambda problem: POLICIES[name](**GIVEN.get(name, {}))


def _note(name: str) -> str:
    return ", ".join(
        f"{key} {getattr(value, 'label', value)}" for key, value in GIVEN.get(name, {}).items()
    )


def pick(
    owner: str, what: str, known: Sequence[Any], names: Sequence[Any] | None, kind: type
) -> list[Any]:
    """Those of ``known`` with the ``names``, in their order; a member of ``kind`` stands for itself; all for None."""
    by_name: dict[str, Any] = {member.name: member for member in known}
    if names is None:
        return list(known)
    chosen: list[Any] = [
        name if isinstance(name, kind) else by_name[choice(owner, what, name, by_name)]
        for name in items(owner, what, names)
    ]
    repeated = {
        member.name for member in chosen if [other.name for other in chosen].count(member.name) > 1
    }
    if repeated or not chosen:
        raise InputError(
            f"{owner}: every {what} is needed once, and at least one; got {', '.join(sorted(repeated)) or 'none'}."
        )
    return chosen
