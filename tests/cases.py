"""Problems and policies that several test files share.

Rewards are sums of powers of 2 or continuous, so that no tie depends on the order of a sum; gaps
differ, so that the path of the regret tells the arms.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import naive
import pytest

import patientbandits as pb
from patientbandits.policies import POLICIES

MIXTURE = pb.Mixture([pb.NoDelay(), pb.Geometric(0.2), pb.UniformDelay(3, 90)], [0.25, 0.5, 0.25])

PROBLEMS = {
    "heavy tails": pb.Problem([0.6, 0.8], [pb.Pareto(1.0), pb.Pareto(0.3)]),
    "mixed": pb.Problem(
        [0.3, 0.5, 0.45],
        [pb.Lomax(0.7, 10), pb.LogNormal(8, 1.2), MIXTURE],
        [pb.Beta(3), pb.TwoPoint(0.25, 0.75), pb.Scaled(0.5)],
    ),
    "30 arms": pb.Problem(
        [0.1 + 0.7 * ((7 * i) % 30) / 30 for i in range(30)],
        pb.Empirical([0, 2, 5, 30], [1, 2, 2, 1]),
    ),
    "fixed": pb.Problem([0.25, 0.6, 0.75], [pb.Fixed(7), pb.Fixed(1), pb.Fixed(25)]),
    "no delay": pb.Problem([0.5, 0.65], pb.NoDelay()),
}

LAW = pb.Lomax(0.7, 5)

PARAMETERS = {
    "PatientBandits": [
        {"alpha": 0.3},
        {"alpha": 0.8},
        {"alpha": 0.2, "width": "tight", "bias": "sum"},
        {"alpha": 0.8, "width": "published", "bias": "sum"},
        {"alpha": 0.15, "width": "published", "bias": "published"},
        {"alpha": 0.4, "width": "published", "bias": "aged"},
    ],
    "PatientKL": [{"alpha": 0.3}, {"alpha": 0.7, "scale": 10.0, "c": 3.0}, {"envelope": MIXTURE}],
    "PatientThompson": [
        {},
        {"window": 16.0},
    ],
    "CalendarThompson": [
        {},
        {"window": 16.0, "forget": 20.0},
        {"earn": True, "minimum": 0.05},
    ],
    "GuardedThompson": [
        {"guard": pb.PatientKL(0.3, c=3.0)},
        {"guard": pb.PatientKL(0.7, 10.0, c=4.0), "slack": 0.25},
        {"guard": pb.PatientKL(envelope=MIXTURE, c=3.0), "slack": 0.0},
    ],
    "ScheduledPatientBandits": [{}, {"width": "published"}],
    "AdaptPatientBandits": [
        {"c": 0.7, "alpha_floor": 0.1, "mean_floor": 0.6},
        {
            "c": 0.7,
            "alpha_floor": 0.2,
            "mean_floor": 0.6,
            "ratio": 0.35,
            "penalty": 0.3,
            "width": "published",
        },
        {
            "c": 1.0,
            "alpha_floor": 0.9,
            "mean_floor": 0.2,
            "use_floor": True,
            "width": "tight",
            "bias": "published",
        },
    ],
    "DUCB": [
        {"law": LAW, "window": 1},
        {"law": LAW, "window": 20},
        {"law": pb.Pareto(0.7), "window": 13, "mode": "discard"},
        {"law": LAW, "window": 30, "mode": "wait", "exploration": 0.5},
        {"law": LAW, "mode": "uncensored"},
    ],
    "DKLUCB": [{"law": LAW, "window": 15}, {"law": pb.Pareto(0.5), "mode": "uncensored"}],
    "BootstrappedThompson": [{}, {"replicates": 3, "steps": 1}],
    "DTS": [{"batch": 10, "warmup": 7}, {"batch": 1, "warmup": 1, "steps": 2}],
    "OracleThompson": [{"laws": LAW}, {"laws": MIXTURE}],
    "OTFLinUCB": [
        {"window": 10},
        {"window": 40, "delta": 0.9, "regularisation": 0.5, "ambiguity": "own"},
    ],
    "UCB1": [{}, {"exploration": 0.1}],
    "KLUCB": [{}, {"c": 3.0}],
    "MOSS": [{}],
    "Thompson": [{}],
    "Uniform": [{}],
    "DelayedUCB1": [{}],
    "QPMD": [
        {"base": pb.UCB1()},
        {"base": pb.Thompson()},
        {"base": pb.DUCB(LAW, 20)},
        {"base": pb.MOSS()},
    ],
    "DTSBayes": [{"batch": 10, "warmup": 7}, {"batch": 1, "warmup": 1, "steps": 2}],
    "WindowThompson": [{"window": 10}, {"window": 40.5}],
    "SignalThompson": [
        {"window": 20, "signal_window": 4},
        {"window": 30.5, "signal_window": 30.5, "borrowed": 2.5},
    ],
    "OTFLinTS": [{"window": 10}, {"window": 40, "spread": 0.1, "regularisation": 0.5}],
    "PhasedElimination": [{}],
    "OptimisticElimination": [{}],
    "DelayedEXP3": [{}, {"skipping": True}],
    "TopTwoThompson": [{}, {"leader": 0.9}],
    "FloorMixture": [
        {"base": pb.UCB1()},
        {"base": pb.Thompson(), "floor": 1.0, "decay": 0.24},
        {"base": pb.DTS(batch=10, warmup=7), "floor": 0.3},
    ],
    "SuccessiveElimination": [{}],
    "ArrivedThompson": [{}],
}


def policy_names(*slow: str, names: Iterable[str] = POLICIES) -> list[Any]:
    """The names of the policies, for `pytest.mark.parametrize`: marked slow are those over other
    policies, which have a kernel for each of them, and those that are named."""
    marked = {"QPMD", "GuardedThompson", *slow}
    mark = pytest.mark.slow
    chosen = frozenset(names)
    # in the order of the registry: every worker of pytest-xdist must collect the same list
    ordered = [name for name in POLICIES if name in chosen]
    return [pytest.param(name, marks=mark) if name in marked else name for name in ordered]


def fit_for(policy: pb.Policy, problem: pb.Problem) -> pb.Problem:
    """The problem, in which the policy is told what it needs to know."""
    return problem.with_feedback(policy.feedback)


def policies(name: str) -> list[pb.Policy]:
    """The policies of this name to be tested; a policy nobody wrote a case for is an error."""
    if name not in PARAMETERS:
        pytest.fail(f"{name} needs parameters to be tested with: PARAMETERS in tests/cases.py")
    return [POLICIES[name](**parameters) for parameters in PARAMETERS[name]]


def ratio(problem, policy, other, horizon, runs, **settings):
    """Mean regret over mean regret, in the same worlds."""
    ours, theirs = (
        pb.simulate(problem, p, horizon, runs, seed=3, **settings).final.mean()
        for p in (policy, other)
    )
    return ours / theirs


def regret(problem: pb.Problem, arms: list[int]) -> list[float]:
    """The naive regret of these pulls, round by round."""
    return naive.regret(problem.describe(), [naive.Pull(0, arm, 0.0, 0.0) for arm in arms])
