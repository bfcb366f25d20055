"""Problems by name: the paper's, and pairs that nobody can tell apart."""

from __future__ import annotations

import numpy as np
import pytest

import patientbandits as pb
from patientbandits.problems import PRESETS, PROBLEMS, PUBLISHED_SCALE


@pytest.mark.parametrize("name", PROBLEMS)
def test_every_name_is_a_problem(name: str) -> None:
    problem = PROBLEMS[name]()
    assert problem.arms == 2
    assert max(problem.gaps) > 0


def test_presets_are_two_laws() -> None:
    literal, published = (pb.problems.paper_delay(0.3, preset) for preset in reversed(PRESETS))
    assert literal == pb.Pareto(0.3)
    assert published == pb.Lomax(0.3, PUBLISHED_SCALE)
    with pytest.raises(pb.InputError, match=r"^paper_delay: preset must be one of published, lit"):
        pb.problems.paper_delay(0.3, "printed")


def test_what_is_seen_of_a_hidden_pair_has_the_same_law() -> None:
    """mean * P(D <= m) is the same in both for every m within the window, and not beyond it."""
    window = 50
    for one, other in (
        pb.problems.hidden_pair(window, 0.4),
        pb.problems.hidden_pair(window, 0.4, share=0.2),
        pb.problems.indistinguishable_pair(window + 1, 0.4),
    ):
        m = np.arange(window + 1)
        for arm in range(2):
            seen = [p.means[arm] * p.delays[arm].cdf(m) for p in (one, other)]
            np.testing.assert_allclose(seen[0], seen[1], rtol=1e-12)
        assert one.gaps.index(0.0) != other.gaps.index(0.0), "the best arms differ"
