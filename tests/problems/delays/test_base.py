"""Laws that are no laws are refused when the problem is made, or when it is simulated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import patientbandits as pb
from patientbandits.problems.delays import LAWS
from patientbandits.simulation.engine.delay_tables import FORMULAS


@dataclass(frozen=True)
class Odd(pb.Delay):
    """Pareto-like, but with one strange value."""

    at: int
    value: object

    def survival_at(self, m):
        return self.value if m == self.at else 0.5 / (1 + m)


@pytest.mark.parametrize("value", [1.2, -0.1, float("nan"), float("inf"), "much", None])
def test_values_that_are_no_probabilities(value):
    with pytest.raises(pb.InputError, match=r"^Odd: survival_at must be a number.*; got m=3, surv"):
        pb.Problem([0.5, 0.6], [pb.NoDelay(), Odd(3, value)])


def test_a_law_that_rises():
    message = r"^Odd: survival_at must not rise, and was .* at m=6; got m=7, survival=0\.9\.$"
    with pytest.raises(pb.InputError, match=message):
        pb.Problem([0.5], Odd(7, 0.9))


def test_what_shows_only_later_is_refused_when_it_is_simulated():
    """Between the few hundred times that are looked at first."""
    problem = pb.Problem([0.5, 0.6], Odd(777, 0.9))
    assert pb.simulate(problem, pb.Uniform(), 700, 1, debug=True).pulls.sum() == 700
    with pytest.raises(pb.InputError, match=r"^Odd: survival_at must not rise.*got m=777"):
        pb.simulate(problem, pb.Uniform(), 800, 1, debug=True)


@dataclass(frozen=True)
class Listed(pb.Delay):
    """A law with a field that cannot be hashed."""

    values: list

    def survival_at(self, m):
        return self.values[min(m, len(self.values) - 1)]


def test_laws_that_cannot_be_hashed_are_looked_at_too():
    pb.Problem([0.5], Listed([0.5, 0.0]))
    with pytest.raises(pb.InputError, match=r"^Listed: survival_at must not rise"):
        pb.Problem([0.5], Listed([0.5, 0.6]))


def test_rounding_is_no_offence():
    weights = np.full(7, 1 / 7)
    pb.Problem([0.5], pb.Mixture([pb.Never()] * 7, weights.tolist()))


def test_every_law_brings_its_formula():
    """What the engine compiles is what the laws carry: nothing to be forgotten elsewhere."""
    carried = {law.formula for law in LAWS.values() if law.formula is not None}
    assert set(FORMULAS) == carried
    assert len(carried) >= 8


def test_delays_by_generator() -> None:
    law = pb.Pareto(0.7)
    by_seed = law.sample(50, 8, horizon=300)
    np.testing.assert_array_equal(law.sample(50, np.random.default_rng(8), horizon=300), by_seed)
    generator = np.random.default_rng(8)
    one_by_one = [law.sample(generator, horizon=300) for _ in range(50)]
    assert one_by_one == by_seed.tolist()
    assert isinstance(one_by_one[0], float)
