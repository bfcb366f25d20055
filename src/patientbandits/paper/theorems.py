"""The theorems, checked; here Theorems 2 and 3, whose bounds are above all measured regret."""

from __future__ import annotations

from typing import NamedTuple

from patientbandits import theory
from patientbandits.paper.claim import Claim, verdict
from patientbandits.paper.curve import Findings
from patientbandits.paper.experiment import PaperExperiment, Section
from patientbandits.paper.theorem1_coverage import coverage_claims, coverage_rows
from patientbandits.paper.theorem4_twins import indistinguishable_claim
from patientbandits.paper.worst_case import WorstCase
from patientbandits.policies import PatientBandits
from patientbandits.result import Result

SHOWN_BOUNDS = 8
"""How many rows the table of bounds has."""


class Theorems(PaperExperiment):
    """Rests on the printed constants in the other experiments, and on small ones of its own."""

    name = "theory"
    heading = "The theorems"
    text = (
        "Bounds against measurements, the coverage of Theorem 1, and the two problems of Theorem 4."
    )
    place = 2

    def section(self, findings: Findings) -> Section:
        claims = []
        section = Section(self.name, self.heading, self.text)
        bounded = bounded_simulations(findings)
        if bounded:
            claims.append(below_the_bounds(bounded))
            closest = sorted(bounded, key=lambda row: row.share, reverse=True)
            section.tables["bounds"] = closest[:SHOWN_BOUNDS]
        coverage = coverage_rows(findings.seed)
        claims += coverage_claims(coverage)
        section.tables["coverage"] = coverage
        claims.append(indistinguishable_claim(findings.seed))
        section.claims.extend(("", claim) for claim in claims)
        return section


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

    @property
    def share(self) -> float:
        """Measured / the lower of the corrected bounds."""
        return self.measured / min(self.corrected, self.minimax)


def bounded_simulations(findings: Findings) -> list[Bounded]:
    """Every literal simulation of PatientBandits whose alpha satisfies Assumption 1."""
    rows = []
    for (experiment, preset), curves in findings.curves.items():
        if preset != "literal" and experiment != WorstCase.name:
            continue
        for curve in curves.values():
            found = [bounded(experiment, result) for result in curve.results]
            rows += [row for row in found if row is not None]
    return rows


def bounded(experiment: str, result: Result) -> Bounded | None:
    """None if the bounds do not apply."""
    policy = result.policy
    problem = result.problem
    if not isinstance(policy, PatientBandits) or problem is None:
        return None
    alpha = policy.alpha
    if problem.max_alpha() < alpha * (1 - 1e-12):
        return None
    horizon = int(result.rounds[-1])
    return Bounded(
        simulation=f"{experiment}: alpha {alpha}, gap {max(problem.gaps):.2f}",
        measured=float(result.mean()[-1]),
        printed=theory.gap_dependent_bound(problem, horizon, alpha, "printed"),
        corrected=theory.gap_dependent_bound(problem, horizon, alpha),
        minimax=theory.minimax_bound(problem.arms, horizon, alpha),
    )


def below_the_bounds(rows: list[Bounded]) -> Claim:
    share = max(row.share for row in rows)
    printed_share = max(row.measured / row.printed for row in rows)
    return Claim(
        source="Theorems 2 and 3",
        statement="Measured regret stays below the bounds wherever Assumption 1 holds",
        verdict=verdict(share < 1, printed_share < 1),
        measured=(
            f"{len(rows)} simulations; largest measured / bound {share:.3f} (corrected), "
            f"{printed_share:.3f} (Theorem 2 as printed)"
        ),
        why=(
            "The bounds are safe and far from tight, and for these horizons often larger than "
            "the regret of always pulling the worse arm."
        ),
    )
