"""Random numbers: uniform, independent, of the right laws,
and the same compiled and interpreted.
"""

from __future__ import annotations

import random

import naive
import numpy as np
import pytest
from scipy import stats

from patientbandits._util import rng
from patientbandits.simulation.engine.compile import compiled

KEY = rng.run_key(rng.base_keys(1)[0], 0)

STREAMS = {
    "rounds": lambda j: rng.bits_at(KEY, j, 0),
    "arms": lambda j: rng.bits_at(KEY, 1, j),
    "rounds and arms": lambda j: rng.bits_at(KEY, j // 100, j % 100),
    "runs": lambda j: rng.bits_at(rng.run_key(rng.base_keys(1)[0], j), 1, 0),
    "delays": lambda j: rng.mix(rng.bits_at(KEY, j, 1) ^ rng.DELAY_SALT),
    "the next after": lambda j: rng.following(rng.bits_at(KEY, j, 0)),
    "seeds": lambda j: rng.bits_at(rng.run_key(rng.base_keys(j)[0], 0), 1, 0),
}
DRAWS = 20_000


def uniform_p(values):
    return stats.chisquare(np.bincount((np.asarray(values) * 64).astype(int), minlength=64)).pvalue


def independent_p(x, y):
    cells = (np.asarray(x) * 12).astype(int) * 12 + (np.asarray(y) * 12).astype(int)
    return stats.chisquare(np.bincount(cells, minlength=144)).pvalue


@pytest.mark.parametrize("stream", STREAMS)
def test_uniform_and_independent(stream):
    """7 streams x 3 tests at level 1e-3: an error rate of 2 %, once, since the seed is fixed."""
    bits = [STREAMS[stream](j) for j in range(DRAWS if stream != "seeds" else 4000)]
    units = [rng.unit(b) for b in bits]
    assert 0 <= min(units) <= max(units) < 1
    assert uniform_p(units) > 1e-3
    assert uniform_p([(b & 0xFFFFFFFF) / 2**32 for b in bits]) > 1e-3
    assert independent_p(units[:-1], units[1:]) > 1e-3
    assert len(set(bits)) == len(bits)


def test_reward_and_delay_are_independent():
    """Level 1e-3 each: an error rate of 0.3 %."""
    bits = [rng.bits_at(KEY, j, 0) for j in range(DRAWS)]
    units = [rng.unit(b) for b in bits]
    assert independent_p(units, [rng.unit(rng.mix(b ^ rng.DELAY_SALT)) for b in bits]) > 1e-3
    assert independent_p(units, [rng.unit(rng.bits_at(KEY, j, 1)) for j in range(DRAWS)]) > 1e-3
    assert independent_p(units, [rng.unit(rng.following(b)) for b in bits]) > 1e-3


def test_bad_numbers_are_found_out():
    """Negative controls: a counter that is not mixed, and the same number twice."""
    raw = [rng.unit((KEY + j * rng.ROUND_STEP) & rng.MASK) for j in range(DRAWS)]
    assert uniform_p(np.sqrt(raw)) < 1e-9
    assert independent_p(raw[:-1], raw[1:]) < 1e-9
    assert independent_p(raw, raw) < 1e-9


def draws(kind, *parameters):
    """30 000 draws; compiled, which gives the same: see below."""
    draw = compiled(getattr(rng, kind))
    values = [draw(*parameters, np.uint64(rng.bits_at(KEY, j, 7))) for j in range(30_000)]
    return np.array([value[0] if isinstance(value, tuple) else value for value in values])


@pytest.mark.parametrize(
    ("kind", "parameters", "law", "wrong"),
    [
        ("normal", (), stats.norm(), stats.norm(0, 1.08)),
        ("gamma", (0.2,), stats.gamma(0.2), stats.gamma(0.21)),
        ("gamma", (1.0,), stats.gamma(1.0), stats.gamma(1.05)),
        ("gamma", (40.0,), stats.gamma(40.0), stats.gamma(40.0 / 1.16, scale=1.16)),
        ("beta", (0.5, 0.5), stats.beta(0.5, 0.5), stats.beta(0.52, 0.48)),
        ("beta", (3.0, 11.0), stats.beta(3.0, 11.0), stats.beta(3.1, 11.0)),
        ("beta", (200.0, 2.0), stats.beta(200.0, 2.0), stats.beta(200.0, 2.1)),
    ],
)
def test_laws(kind, parameters, law, wrong):
    """Kolmogorov-Smirnov, 7 laws at level 1e-3: an error rate of 0.7 %.

    A law some per cent off must be refused.
    """
    values = draws(kind, *parameters)
    assert stats.kstest(values, law.cdf).pvalue > 1e-3
    assert stats.kstest(values, wrong.cdf).pvalue < 1e-3


def test_tiny_shapes_give_a_number():
    values = draws("beta", 1e-4, 3e-4)
    assert np.all((values >= 0) & (values <= 1))
    assert abs(np.mean(values) - 0.25) < 4 * np.sqrt(0.25 * 0.75 / len(values))  # error rate 6e-5


def test_compiled_equals_interpreted():
    pick = random.Random(2)
    native = {
        name: compiled(getattr(rng, name))
        for name in ("mix", "bits_at", "following", "unit", "run_key", "normal", "gamma", "beta")
    }
    for _ in range(3000):
        bits, round_, arm = pick.getrandbits(64), pick.getrandbits(31), pick.getrandbits(20)
        b, r, a = np.uint64(bits), np.uint64(round_), np.uint64(arm)
        for name in ("mix", "following", "unit"):
            assert native[name](b) == getattr(rng, name)(bits) == getattr(naive, name)(bits), name
        assert (
            native["bits_at"](b, r, a)
            == rng.bits_at(bits, round_, arm)
            == naive.bits_at(bits, round_, arm)
        )
        assert native["run_key"](b, r) == rng.run_key(bits, round_)
        shape, other = pick.choice([0.01, 0.3, 1.0, 1.7, 25.0, 1e5]), pick.uniform(0.1, 9)
        assert native["normal"](b) == rng.normal(bits)
        assert native["gamma"](shape, b) == rng.gamma(shape, bits)
        assert native["beta"](shape, other, b) == rng.beta(shape, other, bits)


def test_the_scheme_is_fixed():
    """Saved results depend on it: a change of the scheme needs a new version, not a new test."""
    assert rng.mix(1) == 0x5692161D100B05E5
    assert [rng.mix((j * rng.GOLDEN) & rng.MASK) for j in (1, 2, 3)] == [
        0xE220A8397B1DCDAF,
        0x6E789E6AA1B965F4,
        0x06C45D188009454F,
    ]
    world, policy = rng.base_keys(7)
    assert (rng.run_key(world, 3), rng.run_key(policy, 3)) == naive.keys(7, 3)[:2]
    assert (world, policy) == (0xEAD0F7017C326E58, 0x0879C4F0F97E037A)
