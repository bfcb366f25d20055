"""Theorem 4: two problems that no policy can tell apart, although their best arms differ."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from patientbandits import problems, theory
from patientbandits.bandit import Bandit
from patientbandits.paper.claim import Claim, numbers_shown, verdict
from patientbandits.policies import KLUCB, PatientBandits, Policy, Thompson
from patientbandits.problem import Problem

TWIN_HORIZON = 1000
TWIN_ALPHA = 0.3


def indistinguishable_claim(seed: int) -> Claim:
    """Theorem 4: the same uniform numbers make both problems show the learner the same."""
    first, second = problems.indistinguishable_pair(TWIN_HORIZON, TWIN_ALPHA)
    p = TWIN_HORIZON**-TWIN_ALPHA
    q = p / (4 - 2 * p)
    policies: list[Policy] = [PatientBandits(TWIN_ALPHA), KLUCB(), Thompson()]
    differences = 0
    regrets = []
    for number, policy in enumerate(policies):
        uniforms = np.random.default_rng([seed, number]).random((TWIN_HORIZON, 2))
        in_first = _decisions(policy, first, uniforms, 0.5 - q, seed)
        in_second = _decisions(policy, second, uniforms, 0.5 - q, seed)
        differences += sum(a != b for a, b in zip(in_first, in_second, strict=True))
        regrets.append(max(q * sum(in_first), q * (TWIN_HORIZON - sum(in_second))))
    bound = theory.lower_bound(TWIN_HORIZON, TWIN_ALPHA)
    same_law = abs((0.5 + q) * (1 - p) - (0.5 - q)) < 1e-15
    return Claim(
        source="Theorem 4",
        statement=(
            "No policy can tell problem A from problem B, and on one of them its expected regret "
            "is at least T^(1-alpha) / 8"
        ),
        verdict=verdict(differences == 0 and same_law, min(regrets) >= bound * 0.98),
        measured=(
            f"{differences} different decisions in {len(policies)} x {TWIN_HORIZON} rounds; "
            f"worse regret of the two {numbers_shown(regrets, '.1f')} "
            f"against the bound {bound:.1f}"
        ),
    )


def _decisions(
    policy: Policy, problem: Problem, uniforms: NDArray[np.float64], in_time: float, seed: int
) -> list[int]:
    """The arms pulled. Given u, arm 2 pays if u < its mean: in time if u < ``in_time``.

    ``in_time`` is 1/2 - q, the mean of arm 2 in A. In B it also pays, too late, if u < 1/2 + q.
    That is the law of B, since P(late | pays) = 2q / (1/2 + q) = p.
    """
    bandit = Bandit(policy, [0, 1], len(uniforms), seed=seed)
    decisions = []
    for u in uniforms:
        pull = bandit.pull()
        arm = int(pull.arm == 1)
        decisions.append(arm)
        paid = u[arm] < problem.means[arm]
        arrives = arm == 0 or u[1] < in_time
        if paid and arrives:
            bandit.reward(pull.id, 1.0)
    return decisions
