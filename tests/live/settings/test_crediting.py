"""Crediting: the rule, in any order of events, as a definition by loops has it."""

from __future__ import annotations

import numpy as np
import pytest

from patientbandits.live.log import MILLIONTHS
from patientbandits.live.settings import WORTHLESS, Crediting, Exposure, Payment, Worth, summed


def naive_credit(rule, window, exposures, orders):
    """exposure -> its orders, one comparison at a time."""
    paid = {exposure.seq: [] for exposure in exposures}
    for order in orders:
        within = []
        for exposure in exposures:
            before = exposure.time < order.happened or (
                exposure.time == order.happened and exposure.seq < order.seq
            )
            if before and (window is None or order.happened - exposure.time <= window):
                within.append(exposure)
        within.sort(key=lambda exposure: (exposure.time, exposure.seq))
        for place, exposure in enumerate(within):
            first, last = place == 0, place == len(within) - 1
            if rule == "every" or (rule == "first" and first) or (rule == "last" and last):
                paid[exposure.seq].append(order)
    return paid


@pytest.mark.parametrize("rule", ["first", "last", "every"])
@pytest.mark.parametrize("window", [None, 0, 3, 8])
def test_as_by_the_definition(rule, window):
    random = np.random.default_rng(3)
    for _ in range(60):
        seqs = iter(random.permutation(20).tolist())
        exposures = sorted(Exposure(int(random.integers(12)), next(seqs)) for _ in range(6))
        orders = [Payment(int(random.integers(12)), next(seqs), 1) for _ in range(5)]
        found = Crediting(rule, window).payments(exposures, orders)
        assert found == naive_credit(rule, window, exposures, orders)


def test_the_sum_is_at_most_the_largest_value_from_the_first_payment_on():
    def payments(*pairs):
        return [Payment(happened, 0, value) for happened, value in pairs]

    assert summed([]) == WORTHLESS == Worth(0, None)
    assert summed(payments((5, 0))) == WORTHLESS  # an order of nothing does not count
    assert summed(payments((5, 300), (3, 200), (1, 0))) == Worth(500, 3)
    assert summed(payments((5, MILLIONTHS), (9, 1))) == Worth(MILLIONTHS, 5)
