"""An arm's counts on the model's grid, cut at the window."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from patientbandits.inference.posterior.counts import Array, CureCounts
from patientbandits.inference.posterior.grid import LAST, bin_edges, bin_points, point_of
from patientbandits.inference.posterior.laws import Laws, laws
from patientbandits.inference.posterior.work import Seen


class Observed(NamedTuple):
    """What is known of an arm, bin by bin up to the oldest age or the window."""

    edges: Array
    """where each bin ends, in the user's time"""
    waiting: Array
    passed: Array
    """how much of its bin a waiting pull has behind it, in the mean"""
    converted: Array
    seen: Seen
    window: float | None
    """in units of the grid"""

    @property
    def end(self) -> float:
        """The window as a point of the grid, which need not be whole; or `FOR_EVER`."""
        return point_of(self.window)

    @property
    def ended(self) -> bool:
        """Whether the last bin ends with the window."""
        return bool(self.seen.points[-1] >= self.end)

    def laws(self) -> Laws:
        """With the window, and the last bin's own beginning if it is the one."""
        if self.ended and len(self.seen.points) > 1:
            return laws(self.window, int(self.seen.points[-2]))
        return laws(self.window)

    @property
    def pulls(self) -> float:
        return float(self.waiting.sum() + self.converted.sum())


def unit_of(arm: CureCounts) -> float:
    """The grid's unit of time: the first bin's end."""
    return float(arm.columns[0][0])


def observe(arm: CureCounts, unit: float, window: float | None) -> Observed:
    """``unit``: the one that all arms of the experiment have in common, at most this arm's own."""
    edges, waiting, converted = arm.columns
    passed = np.array(arm.passed, dtype=float)
    used = np.flatnonzero((waiting > 0) | (converted > 0))
    last = int(used[-1]) if len(used) else 0
    if window is not None and window < edges[last]:
        edges, waiting, converted, passed = cut(arm, window)
    else:
        edges = edges[: last + 1]
        waiting = waiting[: last + 1]
        converted = converted[: last + 1]
        passed = passed[: last + 1]
    until = None if window is None else window / unit
    points = points_of(edges, unit)
    beyond = np.cumsum((waiting + converted)[::-1])[::-1]
    exposed = beyond - waiting - converted + passed * waiting
    seen = Seen(points=points, converted=converted, exposed=exposed)
    return Observed(edges, waiting, passed, converted, seen, until)


def cut(arm: CureCounts, window: float) -> tuple[Array, Array, Array, Array]:
    """Edges, waiting, converted and passed up to the window; who converts later waits at its end.

    In the bin that the window cuts, conversions and ages count as spread evenly; to have the window
    exact, give it to `CureCounts.of`.
    """
    edges, waiting, converted = arm.columns
    passed = np.array(arm.passed, dtype=float)
    place = int(np.searchsorted(edges, window))
    lower = float(edges[place - 1]) if place > 0 else 0.0
    part = (window - lower) / (edges[place] - lower)
    inside = converted[place] * part
    done = waiting[place + 1 :].sum() + converted[place + 1 :].sum() + converted[place] - inside
    within = waiting[place]
    share = min(passed[place] / part, 1.0)
    new_waiting = np.append(waiting[:place], within + done)
    mean = (within * share + done) / max(within + done, 1e-300)
    return (
        np.append(edges[:place], window),
        new_waiting,
        np.append(converted[:place], inside),
        np.append(passed[:place], min(mean, 1.0)),
    )


def points_of(edges: Array, unit: float) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The grid's point at or above each edge: bins that are not the grid's end at the next one."""
    grid = bin_edges()
    places = np.searchsorted(grid * (1 + 1e-12), edges / unit)
    points = bin_points()[np.minimum(places, len(grid) - 1)]
    rising = np.maximum.accumulate(points - np.arange(len(points))) + np.arange(len(points))
    return np.minimum(rising, LAST).astype(np.int64)
