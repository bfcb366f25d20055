"""The theorems, checked; here Theorems 2, 3 and 6 and Proposition 1.

Measured regret must be below the bounds of the first two; of the others it is computed from where
on they say anything.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from patientbandits import theory
from patientbandits.policies import PatientBandits
from patientbandits.research.paper.claims import VACUOUS, Claim, verdict
from patientbandits.research.paper.curve import Findings
from patientbandits.research.paper.experiment import PaperExperiment, Section
from patientbandits.research.paper.log_growth import LogGrowth
from patientbandits.research.paper.section8_adaptive import (
    ADAPTIVE_ALPHA_FLOOR,
    ADAPTIVE_C,
    ADAPTIVE_MEAN_FLOOR,
    TRUE_ALPHA,
)
from patientbandits.research.paper.theorem1_coverage import coverage_claims, coverage_rows
from patientbandits.research.paper.theorem4_twins import twin_claims
from patientbandits.research.paper.worst_case import ManyArms, WorstCase
from patientbandits.simulation import Result

SHOWN_BOUNDS = 8
"""How many rows the table of bounds has."""


class Theorems(PaperExperiment):
    """Rests on the printed constants in the other experiments, and on small ones of its own."""

    name = "theory"
    heading = "The theorems"
    text = (
        "Bounds against measurements, the coverage of Theorem 1, and the pairs of problems of "
        "Theorems 4 and 5. Proofs, and what is stated wrongly: docs/theory.md."
    )
    place = 2

    def section(self, findings: Findings) -> Section:
        claims = []
        section = Section(self.name, self.heading, self.text)
        bounded = bounded_simulations(findings)
        if bounded:
            claims.append(below_the_bounds(bounded))
            informative = [row for row in bounded if row.is_informative]
            closest = sorted(informative, key=lambda row: row.share, reverse=True)
            section.tables["bounds"] = closest[:SHOWN_BOUNDS]
        coverage = coverage_rows(findings.seed)
        claims += coverage_claims(coverage)
        section.tables["coverage"] = coverage
        claims += twin_claims(findings.seed)
        claims += [constant_claim(PLAYABLE), interval_claim(PLAYABLE)]
        section.claims.extend(("", claim) for claim in claims)
        return section


PRINTED_EXPERIMENTS = (LogGrowth.name, WorstCase.name, ManyArms.name)
"""experiments without presets that use the printed constants"""


class Bounded(NamedTuple):
    """Measured regret of a simulation at its horizon, and the bounds on it."""

    simulation: str
    measured: float
    printed: float
    """Theorem 2"""
    corrected: float
    """Theorem 2"""
    minimax: float
    """Theorem 3, corrected"""
    at_most: float
    """what always pulling the worst arm would cost"""
    high: float
    """upper end of the interval of what was measured"""

    @property
    def is_informative(self) -> bool:
        """True if a bound is below what any policy can lose."""
        return min(self.corrected, self.minimax) < self.at_most

    @property
    def share(self) -> float:
        """Measured, at the upper end of its interval, / the lower of the corrected bounds."""
        return self.high / min(self.corrected, self.minimax)


def bounded_simulations(findings: Findings) -> list[Bounded]:
    """Bounds on every literal simulation of PatientBandits whose alpha satisfies Assumption 1."""
    rows = []
    for (experiment, preset), curves in findings.curves.items():
        if preset != "literal" and experiment not in PRINTED_EXPERIMENTS:
            continue
        for curve in curves.values():
            checks = [bounded(experiment, result) for result in curve.results]
            rows += [row for row in checks if row is not None]
    return rows


def bounded(experiment: str, result: Result) -> Bounded | None:
    """Bounds on a simulation; None if they do not apply."""
    policy = result.policy
    problem = result.problem
    if not isinstance(policy, PatientBandits) or problem is None:
        return None
    alpha = policy.alpha
    # The largest alpha is computed from the laws, and may be below by a rounding error.
    if problem.max_alpha() < alpha * (1 - 1e-12):
        return None
    horizon = int(result.rounds[-1])
    return Bounded(
        simulation=f"{experiment}: alpha {alpha}, gap {max(problem.gaps):.2f}, T {horizon}",
        measured=float(result.mean()[-1]),
        printed=theory.gap_dependent_bound(problem, horizon, alpha, "printed"),
        corrected=theory.gap_dependent_bound(problem, horizon, alpha),
        minimax=theory.minimax_bound(problem.arms, horizon, alpha),
        at_most=max(problem.gaps) * horizon,
        high=float(result.interval()[1][-1]),
    )


def below_the_bounds(rows: list[Bounded]) -> Claim:
    """Fails if a measured regret is above a bound. Open if no bound says anything."""
    informative = [row for row in rows if row.is_informative]
    share = max((row.share for row in informative), default=0.0)
    printed = [row for row in rows if row.printed < row.at_most]
    printed_share = max((row.high / row.printed for row in printed), default=0.0)
    checks = []
    if informative:
        checks.append(share < 1)
    if printed:
        checks.append(printed_share < 1)
    return Claim(
        source="Theorems 2 and 3",
        statement="Measured regret stays below the bounds wherever Assumption 1 holds",
        verdict=verdict(*checks),
        measured=(
            f"of {len(rows)} simulations {len(informative)} have a bound below gap T, the most "
            f"that can be lost: largest measured / bound {share:.3f} (corrected); "
            f"{len(printed)} have one by Theorem 2 as printed: {printed_share:.3f}"
        ),
        why=("The others cannot fail and are not counted. The bounds are safe and far from tight."),
    )


PLAYABLE = 10**12
"""A horizon beyond any simulation: at a nanosecond a round, a quarter of an hour a run."""


def constant_claim(most: int) -> Claim:
    """Says nothing if the bound exceeds T for every T up to this many rounds."""
    says_something = first_power(most, lambda T: printed_bound(T) < T)
    at_most = printed_bound(most) / most
    return Claim(
        source="Theorem 6",
        statement="Its bound on the regret of Adapt-PatientBandits is below T, so says something",
        verdict=verdict(True) if says_something else VACUOUS,
        measured=(
            f"at T = 10^{len(str(most)) - 1} the bound is {at_most:.0e} T; "
            f"it is below T {in_words('from T', says_something)}"
        ),
        why="The rate T (K/T)^(alpha ^ 1/2) is what it offers; docs/adaptivity.md measures it.",
    )


def interval_claim(most: int) -> Claim:
    """Says nothing if the interval contains [0, 1/2], where the estimate always is, for every N."""
    lower = first_power(most, lambda N: interval(N)[0] > 0)
    upper = first_power(most, lambda N: interval(N)[1] < 0.5)
    return Claim(
        source="Proposition 1",
        statement="Its interval says something about the estimate of alpha",
        verdict=verdict(lower is not None, upper is not None) if lower or upper else VACUOUS,
        measured=(
            "after N pulls of the leading arm the lower end is above 0 "
            f"{in_words('from N', lower)}, the upper end below 1/2 {in_words('from N', upper)}"
        ),
        why="Section 8.3 plays 10 000 rounds. Before d >= 1 there is no estimate at all.",
    )


def printed_bound(horizon: int) -> float:
    return theory.adaptive_bound(
        2, horizon, TRUE_ALPHA, ADAPTIVE_C, ADAPTIVE_ALPHA_FLOOR, ADAPTIVE_MEAN_FLOOR
    )


def interval(pulls: int) -> tuple[float, float]:
    """Interval of Proposition 1 after this many pulls in as many rounds."""
    return theory.alpha_interval(
        pulls, 2, pulls, TRUE_ALPHA, ADAPTIVE_C, ADAPTIVE_ALPHA_FLOOR, ADAPTIVE_MEAN_FLOOR
    )


def first_power(most: int, is_true: Callable[[int], bool]) -> int | None:
    """The first power of ten up to ``most`` of which it is true."""
    power = 10
    while power <= most:
        if is_true(power):
            return power
        power *= 10
    return None


def in_words(start: str, power: int | None) -> str:
    if power is None:
        return f"nowhere up to 10^{len(str(PLAYABLE)) - 1}"
    return f"{start} = 10^{len(str(power)) - 1} on"
