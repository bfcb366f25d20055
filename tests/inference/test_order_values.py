"""What conversions pay: sums against lists, and coverage of the mean."""

import math

import numpy as np
import pytest
from scipy.stats import t

from patientbandits.inference import ValueSums, value_cap


def slow_variation(arms: list[list[float]]) -> float:
    """cv from the values themselves."""
    everything = sum(map(len, arms))
    used = [arm for arm in arms if sum(arm) > 0]
    degrees = max(everything - len([arm for arm in arms if arm]), 1)
    direct = (
        sum(sum((value - np.mean(arm)) ** 2 for value in arm) / np.mean(arm) ** 2 for arm in used)
        / degrees
    )
    logs = [[math.log(value) for value in arm if value > 0] for arm in used]
    paying = sum(map(len, logs))
    sigma2 = sum(sum((x - np.mean(arm)) ** 2 for x in arm) for arm in logs) / (paying - len(used))
    share = paying / sum(map(len, used))
    return math.sqrt(max(direct, math.exp(sigma2) / share - 1))


@pytest.mark.parametrize("seed", range(4))
def test_sums_say_what_the_values_say(seed):
    random = np.random.default_rng(seed)
    arms = [list(random.lognormal(3, 1.2, size)) for size in (30, 5, 80)]
    arms[0] += [0.0, 0.0]
    sums = ValueSums.of(arms)
    assert sums.means == pytest.approx([np.mean(arm) for arm in arms])
    assert sums.variation == pytest.approx(slow_variation(arms), rel=1e-9)
    degrees = sum(map(len, arms)) - 3
    wide = t.ppf(0.975, degrees) / 1.959964 * slow_variation(arms)
    slow = [wide**2 / len(arm) for arm in arms]
    assert sums.log_variances() == pytest.approx(slow, rel=1e-5)


def test_counts_stand_for_repeated_values():
    repeated = ValueSums.of([[2.0, 2.0, 5.0], [1.0]])
    counted = ValueSums.of([[2.0, 5.0], [1.0]], [[2.0, 1.0], [1.0]])
    for one, other in zip(repeated, counted, strict=True):
        assert one == pytest.approx(other)


@pytest.mark.parametrize(("sigma", "conversions"), [(0.5, 30), (1.0, 30), (1.5, 30), (1.5, 200)])
def test_interval_of_the_mean_value_covers(sigma, conversions):
    random = np.random.default_rng(7)
    covered, runs = 0, 500
    for _ in range(runs):
        sums = ValueSums.of([random.lognormal(0, sigma, conversions) for _ in range(2)])
        error = math.sqrt(sums.log_variances()[0])
        covered += abs(math.log(sums.means[0]) - sigma**2 / 2) <= 1.96 * error
    assert 0.92 <= covered / runs <= 0.99


def test_an_arm_without_conversions_borrows_the_mean():
    sums = ValueSums.of([[10.0, 20.0, 30.0], []])
    assert sums.means == pytest.approx([20.0, 20.0])
    assert sums.log_variances()[1] > sums.log_variances()[0]
    assert ValueSums.of([[], []]).variation == 1.0


def test_cap_is_ten_medians_of_the_first_values():
    assert value_cap([5.0] * 19) is None
    assert value_cap([5.0] * 40 + [4000.0]) == 50.0
    assert value_cap([0.0, *[5.0] * 100, *[9.0] * 1000]) == 50.0
