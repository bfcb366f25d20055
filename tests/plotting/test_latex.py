"""Tables for LaTeX."""

from __future__ import annotations

from patientbandits.plotting import latex_table


def test_latex_table() -> None:
    table = latex_table(["policy", "50 %"], [("a_b & c", 1.23456), (r"x\{}", 7)])
    assert table.splitlines() == [
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"policy & 50 \% \\",
        r"\midrule",
        r"a\_b \& c & 1.235 \\",
        r"x\textbackslash{}\{\} & 7 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]
