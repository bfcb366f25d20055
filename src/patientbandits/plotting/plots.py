"""A result drawn on matplotlib's axes: what `Result.plot` does."""

from __future__ import annotations

from typing import Any

import numpy as np

from patientbandits.errors import InputError, choice
from patientbandits.inference import FloatArray, mean_interval
from patientbandits.plotting.figures import PALETTE
from patientbandits.simulation import Result, pulls_over_time

PLOTTED = ("regret", "pulls", "trace")


def plot_result(result: Result, what: str = "regret", axis: Any = None, **style: Any) -> Any:
    """One of `PLOTTED` over the rounds, as means with 95 % bands; returns the axis."""
    choice("Result.plot", "what", what, PLOTTED)
    if what == "trace" and result.trace is None:
        raise InputError(f"Result.plot: {result.label} records no trace.")
    if axis is None:
        axis = _new_axis()
    if what == "regret":
        _plot_mean(axis, result, result.regret, {"label": result.label, **style})
    elif what == "trace":
        assert result.trace is not None
        _plot_mean(axis, result, result.trace, {"label": result.label, **style})
    else:
        _plot_pulls(axis, result, style)
    axis.set(xlabel="round", ylabel=what)
    axis.legend()
    return axis


def _new_axis() -> Any:
    """On the current figure of pyplot: what a notebook shows by itself."""
    from matplotlib import pyplot

    return pyplot.subplots()[1]


def _plot_pulls(axis: Any, result: Result, style: dict[str, Any]) -> None:
    pulls = pulls_over_time(result).astype(float)
    for arm in range(pulls.shape[2]):
        look = {"label": f"arm {arm}", "color": PALETTE[arm % len(PALETTE)], **style}
        _plot_mean(axis, result, pulls[:, :, arm], look)


def _plot_mean(axis: Any, result: Result, values: FloatArray, style: dict[str, Any]) -> None:
    (line,) = axis.plot(result.rounds, values.mean(axis=0), **style)
    low, high = mean_interval(values)
    if np.all(np.isfinite(low)):
        axis.fill_between(result.rounds, low, high, color=line.get_color(), alpha=0.16, linewidth=0)
