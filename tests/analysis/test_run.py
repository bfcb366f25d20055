"""`analyse`: another window, refusals, tables and figures."""

from __future__ import annotations

import pytest

from patientbandits.analysis import Analysis, analyse
from patientbandits.analysis.events import Events
from patientbandits.errors import InputError


def test_another_window_recomputes(shop: Events, analysis: Analysis) -> None:
    shorter = analyse(shop, window="1d")
    assert shorter.verdict.leader == "control"
    assert shorter.arms["slow"].rate < analysis.arms["slow"].rate / 3


def test_refuses(shop: Events) -> None:
    with pytest.raises(InputError, match="tolerance must be between 0 and 1"):
        analyse(shop, tolerance=0.0)
    with pytest.raises(InputError, match="events must come from read_events; got str"):
        analyse("shop.csv")  # type: ignore[arg-type]


def test_pandas_and_plot(analysis: Analysis) -> None:
    table = analysis.to_pandas()
    assert table.loc["slow", "decisions"] == 6000
    assert len(analysis.plot().axes) == 6
