"""The paper's theorems, checked: bounds above measured regret, coverage of Theorem 1, the two faces of Theorem 4."""

from __future__ import annotations

import numpy as np

from patientbandits import problems, theory
from patientbandits.bandit import Bandit
from patientbandits.delays import Pareto
from patientbandits.paper.claims import Claim, verdict
from patientbandits.paper.experiments import Series
from patientbandits.policies import KLUCB, PatientBandits, Policy, Thompson

DELTA = 0.05
COVERAGE_PULLS = (10, 30, 100, 300, 1000)


def bounds(
    literal: dict[str, dict[str, Series]],
) -> tuple[Claim, list[tuple[str, float, float, float, float]]]:
    """Theorems 2 and 3 over every literal simulation of PatientBandits whose alpha satisfies Assumption 1.

    Rows: (what, measured, Theorem 2 as printed, corrected, Theorem 3 corrected) at the horizon.
    """
    rows, margins, printed_margins = [], [], []
    for experiment, curves in literal.items():
        for curve in curves.values():
            for result in curve.results:
                policy, problem = result.policy, result.problem
                if (
                    not isinstance(policy, PatientBandits)
                    or problem is None
                    or problem.max_alpha() < policy.alpha * (1 - 1e-12)
                ):
                    continue
                horizon, measured = int(result.rounds[-1]), float(result.mean()[-1])
                second = theory.gap_dependent_bound(problem, horizon, policy.alpha)
                printed = theory.gap_dependent_bound(problem, horizon, policy.alpha, "printed")
                third = theory.minimax_bound(problem.arms, horizon, policy.alpha)
                rows.append(
                    (
                        f"{experiment}: alpha {policy.alpha}, gap {max(problem.gaps):.2f}",
                        measured,
                        printed,
                        second,
                        third,
                    )
                )
                margins.append(measured / min(second, third))
                printed_margins.append(measured / printed)
    claim = Claim(
        "Theorems 2 and 3",
        "Measured regret stays below the bounds wherever Assumption 1 holds",
        verdict(max(margins) < 1, max(printed_margins) < 1),
        f"{len(rows)} simulations; largest measured / bound {max(margins):.3f} (corrected), {max(printed_margins):.3f} "
        "(Theorem 2 as printed)",
        "The bounds are safe and far from tight, and for these horizons often larger than the regret of always pulling the worse arm.",
    )
    largest = sorted(rows, key=lambda row: row[1] / min(row[3], row[4]), reverse=True)
    return claim, largest[:8]


def coverage(
    seed: int, runs: int = 4000
) -> tuple[list[Claim], list[tuple[str, int, float, float, float]]]:
    """Theorem 1: how often |mean estimate - mean| exceeds the width, for an arm pulled n times in a row, its worst case.

    Rows: (law, n, share of violations with the printed width, with the tight width, and of its deviation term alone,
    without the bias of the delays), all with delta = 0.05.
    """
    rows: list[tuple[str, int, float, float, float]] = []
    for tail in (0.2, 0.5, 1.0):
        rng = np.random.default_rng([seed, int(tail * 10)])
        n = COVERAGE_PULLS[-1]
        delays = Pareto(tail).sample(runs * n, seed=seed, horizon=n).reshape(runs, n)
        rewards = rng.random((runs, n)) < 0.5
        for pulls in COVERAGE_PULLS:
            age = np.arange(pulls, 0, -1)
            visible = (rewards[:, :pulls] & (np.maximum(delays[:, :pulls], 1) <= age)).mean(axis=1)
            error = np.abs(visible - 0.5)
            paper, tight = (
                theory.confidence_width(pulls, 1, 1, tail, width, DELTA)
                for width in ("paper", "tight")
            )
            unbiased = np.sqrt(np.log(2 / DELTA) / (2 * pulls))
            missed = [float(np.mean(error > width)) for width in (paper, tight, unbiased)]
            rows.append((f"Pareto({tail})", pulls, missed[0], missed[1], missed[2]))
    worst, worst_tight = max(row[2] for row in rows), max(row[3] for row in rows)
    claims = [
        Claim(
            "Theorem 1",
            "The mean estimate is within the width with probability 1 - delta",
            verdict(worst <= DELTA),
            f"with delta = {DELTA} it is missed in at most {100 * worst:.2f} % of {runs} runs, over three tails and n = 10 to 1000",
        ),
        Claim(
            "Theorem 1",
            "Half the width suffices (not in the paper: increments have range 1, not 2)",
            verdict(worst_tight <= DELTA),
            f"missed in at most {100 * worst_tight:.2f} %",
        ),
        Claim(
            "Theorem 1",
            "The bias term is needed: without it the interval misses",
            verdict(max(row[4] for row in rows) > 2 * DELTA),
            f"missed in up to {100 * max(row[4] for row in rows):.0f} %",
        ),
    ]
    return claims, rows


def indistinguishable(seed: int, horizon: int = 1000, alpha: float = 0.3) -> Claim:
    """Theorem 4: the same uniform numbers make the two problems show the learner the same, bit for bit.

    Given a uniform u, arm 2 pays in time iff u < 1/2 - q in both; in B it also pays, too late, if u < 1/2 + q. That is
    the law of B, since P(late | pays) = 2q / (1/2 + q) = p.
    """
    first, second = problems.indistinguishable_pair(horizon, alpha)
    p = horizon**-alpha
    q = p / (4 - 2 * p)
    policies: list[Policy] = [PatientBandits(alpha), KLUCB(), Thompson()]
    differences, regrets = 0, []
    for number, policy in enumerate(policies):
        uniforms = np.random.default_rng([seed, number]).random((horizon, 2))
        views = []
        for problem in (first, second):
            bandit = Bandit(policy, [0, 1], horizon, seed=seed)
            decisions: list[int] = []
            for u in uniforms:
                pull = bandit.pull()
                arm = 1 if pull.arm == 1 else 0
                decisions.append(arm)
                paid = u[arm] < problem.means[arm]
                in_time = arm == 0 or problem is first or u[1] < 0.5 - q
                if paid and in_time:
                    bandit.reward(pull.id, 1.0)
            views.append(decisions)
        differences += sum(a != b for a, b in zip(*views, strict=True))
        regrets.append(max(q * sum(views[0]), q * (horizon - sum(views[1]))))
    bound = theory.lower_bound(horizon, alpha)
    return Claim(
        "Theorem 4",
        "No policy can tell problem A from problem B, and on one of them its expected regret is at least T^(1-alpha) / 8",
        verdict(
            differences == 0 and abs((0.5 + q) * (1 - p) - (0.5 - q)) < 1e-15,
            min(regrets) >= bound * 0.98,
        ),
        f"{differences} different decisions in {len(policies)} x {horizon} rounds; worse regret of the two "
        f"{', '.join(f'{r:.1f}' for r in regrets)} against the bound {bound:.1f}",
    )
