"""Tables of delay laws: kernels draw what the laws say, within the tables and far beyond."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from laws import EVERY, HALVES

import patientbandits as pb
from patientbandits.simulation.engine import delay_tables, worlds
from patientbandits.simulation.engine.compile import compiled

FAR = [
    pb.Pareto(0.1),
    pb.Pareto(0.4),
    pb.Lomax(0.25, 1e4),
    pb.Weibull(0.1, 30),
    pb.LogNormal(1e5, 3),
    pb.LogLogistic(1e5, 0.6),
    pb.Geometric(1e-6),
    HALVES,
]


@dataclass(frozen=True)
class Steps(pb.Delay):
    """A law of the user's, without a formula: S(m) = 2^-floor(log2(m + 1) / 2)."""

    def survival_at(self, m):
        return 2.0 ** -((m + 1).bit_length() // 2)


def engine_delays(laws, horizon, us, left):
    world = worlds.world_of(pb.Problem([0.5] * len(laws), laws), horizon)
    delay_of = compiled(delay_tables.delay_of)
    return [
        [delay_of(world.delays, world.law[arm], u, left) for u in us] for arm in range(len(laws))
    ]


def test_engine_far_beyond_its_table():
    """min{m : S(m) <= u} for horizon 10^7, exact around every knot as well."""
    horizon, rng = 10**7, np.random.default_rng(4)
    assert horizon > 100 * delay_tables.HEAD
    us = rng.random(400) ** np.repeat([1, 4], 200)
    near = [
        delay_tables.HEAD - 1,
        delay_tables.HEAD,
        delay_tables.HEAD + 1,
        delay_tables.HEAD + delay_tables.HEAD // 64,
        10**6,
        horizon - 1,
        horizon,
        horizon + 1,
    ]
    beyond = 0
    for law in FAR:
        exact = [law.survival(m) for m in near]
        for u, delay in zip(
            [*us, *exact, 0.0],
            engine_delays([law], horizon, [*us, *exact, 0.0], horizon)[0],
            strict=True,
        ):
            expected = law.inverse(u) if u < 1 else 0.0
            assert delay == expected or (delay > horizon and expected > horizon), (law, u)
            beyond += delay_tables.HEAD < delay <= horizon
    assert beyond > 400


def turns_of(law, horizon):
    """At and beside the places where the delay changes, for delays of all lengths."""
    lengths = np.unique(np.geomspace(1, 0.9 * horizon, 400).astype(int))
    turns = np.array([law.survival_at(int(m)) for m in lengths])
    if isinstance(law, pb.Mixture):  # whose terms may be added in another order: not at the place
        us = np.concatenate([turns * (1 - 1e-13), turns * (1 + 1e-13)])
    else:
        us = np.concatenate([turns, np.nextafter(turns, 0), np.nextafter(turns, 1)])
    return us[(us > 0) & (us < 1)]


def wrong_delays(law, horizon, us, delays):
    found = np.minimum(delays, horizon + 1)
    expected = [min(law.inverse(u), horizon + 1) for u in us]
    return np.count_nonzero(found != expected)


@pytest.mark.parametrize("law", dict.fromkeys([*EVERY, *FAR]), ids=str)
def test_delays_change_where_the_law_says(law):
    for horizon in (3000, 10**6):
        us = turns_of(law, horizon)
        delays = engine_delays([law], horizon, us, horizon)[0]
        assert wrong_delays(law, horizon, us, delays) == 0


@pytest.mark.parametrize("law", [pb.UniformDelay(2, 8347), pb.UniformDelay(3, 12_000)], ids=str)
def test_delays_that_are_never_drawn_bend_no_line(law):
    """In the cell below 1 nobody has a delay at which S is still 1."""
    us = 1.0 - np.geomspace(2.0**-53, 2.0**-12, 200)
    delays = engine_delays([law], 3000, us, 3000)[0]
    assert wrong_delays(law, 3000, us, delays) == 0


def test_lines_without_doubt_are_wrong(monkeypatch):
    """Negative control: lines that are trusted everywhere miss."""
    law = pb.Pareto(0.3)
    horizon = 3000
    tables = delay_tables.tables_of((law,), horizon)
    us = turns_of(law, horizon)
    us = us[us < 0.5]
    trusting = [delay_tables.delay_of(tables, 0, u, horizon) for u in us]
    assert wrong_delays(law, horizon, us, trusting) == 0
    monkeypatch.setattr(delay_tables, "is_sure", lambda line, place: True)
    trusting = [delay_tables.delay_of(tables, 0, u, horizon) for u in us]
    assert wrong_delays(law, horizon, us, trusting) > 10


def test_most_delays_need_no_search():
    """The chance of a cell without a line, or of a place too near a whole number."""
    for tail, most in ((0.3, 0.02), (1.0, 0.003)):
        tables = delay_tables.tables_of((pb.Pareto(tail),), 10**6)
        unsure = 0
        for u in np.random.default_rng(6).random(20_000):
            line = int(tables.lines[0, delay_tables.cell_of(u)])
            unsure += not delay_tables.is_sure(line, delay_tables.line_at(line, u))
        assert 0 < unsure / 20_000 < most


@pytest.mark.parametrize("horizon", [1, 2, 50, 3000])
def test_engine_within_its_table(horizon):
    us = [0.0, *np.random.default_rng(5).random(300), 1 - 2**-53]
    laws = [*EVERY, Steps()]
    for left in {horizon, horizon // 2}:
        for law, delays in zip(laws, engine_delays(laws, horizon, us, left), strict=True):
            for u, delay in zip(us, delays, strict=True):
                assert min(delay, left + 1) == min(law.inverse(u), left + 1), (law, u)
