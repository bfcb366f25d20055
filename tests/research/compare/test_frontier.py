"""Theorem E's figure: whose points lie where, and that it is drawn."""

from __future__ import annotations

from pathlib import Path

import pytest
from score_tables import SUITE, table

from patientbandits.research.compare.frontier import PAIR, draw_frontier, points


def test_points_are_shares_of_what_can_be_lost(tmp_path: Path) -> None:
    cases = [SUITE[name] for name in PAIR]
    most = cases[0].horizon * max(cases[0].problem.gaps)
    regrets = {
        PAIR[0]: {"A": 0.3 * most, "OracleThompson": 0.2 * most},
        PAIR[1]: {"A": 0.7 * most, "OracleThompson": 0.4 * most},
    }
    rows = table(regrets, {"A": "nothing", "OracleThompson": "law"})
    first, second = points(cases, rows)
    assert (first.policy, first.group, second.group) == ("A", "nothing", "law")
    assert first[2:] == pytest.approx((0.3, 0.7))
    assert second[2:] == pytest.approx((0.2, 0.4))
    assert points(cases[:1], rows) == []
    draw_frontier([first, second], tmp_path / "frontier", formats=("svg",))
    assert "frontier" in (tmp_path / "frontier.svg").read_text()
