"""Means over runs, with their bands, drawn on matplotlib's axes: what `Result.plot` shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from patientbandits.inference import FloatArray, mean_interval
from patientbandits.plotting.figures import PALETTE


def plot_means(
    axis: Any,
    rounds: NDArray[np.int64],
    curves: Mapping[str, FloatArray],
    ylabel: str,
    style: Mapping[str, Any],
) -> Any:
    """Draw the mean over the runs of each of ``curves``, (runs, rounds), with its 95 % band.

    On ``axis``, or on a new one; ``style`` goes to its `plot`. A single curve takes the axis's next
    colour, so that several results can be drawn on one; several take `PALETTE`. Returns the axis.
    """
    if axis is None:
        axis = _new_axis()
    for number, (label, values) in enumerate(curves.items()):
        look: dict[str, Any] = {"label": label}
        if len(curves) > 1:
            look["color"] = PALETTE[number % len(PALETTE)]
        (line,) = axis.plot(rounds, values.mean(axis=0), **{**look, **style})
        low, high = mean_interval(values)
        if np.all(np.isfinite(low)):
            axis.fill_between(rounds, low, high, color=line.get_color(), alpha=0.16, linewidth=0)
    axis.set(xlabel="round", ylabel=ylabel)
    axis.legend()
    return axis


def _new_axis() -> Any:
    """An axis on the current figure of pyplot, which a notebook shows by itself."""
    from matplotlib import pyplot

    return pyplot.subplots()[1]
