"""Settings of gigli-2024, as the authors' code has them."""

from __future__ import annotations

from patientbandits.research.field.run import PAPERS


def test_settings_that_the_paper_states():
    gigli = PAPERS["gigli-2024"]()
    assert {s.horizon for s in gigli.settings} == {3000}
    assert {s.problem.window for s in gigli.settings} == {100, 500, None}
    assert {s.name.split()[0] for s in gigli.settings} == {
        "geometric",
        "Pareto",
        "fixed",
        "packet",
        "uniform",
    }
