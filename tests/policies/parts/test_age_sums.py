"""D-UCB's weight N~ against the literal sum over all pulls:
on rounds, on a clock of the user's, after a pause.
"""

from __future__ import annotations

import math
import random

import naive
import numpy as np
import pytest

import patientbandits as pb
from patientbandits.policies.parts.age_sums import (
    AgeSums,
    add_pull,
    advance,
    bounded_sums,
    ring_time,
    weigh,
)
from patientbandits.policies.parts.tail_fits import (
    ABSOLUTE,
    ACCURACY,
    FIT_FLOOR,
    FIT_REACH,
    LONGEST_RING,
    RELATIVE,
    SHORTEST_RING,
    bound_fit,
    close_fit,
)

MIXED = pb.Mixture([pb.Pareto(0.4), pb.Fixed(90)], [0.8, 0.2])

LAWS = [
    pb.Pareto(0.3),
    pb.Lomax(0.7, 10),
    pb.LogNormal(30, 1.5),
    pb.Geometric(0.01),
    pb.Mixture([pb.Fixed(100), pb.Pareto(1.0), pb.UniformDelay(200, 900)], [0.2, 0.5, 0.3]),
]


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_fit_of_the_tail(law):
    """Within ACCURACY at every age, not only at those that were fitted."""
    horizon = 5000
    _, length, rates, coefficients, *_ = close_fit(law, horizon)
    ages = np.arange(length, horizon + 1)
    fitted = (
        (rates ** (ages - length)[:, None].astype(float)) @ coefficients
        if len(rates)
        else np.zeros(len(ages))
    )
    assert np.max(np.abs(fitted - law.survival(ages)), initial=0.0) <= 2 * ACCURACY
    assert SHORTEST_RING <= length <= horizon


def weights(policy, times, pick):
    """N~ after the decision at each of ``times``, as the policy has it,
    and as a literal sum with whole ages.
    """
    bandit, made, survival = (
        pb.Bandit(policy, [0, 1], horizon=len(times)),
        [],
        naive.survival(policy.law.describe()),
    )
    most = math.inf if policy.window is None else policy.window
    for time in times:
        now = math.floor(time)
        literal = [
            sum(1 - survival(min(now - math.floor(s), most)) for s, arm in made if arm == i)
            for i in range(2)
        ]
        pull = bandit.pull(time)
        yield bandit._memory.weight.copy(), np.array(literal), len(made)
        made.append((time, pull.arm))
        if pick.random() < 0.5:
            bandit.reward(pull.id, 1.0, time)


CLOCKS = {
    "rounds": [float(t) for t in range(1, 500)],
    "seconds": [1.7e9 + 0.3 * t for t in range(500)],
    "before zero": [-150.0 + t for t in range(300)],
    "with pauses": [t + 90.0 * (t // 100) + 700.0 * (t // 250) for t in range(400)],
}


@pytest.mark.parametrize("clock", CLOCKS)
def test_weight(clock):
    for policy, error in (
        (pb.DUCB(pb.Lomax(0.7, 10), window=30), 1e-12),
        (pb.DKLUCB(pb.Pareto(0.5), window=1), 1e-12),
        (pb.DUCB(pb.Pareto(0.3), mode="uncensored"), 2 * ACCURACY),
        (pb.DUCB(pb.Geometric(0.02), mode="uncensored"), 2 * ACCURACY),
    ):
        for got, expected, pulls in weights(policy, CLOCKS[clock], random.Random(1)):
            np.testing.assert_allclose(
                got, expected, rtol=1e-12, atol=error * max(pulls, 1), err_msg=str(policy)
            )


def test_pause():
    """A pause longer than the ring: every pull has faded by its own age."""
    policy = pb.DUCB(pb.Pareto(0.3), mode="uncensored")
    times = [*range(60), *range(200, 260), *range(330, 700)]
    for got, expected, pulls in weights(policy, times, random.Random(1)):
        np.testing.assert_allclose(got, expected, atol=4 * ACCURACY * max(pulls, 1))


def bound_at(law, ages):
    """The bound that PatientKL uses for pulls of these ages, a ring's unit apart.

    Also the ring's unit and length.
    """
    unit, length, rates, coefficients, *_ = bound_fit(law)
    slots = np.asarray(ages) // unit
    fitted = (rates ** np.maximum(slots - length, 0)[:, None].astype(float)) @ coefficients
    return (
        np.where(
            slots < length,
            law.survival(np.maximum(slots - 1, 0) * unit if unit > 1 else slots),
            fitted,
        ),
        unit,
        length,
    )


DAY = 86400
BOUNDED = {
    pb.Pareto(0.3): 1e-3,
    pb.Lomax(0.7, 10): 1e-3,
    pb.Pareto(0.5): 1e-3,
    MIXED: 1e-3,
    pb.Lomax(0.7, DAY): 1e-3,
    pb.LogNormal(DAY, 1.5): None,
    pb.Weibull(0.5, DAY): None,
    pb.Geometric(1 / DAY): None,
    pb.Never(): 1e-3,
}
"""Law -> relative accuracy, or None: only the absolute one."""


@pytest.mark.parametrize("law", BOUNDED, ids=str)
def test_upper_bound_of_an_envelope(law):
    """Never below the envelope and close above it, at any age; a long scale needs no long ring."""
    ages = np.unique(
        np.concatenate([np.arange(5000), np.geomspace(1, FIT_REACH, 3000).astype(int)])
    )
    bound, unit, length = bound_at(law, ages)
    above = bound - law.survival(ages)
    assert above.min() >= -1e-13
    assert (
        np.max(above / np.maximum(law.survival(ages), FIT_FLOOR)) <= RELATIVE
        if BOUNDED[law]
        else above.max() <= ABSOLUTE
    )
    assert unit == 1
    assert length <= 128


@pytest.mark.parametrize(
    "law",
    [
        pb.UniformDelay(0, 7 * DAY),
        pb.Mixture([pb.Lomax(0.7, 600), pb.Fixed(DAY)], [0.7, 0.3]),
        pb.Empirical([60, DAY]),
    ],
)
@pytest.mark.slow
def test_upper_bound_of_a_law_with_late_steps(law):
    """In coarser units: every pull as young as it may be, so never below,
    and at most two units behind.
    """
    ages = np.unique(
        np.concatenate(
            [
                np.arange(5000),
                np.arange(DAY - 5000, DAY + 5000),
                np.geomspace(1, FIT_REACH, 3000).astype(int),
            ]
        )
    )
    bound, unit, length = bound_at(law, ages)
    assert np.all(bound >= law.survival(ages) - 1e-13)
    assert np.all(bound <= law.survival(np.maximum(ages - 2 * unit, 0)) + ABSOLUTE)
    assert unit > 1
    assert length <= LONGEST_RING


@pytest.mark.parametrize("clock", CLOCKS)
def test_share_that_must_be_visible(clock):
    """PatientKL's n v against the literal sum: not above it, and close.

    Once the clock has shown a fraction, a pull of k slots ago may be only k - 1 units old.
    """
    for policy in (
        pb.PatientKL(0.3),
        pb.PatientKL(0.7, 10.0),
        pb.PatientKL(0.7, 86400.0),
        pb.PatientKL(envelope=MIXED),
    ):
        bandit, made, law = pb.Bandit(policy, [0, 1], horizon=len(CLOCKS[clock])), [], policy.law()
        for time in CLOCKS[clock]:
            slots = [
                [math.floor(time) - math.floor(s) for s, arm in made if arm == i] for i in range(2)
            ]
            made.append((time, bandit.pull(time).arm))
            younger = int(any(moment != math.floor(moment) for moment, _ in made))
            younger *= int(bandit._memory.unit[0] == 1)
            ages = [[max(slot - younger, 0) for slot in of_arm] for of_arm in slots]
            for i, got in enumerate(bandit._memory.weight):
                hidden = sum(law.survival_at(age) for age in ages[i])
                assert (
                    len(ages[i]) - hidden * (1 + RELATIVE) - 1e-9
                    <= got
                    <= len(ages[i]) - hidden + 1e-9
                )


@pytest.mark.slow
def test_a_bound_on_a_clock_in_milliseconds():
    """Beyond 2^30 units, 12 days, the exponentials do not follow a heavy tail any more.

    A thousand pulls in a second, decisions up to centuries later: what is taken for hidden is never
    less than what the law hides, and hardly more than what it hides after 2^30.
    """
    hundred_days = 100 * DAY * 1000
    for law in (pb.Pareto(0.05), pb.Lomax(0.2, 50.0), pb.Pareto(0.3), pb.Empirical([60, 7 * DAY])):
        memory = AgeSums(**bounded_sums(law, 1))
        for time in range(1000):
            advance(memory, ring_time(memory, float(time)))
            add_pull(memory, 0, float(time))
        for now in (FIT_REACH // 2, 2 * FIT_REACH, 3 * FIT_REACH, hundred_days, 10**13):
            advance(memory, ring_time(memory, float(now)))
            weigh(memory, 1.0)
            hidden = 1000 * law.survival_at(now)
            assert 1000 - memory.weight[0] >= hidden * (1 - 1e-9) - 1e-9, (law, now)
            most = 1000 * law.survival_at(min(now, FIT_REACH))
            assert 1000 - memory.weight[0] <= 1.01 * most + 2 * ABSOLUTE * 1000, (law, now)
