"""The posterior for people: what it covers, what it tells with a window,
and sane at the extremes.
"""

from __future__ import annotations

import importlib.util
import math
import time
from pathlib import Path

import numpy as np
import pytest

import patientbandits as pb
from patientbandits.inference.posterior import Estimate
from patientbandits.inference.posterior.grid import bin_edges

BENCH = Path(__file__).parents[3] / "bench" / "coverage.py"


def coverage_bench():
    spec = importlib.util.spec_from_file_location("coverage_bench", BENCH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def simulated(random, mu, law, pulls, span):
    """Counts of pulls spread over ``span``, in whole units; and the conversions still to come."""
    ages = np.ceil(span * random.random(pulls))
    delays = np.maximum(np.ceil(law(random, pulls)), 1)
    converts = random.random(pulls) < mu
    seen = converts & (delays <= ages)
    return (ages[~seen], delays[seen]), int(converts.sum() - seen.sum())


def test_what_is_over_is_not_extrapolated():
    """Nearly all have come: a light tail is told from a heavy one, and nothing much is to come."""
    law = pb.Weibull(1.44, 545.0)
    random = np.random.default_rng(3)
    told = []
    for _ in range(4):
        ages = np.ceil(2000 * random.random(1500))
        delays = np.array(law.sample(1500, random))
        seen = (random.random(1500) < 0.37) & (delays <= ages)
        told.append(pb.CureCounts.of(ages=ages[~seen], delays=delays[seen]))
    for counts in told:
        [arm] = pb.posterior([counts])
        assert arm.rate.low <= 0.37 <= arm.rate.high
        assert arm.extrapolated < 0.15
    means = [pb.posterior([counts])[0].rate.mean for counts in told]
    assert abs(np.mean(means) - 0.37) < 0.06


def exponential(mean):
    return lambda random, n: random.exponential(mean, n)


@pytest.mark.parametrize("family", ["Lomax", "exponential", "fixed", "two modes"])
@pytest.mark.slow
def test_coverage(family):
    """40 data sets, two arms: 80 intervals each, of which 76 are to hold; fewer than 66 have a
    probability below 1e-4 even at 92 %. Intervals of a third of the width are the control."""
    bench = coverage_bench()
    found = bench.coverage(bench.FAMILIES[family], True, 40, seed=5)
    assert all(found[name] >= 66 / 80 for name in bench.BARRED), found
    narrow = pb.posterior

    def third(counts, window=None):
        return narrow(counts, window=window, level=0.5)

    bench.pb = type("Narrow", (), {"posterior": staticmethod(third), "CureCounts": pb.CureCounts})
    control = bench.coverage(bench.FAMILIES[family], True, 40, seed=5)
    assert control["long"] < 66 / 80


def test_ages_count_as_they_are():
    """10 000 pulls of age 1, 1 000 converted:
    the rate within 1 is 0.1, not blurred over the bin.
    """
    got = pb.posterior([pb.CureCounts.of([1.0] * 9000, [1.0] * 1000)])[0]
    assert got.rate_within.mean == pytest.approx(0.1, abs=0.002)
    assert got.largest_age == 1.0


def test_nothing_counts_after_the_window():
    """Half of the conversions come by 10, half by 1000.

    With a window of 100 only the first count.
    """
    random = np.random.default_rng(1)
    ages = np.full(4000, 5000.0)
    late = random.random(4000) < 0.4
    delays = np.where(random.random(4000) < 0.5, 10.0, 1000.0)
    counts = (ages[~late], delays[late])
    for given in (pb.CureCounts.of(*counts, window=100.0), pb.CureCounts.of(*counts)):
        got = pb.posterior([given], window=100.0)[0]
        assert got.rate.low < 0.2 < got.rate.high
        assert got.to_come.high == 0
        assert got.matured.mean == 1.0
        assert got.extrapolated == 0.0
        assert got.rate == got.rate_within
        assert got.conversions == pytest.approx((late & (delays <= 100)).sum())
    everything = pb.posterior([pb.CureCounts.of(*counts)], window=2000.0)[0]
    assert everything.rate.low < 0.4 < everything.rate.high


def test_a_window_beyond_the_oldest_age_is_extrapolated_no_farther():
    random = np.random.default_rng(2)
    counts, _ = simulated(random, 0.5, exponential(100.0), 3000, 60.0)
    arm = pb.CureCounts.of(*counts)
    within = pb.posterior([arm], window=60.0)[0]
    soon = pb.posterior([arm], window=200.0)[0]
    ever = pb.posterior([arm])[0]
    assert within.rate.mean < soon.rate.mean < ever.rate.mean
    assert soon.rate.low < 0.5 * (1 - math.exp(-2)) < soon.rate.high
    assert 0 < soon.extrapolated < ever.extrapolated
    assert "window" in soon.warning
    assert "extrapolation" in ever.warning


def test_the_unit_of_time_does_not_matter():
    (ages, delays), _ = simulated(np.random.default_rng(3), 0.3, exponential(30.0), 800, 300.0)
    one = pb.posterior([pb.CureCounts.of(ages, delays)], times=[10.0])[0]
    scaled = pb.CureCounts.of(ages * 1024, delays * 1024, unit=1024.0)
    other = pb.posterior([scaled], times=[10240.0])[0]
    assert one.rate == other.rate
    assert one.to_come == other.to_come
    assert one.lag.mean.tolist() == pytest.approx(other.lag.mean.tolist())


def test_two_modes_are_not_extrapolated():
    """0.4 in the end, half of it between 400 and 600: one Lomax law would say 0.99."""
    random = np.random.default_rng(4)

    def law(random, n):
        fast = random.random(n) < 0.5
        return np.where(fast, random.exponential(5, n), random.uniform(400, 600, n))

    counts, coming = simulated(random, 0.4, law, 4000, 2000.0)
    got = pb.posterior([pb.CureCounts.of(*counts)])[0]
    assert got.rate.low < 0.4 < got.rate.high < 0.55
    assert got.to_come.low <= coming <= got.to_come.high


def test_probabilities_of_being_best():
    random = np.random.default_rng(3)
    arms = []
    for mu in (0.3, 0.3, 0.6):
        counts, _ = simulated(random, mu, exponential(50.0), 2000, 2000.0)
        arms.append(pb.CureCounts.of(*counts))
    got = pb.posterior(arms)
    assert sum(arm.best for arm in got) == pytest.approx(1.0, abs=1e-9)
    assert got[2].best > 0.999
    assert got[2].loss < 1e-6 < 0.2 < got[0].loss
    assert got[2].lift.low < 1.0 < got[2].lift.high
    assert got[0].lift == Estimate(0.0, 0.0, 0.0)
    assert [arm.rate for arm in pb.posterior(arms)] == [arm.rate for arm in got]
    paid = [
        pb.CureCounts(*arms[j].columns, paid=share * arms[j].columns[2].sum())
        for j, share in ((0, 1.0), (2, 0.1))
    ]
    assert pb.posterior(paid)[0].best > 0.95  # pays more, though it converts less often


def test_kaplan_meier_by_hand():
    """At risk 4, then 2: one of 4 converts at 1; at 2, one of the 2 that are left."""
    counts = pb.CureCounts.of([1.0, 2.0], [1.0, 2.0])
    got = pb.posterior([counts])[0].kaplan_meier
    assert got.times.tolist() == [1.0, 2.0]
    assert got.share.tolist() == pytest.approx([0.25, 1 - 0.75 * 0.5])


@pytest.mark.parametrize("pulls", [0, 1, 10, 10**7])
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_extremes(pulls, share):
    """No pulls, none converted, all converted, very many: finite, ordered; plain truths right."""
    converted = round(share * pulls)
    counts = pb.CureCounts.of(
        [1e4], [0.5], age_counts=[pulls - converted], delay_counts=[converted]
    )
    for arm in pb.posterior([counts, counts]):
        for estimate in (arm.rate, arm.value, arm.rate_within, *([arm.matured] if pulls else [])):
            assert 0 <= estimate.low <= estimate.mean <= estimate.high <= 1
        assert 0 <= arm.to_come.low <= arm.to_come.high <= pulls
        assert 0 <= arm.to_come.mean <= pulls
        assert arm.pulls == pulls
        assert np.all((arm.lag.low >= 0) & (arm.lag.low <= arm.lag.mean + 1e-12))
        assert np.all(arm.lag.high <= 1 + 1e-12)
        assert arm.warning
        if pulls == 10**7:
            assert arm.rate_within.mean == pytest.approx(share, abs=1e-3)
        if pulls == 0:
            assert arm.rate.low < 0.02
            assert arm.rate.high > 0.5
            assert math.isnan(arm.matured.mean)


@pytest.mark.parametrize("delay", [1.0, 3.0, 50.0])
def test_everybody_converts_after_the_same_delay(delay):
    """300 of 300: a rate of 0.98 gives that with a probability below 1/400."""
    (arm,) = pb.posterior([pb.CureCounts.of(ages=[], delays=[delay] * 300)])
    assert 0.97 < arm.rate.low < arm.rate.mean < arm.rate.high <= 1
    assert 0.95 < arm.rate_within.low < arm.rate_within.mean


def test_beyond_the_largest_age_is_extrapolation():
    """Data that end at the age of 10 cannot tell; the share within that age they do tell."""

    def lomax(random, n):
        return 10 * (random.random(n) ** (-1 / 0.3) - 1)

    counts, _ = simulated(np.random.default_rng(2), 0.9, lomax, 20_000, 10.0)
    got = pb.posterior([pb.CureCounts.of(*counts)])[0]
    within = 0.9 * (1 - (1 + 10 / 10.0) ** -0.3)
    assert got.rate_within.low - 0.02 <= within <= got.rate_within.high + 0.02
    assert got.rate.high - got.rate.low > 3 * (got.rate_within.high - got.rate_within.low)
    assert got.extrapolated > 0.3


def test_binning():
    counts = pb.CureCounts.of([0.0, 0.3, 1.0, 1.5, 2.0**40], [0.1, 5.0], unit=1.0, paid=1.5)
    edges, waiting, converted = counts.columns
    assert edges.tolist() == bin_edges().tolist()
    assert waiting[[0, 1, -1]].tolist() == [3, 1, 1]
    assert converted[[0, 4]].tolist() == [1, 1]
    assert pb.CureCounts.of([], [30.0], unit=60.0).columns[2][0] == 1
    assert pb.CureCounts.of([], [0.3]).columns[0][0] == 0.25
    assert pb.CureCounts.of([], [3.0]).columns[0][0] == 1.0


def test_a_million_decisions():
    """Counting apart: 50 ms of this process's time, with room for a busy machine."""
    random = np.random.default_rng(8)
    arms = []
    for mu in (0.03, 0.04):
        counts, _ = simulated(random, mu, exponential(2e5), 500_000, 2e6)
        arms.append(pb.CureCounts.of(*counts))
    pb.posterior(arms)
    begin = time.process_time()
    got = pb.posterior(arms)
    assert time.process_time() - begin < 0.15
    assert got[0].rate.low < 0.03 < got[0].rate.high


def test_parameters_of_earlier_versions_are_ignored():
    counts = pb.CureCounts.of([3.0], [1.0])
    with pytest.warns(DeprecationWarning, match="seed is no longer needed"):
        old = pb.posterior([counts], seed=3)
    assert old[0].rate == pb.posterior([counts])[0].rate
    with pytest.raises(TypeError, match="wndow"):
        pb.posterior([counts], wndow=3)


@pytest.mark.parametrize("policy", [pb.UCB1(), pb.PatientKL(0.5, 10.0)])
def test_of_a_bandit(policy):
    """Whatever the policy; with a clock in seconds."""
    bandit, random, pulls = pb.Bandit(policy, ["a", "b"], seed=2), np.random.default_rng(4), []
    for second in range(300):
        for pull in [p for p in pulls if p[2] <= second]:
            bandit.reward(pull[0], 0.5, time=1000.0 + second)
        pulls = [p for p in pulls if p[2] > second]
        made = bandit.pull(1000.0 + second)
        if random.random() < {"a": 0.3, "b": 0.7}[made.arm]:
            pulls.append((made.id, made.arm, second + random.exponential(20)))
    got = bandit.posterior()
    assert list(got) == ["a", "b"]
    for arm, truth in (("a", 0.3), ("b", 0.7)):
        assert got[arm].pulls == bandit.pulls[arm]
        assert got[arm].conversions == 2 * bandit.rewards[arm]
        assert got[arm].rate.low <= truth <= got[arm].rate.high
        assert got[arm].value.mean == pytest.approx(got[arm].rate.mean / 2)
    assert bandit.posterior(1e6)["a"].largest_age > 9e5
    assert bandit.posterior(window=1.0)["a"].rate.mean < 0.2


EMPTY = pb.CureCounts.of([], [])

REFUSED = [
    ("CureCounts", lambda: pb.CureCounts([1.0, 1.0], [0, 0], [0, 0])),
    ("CureCounts", lambda: pb.CureCounts([1.0], [0, 0], [0])),
    ("CureCounts", lambda: pb.CureCounts([1.0], [-1], [0])),
    ("CureCounts", lambda: pb.CureCounts([1.0], [1], [math.nan])),
    ("CureCounts", lambda: pb.CureCounts([1.0], [1], [1], paid=math.inf)),
    ("CureCounts", lambda: pb.CureCounts([1.0], [1], [1], passed=[2.0])),
    ("CureCounts", lambda: pb.CureCounts.of(["soon"], [])),
    ("CureCounts", lambda: pb.CureCounts.of([1.0], [], age_counts=[1, 2])),
    ("CureCounts", lambda: pb.CureCounts.of([1.0], [], unit=0)),
    ("CureCounts", lambda: pb.CureCounts.of([1.0], [], window=-1)),
    ("posterior", lambda: pb.posterior([])),
    ("posterior", lambda: pb.posterior([3])),
    ("posterior", lambda: pb.posterior([EMPTY], level=1)),
    ("posterior", lambda: pb.posterior([EMPTY], window=0)),
    ("posterior", lambda: pb.posterior([EMPTY], window=math.nan)),
    ("posterior", lambda: pb.posterior([EMPTY], times=[-1])),
]


@pytest.mark.parametrize(("owner", "call"), REFUSED)
def test_refused(owner, call):
    with pytest.raises(pb.InputError, match=rf"^{owner}: [^\n]+; got [^\n]+\.$"):
        call()


def misfit_of(delays, pulls=4000, rate=0.4, horizon=300):
    """(misfit, whether it is told) for pulls of all ages and these delays, drawn in turn."""
    random = np.random.default_rng(2)
    ages = random.integers(1, horizon, pulls)
    late = random.choice(delays, pulls)
    came = (random.random(pulls) < rate) & (late <= ages)
    arm = pb.posterior([pb.CureCounts.of(ages[~came], late[came])])[0]
    return arm.misfit, "fit no law" in arm.warning


@pytest.mark.parametrize("delay", [1, 2, 3, 7, 40, 41, 64, 150])
def test_fixed_delays_are_no_misfit(delay):
    """They all fall into one bin, which no smooth law does; two such bins are still told."""
    assert misfit_of([delay]) == (0.0, False)
    misfit, told = misfit_of([delay, 6 * delay + 20] if delay < 40 else [delay, 5])
    assert misfit > 0.1
    assert told


@pytest.mark.parametrize("sigma", [0.5, 1.5])
def test_value_is_known_as_well_as_what_was_paid_says(sigma):
    """200 worlds, all mature: 95 % of the intervals of revenue within 90 to 99."""
    random = np.random.default_rng(8)
    covered = fixed = 0
    truth = 0.05 * math.exp(sigma**2 / 2)
    for _ in range(200):
        arms, summed = [], []
        for _ in range(2):
            sold = int(random.binomial(1200, 0.05))
            values = random.lognormal(0, sigma, sold)
            waiting, delays = np.full(1200 - sold, 50.0), np.ones(sold)
            arms.append(pb.CureCounts.of(waiting, delays, window=10.0, values=values))
            summed.append(pb.CureCounts.of(waiting, delays, float(values.sum()), window=10.0))
        value = pb.posterior(arms, window=10.0)[0].value
        covered += value.low <= truth <= value.high
        value = pb.posterior(summed, window=10.0)[0].value
        fixed += value.low <= truth <= value.high
    assert 0.90 <= covered / 200 <= 0.99
    assert fixed < covered


def test_values_are_one_for_each_conversion():
    with pytest.raises(pb.InputError, match="values must be one for each conversion; got values=1"):
        pb.CureCounts.of([5.0], [1.0, 2.0], values=[3.0])
    with pytest.raises(pb.InputError, match="give paid or values, not both"):
        pb.CureCounts.of([5.0], [1.0], 3.0, values=[3.0])
    late = pb.CureCounts.of([5.0], [1.0, 9.0], window=4.0, values=[3.0, 70.0])
    assert (late.paid, late.mean_paid) == (3.0, 3.0)
