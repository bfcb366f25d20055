"""The grid of ages."""

from __future__ import annotations

import numpy as np

from patientbandits.inference.posterior.grid import bin_edges, bin_points


def test_the_grid():
    """Bins as in the docstring; each holds a whole number of its own."""
    edges = bin_edges()
    assert edges[:5].round(2).tolist() == [1, 2, 3.36, 4, 5.66]
    whole = np.floor(edges)
    assert np.all(np.diff(whole) >= 1)
    assert np.all(np.diff(bin_points())[4:] == 1)
    assert edges[-1] == 2.0**30
