"""Windows compared: where the ranking flips."""

from __future__ import annotations

import numpy as np
import pytest

from patientbandits._util.durations import DAY, HOUR
from patientbandits.analysis import Analysis


def test_windows_show_where_the_ranking_flips(analysis: Analysis) -> None:
    leaders = {row.window: row.leader for row in analysis.windows}
    assert leaders[DAY] == "control"
    assert leaders[30 * DAY] == "slow"
    flips = [row for row in analysis.windows if row.flipped]
    assert len(flips) == 1
    assert DAY < flips[0].window <= 30 * DAY
    shares = np.array([[part.caught for part in row.arms] for row in analysis.windows])
    assert np.all(np.diff(shares, axis=0) >= 0)
    assert shares[-1] == pytest.approx(1.0)
    assert analysis.windows[0].window == HOUR
