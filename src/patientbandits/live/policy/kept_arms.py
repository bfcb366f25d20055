"""The arm that a person keeps: the first that anybody of it was shown or promised.

Lines of all units that aliases join count together, in the order of the log, so that it does not
matter in which order the units were joined. An arm that is retired makes room for another, which
then stays even if the first one is restored.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import NamedTuple, TypeVar

from patientbandits.live.log import AssignmentLine, ChangeLine, DecisionLine, OpenDecision
from patientbandits.live.settings import stored_settings

GivenLine = DecisionLine | OpenDecision | AssignmentLine
"""a line that gives a unit an arm"""

G = TypeVar("G", bound=GivenLine)


class Regime(NamedTuple):
    """The rules from line ``seq`` on."""

    seq: int
    sticky: bool
    shown: tuple[int, ...]
    """places of the arms that are not retired"""

    def keeps(self, line: GivenLine) -> bool:
        """Tell whether a unit that the line gave an arm gets it again."""
        return self.sticky and self.shows(line)

    def shows(self, line: GivenLine) -> bool:
        # an arm that is still to be chosen is one of those that are shown
        return isinstance(line, OpenDecision) or line.arm in self.shown


class Regimes:
    """Those of an experiment, one after the other."""

    def __init__(self, changes: Iterable[ChangeLine]) -> None:
        self._all: list[Regime] = []
        for change in changes:
            self.add(change)

    def add(self, change: ChangeLine) -> None:
        """Take note of a change; one that was noted before changes nothing."""
        settings = stored_settings(change.settings)
        regime = Regime(change.seq, settings.sticky, settings.active)
        if not self._all or (self.now.seq < regime.seq and self.now[1:] != regime[1:]):
            self._all.append(regime)

    @property
    def now(self) -> Regime:
        return self._all[-1]

    def at(self, seq: int) -> Regime:
        return self._all[bisect_right(self._all, seq, key=attrgetter("seq")) - 1]

    def kept(self, lines: Sequence[G]) -> G | None:
        """The line whose arm the person of these ``lines``, in their order, has now."""
        kept: G | None = None
        for line in lines:
            kept = self.kept_with(kept, line)
        return kept if kept is None or self.now.shows(kept) else None

    def kept_with(self, kept: G | None, line: G) -> G:
        """The line that is kept once ``line`` was written; ``kept``: the one before."""
        if kept is None or not self.at(line.seq).keeps(kept):
            return line
        return kept
