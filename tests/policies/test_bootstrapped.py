"""BootstrappedThompson: its EM steps, and the extremes."""

from __future__ import annotations

import numpy as np
import pytest

import patientbandits as pb
from patientbandits.policies.bootstrapped import improve

pytestmark = pytest.mark.slow


def test_em_finds_the_truth():
    """Fed with expected counts, pulls of all ages,
    EM ends at the true rates and the true law of delays.
    """
    rates, law, pulls = [0.3, 0.8], np.array([0.5, 0.0, 0.2, 0.2, 0.1]), 100.0  # delays 1..5
    memory = pb.BootstrappedThompson(replicates=1).memory(2, 1)
    tau = np.append(np.cumsum(law), [1.0, 1.0])
    memory.rate[:] = 0.5
    for arm, p in enumerate(rates):
        for age in range(1, 8):  # bins 0..6 hold one age each
            memory.waiting[arm, age - 1, 0] = pulls * (1 - p * tau[age - 1])
            for delay in range(1, min(age, 5) + 1):
                memory.converted[delay - 1, 0] += pulls * p * law[delay - 1]
            memory.conversions[arm, 0] += pulls * p * tau[age - 1]
            memory.pulls[arm, 0] += pulls
    assert np.all(
        np.abs(memory.conversions[:, 0] / memory.pulls[:, 0] - rates) > 0.04
    )  # zeros at face value: far off
    for _ in range(300):
        improve(memory, 0, 6)
    np.testing.assert_allclose(memory.rate[:, 0], rates, rtol=1e-6)
    np.testing.assert_allclose(memory.survival[:7, 0], 1 - tau, atol=1e-6)


def test_bootstrapped_thompson_at_the_extremes():
    for means, delays in (
        ([0.5, 0.5], pb.Never()),
        ([1.0, 1.0], pb.NoDelay()),
        ([0.0, 0.0], pb.NoDelay()),
    ):
        result = pb.simulate(pb.Problem(means, delays), pb.BootstrappedThompson(), 1000, 4, seed=1)
        assert np.all(result.pulls >= 1)
        assert np.all(result.pulls.sum(axis=1) == 1000)
