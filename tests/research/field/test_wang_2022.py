"""Settings of wang-2022, as the authors' code has them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from patientbandits.research.field.run import PAPERS

pytestmark = pytest.mark.slow


def test_settings_that_the_paper_states():
    wang = PAPERS["wang-2022"]()
    assert {s.problem.means for s in wang.settings} == {(0.5, 0.4, 0.3), (0.1, 0.05, 0.03)}
    assert {(s.horizon, s.problem.batch) for s in wang.settings} == {(10_000, 500)}
    for setting in wang.settings:
        means = [sum(law.survival(np.arange(60_000))) for law in setting.problem.delays]
        of_scale = math.gamma(1 + 1 / 1.5) if "Weibull" in setting.name else 1.0
        assert means == pytest.approx([1000 * of_scale, 750 * of_scale, 500 * of_scale], rel=0.01)
