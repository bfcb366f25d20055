"""Rewards under way, side by side: each comes once, in its round."""

from __future__ import annotations

import numpy as np

from patientbandits.policies.parts.records import zeros
from patientbandits.simulation.engine.arrivals import (
    RING,
    CalendarQueue,
    begin_turn,
    calendar_sizes,
    ring_row,
    wait,
)


def test_the_calendar_brings_each_reward_once_and_in_its_round():
    arms = 2
    lanes = 3
    horizon = 4 * RING
    generator = np.random.default_rng(8)
    calendar = zeros(CalendarQueue, **calendar_sizes(arms, horizon, lanes))
    expected = np.zeros((horizon + 1, arms, lanes), int)
    came = np.zeros_like(expected)
    for round_ in range(1, horizon + 1):
        if round_ % RING == 0:
            begin_turn(calendar, round_ // RING)
        for arm in range(arms):
            came[round_, arm] = calendar.due[ring_row(round_, arms) + arm]
            calendar.due[ring_row(round_, arms) + arm] = 0
        arrival = round_ + RING + int(generator.integers(2 * RING))
        if round_ % 5 == 0 and arrival <= horizon:
            arm, lane = generator.integers([arms, lanes])
            expected[arrival, arm, lane] += 1
            wait(calendar, arrival, arms, int(arm), int(lane))
    assert expected.sum() > 1000
    assert np.array_equal(came, expected)
    assert calendar.free[1] < expected.sum()  # entries are used again
