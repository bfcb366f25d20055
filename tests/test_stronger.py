"""The policies beyond the paper lose less than the paper's where they should, and are safe at the extremes."""

from __future__ import annotations

import numpy as np
import pytest

import patientbandits as pb
from patientbandits import problems
from patientbandits.policies.patient_thompson import log_posterior


def ratio(problem, policy, other, horizon, runs, **settings):
    """Mean regret over mean regret, in the same worlds."""
    ours, theirs = (pb.simulate(problem, p, horizon, runs, seed=3, **settings).final.mean() for p in (policy, other))
    return ours / theirs


PUBLISHED = pb.PatientBandits(0.5, width="published", bias="published")


def test_patient_kl_on_the_papers_problems():
    """Trial figures 0.62 and 0.27 with standard errors below 0.01: the bars are more than five of them away."""
    assert ratio(problems.heterogeneous("published"), pb.PatientKL(0.3, 10.0), PUBLISHED, 5000, 200) <= 0.70
    assert ratio(problems.heterogeneous(), pb.PatientKL(0.3), pb.PatientBandits(0.5), 3000, 200) <= 0.40
    assert ratio(problems.heterogeneous("published"), pb.KLUCB(), PUBLISHED, 5000, 200) > 0.70  # the control


def test_patient_thompson_on_the_papers_problems():
    """Trial figure 0.13, standard error 0.006 with 100 runs; without delays 0.7."""
    assert ratio(problems.heterogeneous("published"), pb.PatientThompson(), PUBLISHED, 5000, 100) <= 0.15
    assert ratio(pb.Problem([0.6, 0.8]), pb.PatientThompson(), pb.KLUCB(), 5000, 100) <= 1.2


@pytest.mark.parametrize("converted", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("pulls", [0.0, 1.0, 1e7])
def test_the_posterior_is_a_number_at_the_extremes(converted, pulls):
    policy = pb.PatientThompson()
    memory, numbers = policy.memory(1, 10), policy.numbers(1)
    memory.made[1] = len(memory.edges)
    for j in (0, 5, len(memory.edges) - 1):
        memory.converted[0, j], memory.waiting[0, j] = converted * pulls, (1 - converted) * pulls
    for logit in (-30.0, 0.0, 30.0):
        for log_tail in (-8.0, 0.0, 8.0):
            for log_scale in (-8.0, 0.0, 8.0):
                assert np.isfinite(log_posterior(numbers, memory, 0, logit, log_tail, log_scale))


def test_patient_thompson_when_nothing_or_everything_arrives():
    for means, delays in (([0.5, 0.5], pb.Never()), ([1.0, 1.0], pb.NoDelay()), ([0.0, 0.0], pb.NoDelay())):
        result = pb.simulate(pb.Problem(means, delays), pb.PatientThompson(), 2000, 4, seed=1)
        assert np.all(result.pulls >= 5)  # no arm is lost
        assert np.all(result.pulls.sum(axis=1) == 2000)


def test_a_resting_arm_becomes_clearer():
    """PatientKL's index of an arm that is not pulled falls as its pulls age; PatientBandits' would not."""
    bandit = pb.Bandit(pb.PatientKL(0.3), ["a", "b"])
    for time in range(1, 11):
        bandit.pull(time)
    shares = []
    for time in (20, 100, 1000, 10**6):
        bandit.pull(time)
        shares.append(bandit._memory.weight.sum() / sum(bandit.pulls.values()))
    assert shares == sorted(shares)
    assert shares[-1] > 0.9
