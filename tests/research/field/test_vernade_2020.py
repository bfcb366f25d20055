"""Settings of vernade-2020, as the authors' simulator has them."""

from __future__ import annotations

from patientbandits import Geometric
from patientbandits.research.field.run import PAPERS


def test_settings_that_the_paper_states():
    vernade = PAPERS["vernade-2020"]()
    assert {setting.horizon for setting in vernade.settings} == {3000}
    laws = {(setting.problem.delays[0], setting.problem.window) for setting in vernade.settings}
    means = (100, 500)
    assert laws == {(Geometric(1 / mean), window) for mean in means for window in (100, 500)}
    for setting in vernade.settings:
        assert setting.problem.arms == 10
        assert setting.players["OTFLinUCB"].delta == 0.1
        assert setting.players["OTFLinTS"].spread == 0.5
        assert setting.players["OTFLinTS"].window == setting.problem.window
