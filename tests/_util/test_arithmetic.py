"""Sums have the same bits on every Python."""

import math
import sys

import pytest

import patientbandits as pb
from patientbandits._util.arithmetic import plain_sum
from patientbandits._util.rng import bits_at, unit

TENTHS = [0.1] * 10


def one_by_one(terms):
    total = 0.0
    for term in terms:
        total = total + term
    return total


def random_terms(row):
    return [unit(bits_at(5, row, place)) * 10.0 ** (place % 7) for place in range(100)]


@pytest.mark.parametrize("row", range(50))
def test_plain_sum_rounds_after_every_addition(row):
    terms = random_terms(row)
    assert plain_sum(terms).hex() == one_by_one(terms).hex()


def test_plain_sum_does_not_correct_its_rounding():
    assert plain_sum(TENTHS) == 0.9999999999999999
    assert math.fsum(TENTHS) == 1.0
    unequal = [plain_sum(random_terms(row)) != math.fsum(random_terms(row)) for row in range(50)]
    assert sum(unequal) > 10


def test_the_built_in_sum_is_why():
    corrected = sys.version_info >= (3, 12)
    assert (sum(TENTHS) != plain_sum(TENTHS)) == corrected


def test_plain_sum_of_nothing():
    assert plain_sum([]) == 0.0


def test_laws_have_the_same_bits_on_every_python():
    mixture = pb.Mixture([pb.Fixed(n) for n in range(10)], TENTHS)
    assert set(mixture.weights) == {0.1 / 0.9999999999999999}
    assert mixture.survival_at(0) == one_by_one([mixture.weights[0]] * 9)
    measured = pb.Empirical(range(10), TENTHS)
    assert measured.survival_at(8) == 0.1 / 0.9999999999999999
