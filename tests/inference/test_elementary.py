"""Elementary functions against the C library and SciPy, of numbers and of arrays."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special

from patientbandits.inference.elementary import (
    digamma,
    exponential,
    far_exponential,
    logarithm,
    normal_below,
    on_arrays,
    trigamma,
)
from patientbandits.simulation.engine.compile import compiled

RANDOM = np.random.default_rng(0)
FALLING = np.concatenate([[-1000.0, -64.0, -1e-9, 0.0], -60 * RANDOM.random(500)])
POSITIVE = np.exp(RANDOM.uniform(-300, 300, 500))
REAL = np.concatenate([[0.0, -40.0, 40.0], 4 * RANDOM.normal(size=500)])

CASES = [
    (exponential, FALLING, np.exp(np.maximum(FALLING, -64)), 2e-9, 0.0),
    (far_exponential, 11 * FALLING[1:], np.exp(np.maximum(11 * FALLING[1:], -700)), 1e-4, 0.0),
    (far_exponential, FALLING[1:] / 60, np.exp(FALLING[1:] / 60), 1e-10, 0.0),
    (logarithm, POSITIVE, np.log(POSITIVE), 1e-9, 1e-10),
    (normal_below, REAL, special.ndtr(REAL), 0.0, 1e-7),
]


@pytest.mark.parametrize(("function", "x", "expected", "relative", "absolute"), CASES)
def test_is_close_and_has_the_same_bits_in_every_form(function, x, expected, relative, absolute):
    one_by_one = np.array([function(number) for number in x.tolist()])
    np.testing.assert_allclose(one_by_one, expected, rtol=relative, atol=absolute)
    assert on_arrays(function)(x).tobytes() == one_by_one.tobytes()
    fast = compiled(function)
    assert np.array([fast(number) for number in x.tolist()]).tobytes() == one_by_one.tobytes()


def test_an_array_is_left_as_it_was():
    for function in (exponential, far_exponential, logarithm, normal_below):
        x = -np.ones(4) if function is not logarithm else np.ones(4)
        before = x.copy()
        on_arrays(function)(x)
        assert x.tolist() == before.tolist()


def test_digamma_and_trigamma():
    assert digamma(1.0) == pytest.approx(-0.5772156649015329, abs=1e-9)
    assert digamma(0.5) == pytest.approx(-1.9635100260214235, abs=1e-9)
    assert trigamma(1.0) == pytest.approx(math.pi**2 / 6, abs=1e-9)
    for x in (0.01, 0.7, 3.0, 8.0, 1e5):
        assert digamma(x) == pytest.approx(special.digamma(x), rel=1e-9, abs=1e-9)
        assert trigamma(x) == pytest.approx(special.polygamma(1, x), rel=1e-8)
