"""Theorem E: what a policy loses if the slow arm is the worse one, against if it is the better one.

On the two problems of Theorem 4, shares of all that can be lost: x + y = 1 for every policy that
sees only rewards and is not told the law.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from patientbandits.plotting import STYLE, FigureFiles, save
from patientbandits.research.compare.cases import Case

PAIR = ("theorem4_a", "theorem4_b")
"""where the slow arm is the worse one, and where it is the better one"""

MARKS = {
    "nothing": ("o", "#0072b2", "told nothing"),
    "bound": ("s", "#009e73", "knows a bound"),
    "tuned": ("v", "#8c6d31", "tuned"),
    "law": ("^", "#d55e00", "knows the law"),
    "reports": ("D", "#cc79a7", "sees reports"),
}
"""group -> marker, colour, words"""

NAMED = {
    "PatientThompson": (-10, -3),
    "KLUCB": (8, 6),
    "UCB1": (9, -12),
    "Uniform": (8, 4),
    "PatientBandits": (8, 4),
    "OracleThompson": (-9, -3),
    "DelayedUCB1": (8, 2),
}
"""policy -> where its name goes, in points"""


class LostRow(Protocol):
    """A policy on a problem; a `Score` is one."""

    @property
    def problem(self) -> str: ...
    @property
    def policy(self) -> str: ...
    @property
    def group(self) -> str: ...
    @property
    def regret(self) -> float: ...


class Point(NamedTuple):
    policy: str
    group: str
    x: float
    """share lost where the slow arm is the worse one"""
    y: float
    """share lost where it is the better one"""


def points(cases: Sequence[Case], rows: Iterable[LostRow]) -> list[Point]:
    """The policies' points; none if the pair is not among the problems."""
    most = {case.name: case.horizon * max(case.problem.gaps) for case in cases}
    if not set(PAIR) <= set(most):
        return []
    lost: dict[tuple[str, str], dict[str, float]] = {}
    for row in rows:
        if row.problem in PAIR:
            shares = lost.setdefault((row.policy, row.group), {})
            shares[row.problem] = row.regret / most[row.problem]
    return [Point(*names, *(shares[problem] for problem in PAIR)) for names, shares in lost.items()]


def draw_frontier(
    every: Sequence[Point], stem: Path, formats: Sequence[str] = FigureFiles.formats
) -> None:
    """The points and the line."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(STYLE):  # type: ignore[arg-type]
        figure = Figure(figsize=(5.6, 5.0), layout="constrained")
        axis = figure.subplots()
        axis.plot([0, 1], [1, 0], color="#626975", linewidth=1, label="the frontier, x + y = 1")
        for group, (marker, color, words) in MARKS.items():
            own = [point for point in every if point.group == group]
            if own:
                axis.plot(
                    [point.x for point in own],
                    [point.y for point in own],
                    linestyle="",
                    marker=marker,
                    color=color,
                    alpha=0.75,
                    zorder=3,
                    label=words,
                )
        for point in every:
            if point.policy in NAMED:
                offset = NAMED[point.policy]
                axis.annotate(
                    point.policy,
                    (point.x, point.y),
                    xytext=offset,
                    textcoords="offset points",
                    ha="left" if offset[0] > 0 else "right",
                    fontsize=9,
                    bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
                    zorder=2.5,
                )
        axis.set_xlim(0, 0.8)
        axis.set_ylim(0.2, 0.95)
        axis.set_xlabel("share lost if the slow arm is the worse one")
        axis.set_ylabel("share lost if it is the better one")
        axis.legend(loc="upper right", frameon=False)
        save(figure, stem, formats)
