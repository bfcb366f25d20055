"""Theorems 4, 5 and B: two problems that no policy can tell apart, although their best arms differ.

Both are played with the same uniform numbers, so that a learner sees the same to the last bit.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits import theory
from patientbandits.policies import KLUCB, PatientBandits, Policy, Thompson
from patientbandits.problems import Problem
from patientbandits.problems import catalogue as problems
from patientbandits.research.paper.claims import OPEN, VACUOUS, Claim, numbers_shown, verdict
from patientbandits.simulation import Bandit

TWIN_HORIZON = 1000
TWIN_ALPHA = 0.3
TWIN_POLICIES: tuple[Policy, ...] = (PatientBandits(TWIN_ALPHA), KLUCB(), Thompson())
TWIN_LEVELS = (0.25, 0.5, 0.75)
"""M of Theorem 5"""


class Twins(NamedTuple):
    """Decisions of one policy in problems A and B, summed up."""

    differences: int
    """rounds in which it decided differently"""
    in_a: float
    """its regret"""
    in_b: float

    @property
    def worse(self) -> float:
        return max(self.in_a, self.in_b)


def twin_claims(seed: int) -> list[Claim]:
    """Theorem 4 as printed, mended and doubled; Theorem 5 as printed and in its right form."""
    printed = problems.indistinguishable_pair(TWIN_HORIZON, TWIN_ALPHA)
    doubled = problems.hidden_pair(TWIN_HORIZON, TWIN_ALPHA)
    return [
        one_problem_claim(printed),
        lower_bound_claim("Theorem 4, its proof", printed, "printed", seed),
        lower_bound_claim("Theorem 4, doubled (docs/theory.md)", doubled, "corrected", seed),
        empty_class_claim(),
        no_adaptation_claim(seed),
    ]


def one_problem_claim(pair: tuple[Problem, Problem]) -> Claim:
    """Fails if on each of the problems some policy loses less than the bound: one of two suffices.

    The least regret is that of a policy that pulls one arm only.
    """
    bound = theory.lower_bound(TWIN_HORIZON, TWIN_ALPHA, "printed")
    least = [TWIN_HORIZON * min(problem.gaps) for problem in pair]
    return Claim(
        source="Theorem 4",
        statement=(
            "As printed: there is one problem with alpha on which every policy has a regret of at "
            "least T^(1-alpha) / 8"
        ),
        verdict=verdict(max(least) >= bound),
        measured=(
            "in A and in B a policy that pulls the same arm for ever has "
            f"{numbers_shown(least, 'g')} against the bound {bound:.1f}"
        ),
        why=(
            "On any problem the policy that always pulls its best arm loses nothing. What the "
            "proof shows is the reverse: for every policy there is such a problem."
        ),
    )


def lower_bound_claim(source: str, pair: tuple[Problem, Problem], form: str, seed: int) -> Claim:
    """Fails if a policy decides differently, or loses less than the bound on both.

    The regret of one game scatters around its expectation; the sum over both problems does not: it
    is gap T for each policy, and the larger part at least half of it.
    """
    played = [play_twins(policy, pair, seed + n) for n, policy in enumerate(TWIN_POLICIES)]
    bound = theory.lower_bound(TWIN_HORIZON, TWIN_ALPHA, form)
    differences = sum(twins.differences for twins in played)
    worse = [twins.worse for twins in played]
    share = {"printed": 8, "corrected": 4}[form]
    return Claim(
        source=source,
        statement=(
            "No policy can tell problem A from problem B, and on one of them its expected regret "
            f"is at least T^(1-alpha) / {share}"
        ),
        verdict=verdict(differences == 0, min(worse) >= bound * (1 - 1e-9)),
        measured=(
            f"{differences} different decisions in {len(played)} x {TWIN_HORIZON} rounds; "
            f"worse regret of the two {numbers_shown(worse, '.1f')} against the bound {bound:.1f}"
        ),
    )


def empty_class_claim() -> Claim:
    """Says nothing if the class of policies that it speaks of is empty; otherwise it is open."""
    below = theory.lower_bound(TWIN_HORIZON, TWIN_ALPHA, "printed")
    least = theory.lower_bound(TWIN_HORIZON, TWIN_ALPHA)
    return Claim(
        source="Theorem 5",
        statement=(
            "As printed: a policy with regret below T^(1-alpha) / 8 on all problems with alpha "
            "cannot adapt to a larger alpha"
        ),
        verdict=OPEN if least < below else VACUOUS,
        measured=(
            f"by Theorem 4, doubled, every policy has {least:.1f} or more on some problem with "
            f"alpha at T = {TWIN_HORIZON}; the class asks for less than {below:.1f}"
        ),
        why="There is no such policy, so this is true of all of them and says nothing of any.",
    )


def no_adaptation_claim(seed: int) -> Claim:
    """Fails if a policy has at most M T^(1-alpha) in B and less than the bound in A."""
    scale = TWIN_HORIZON ** (1 - TWIN_ALPHA)
    kept = []
    words = []
    for level in TWIN_LEVELS:
        pair = problems.hidden_pair(TWIN_HORIZON, TWIN_ALPHA, math.sqrt(level))
        bound = theory.no_adaptation_bound(TWIN_HORIZON, TWIN_ALPHA, level)
        for number, policy in enumerate(TWIN_POLICIES):
            twins = play_twins(policy, pair, seed + number)
            if twins.in_b <= level * scale:
                kept.append(twins.in_a >= bound * (1 - 1e-9))
                words.append(f"{twins.in_a:.1f} against {bound:.1f} (M = {level})")
    return Claim(
        source="Theorem 5, in its right form (docs/theory.md)",
        statement=(
            "A policy with regret of at most M T^(1-alpha) on all problems with alpha < 1/2, 1/4 "
            "<= M < 1, has at least (1 - sqrt M)^2 T^(1-alpha) on a problem without any delay"
        ),
        verdict=verdict(*kept) if kept else verdict(None),
        measured=f"regret without delay of those that keep to M in B: {'; '.join(words) or 'none'}",
        why="For M >= 1 the pair says nothing. Whether a policy with M < 1 exists is not known.",
    )


def play_twins(policy: Policy, pair: tuple[Problem, Problem], seed: int) -> Twins:
    """The policy in both problems, with the same uniform numbers."""
    first, second = pair
    uniforms = np.random.default_rng([seed, 4]).random((TWIN_HORIZON, 2))
    in_a = decisions(policy, first, uniforms, first.means[1], seed)
    in_b = decisions(policy, second, uniforms, first.means[1], seed)
    return Twins(
        differences=int(np.sum(in_a != in_b)),
        in_a=max(first.gaps) * float(in_a.sum()),
        in_b=max(second.gaps) * float(np.sum(in_b == 0)),
    )


def decisions(
    policy: Policy, problem: Problem, uniforms: NDArray[np.float64], in_time: float, seed: int
) -> NDArray[np.int64]:
    """The arms pulled. Given u, arm 2 pays if u < its mean: in time if u < ``in_time``.

    ``in_time`` is the mean of arm 2 in A. In B it also pays, too late, if u is between that and its
    mean: this is the law of B, whose share p of arm 2's rewards is late.
    """
    bandit = Bandit(policy, [0, 1], len(uniforms), seed=seed)
    arms = []
    for u in uniforms:
        pull = bandit.pull()
        arm = int(pull.arm == 1)
        arms.append(arm)
        paid = u[arm] < problem.means[arm]
        arrives = arm == 0 or u[1] < in_time
        if paid and arrives:
            bandit.reward(pull.id, 1.0)
    return np.array(arms)
