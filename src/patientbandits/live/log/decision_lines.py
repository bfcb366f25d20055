"""How a log's lines stand to decisions: which one they are about, who makes it, how it is made."""

from __future__ import annotations

from patientbandits.live.log.line import LogLine

ARM = LogLine._fields.index("arm")
PROPENSITY = LogLine._fields.index("propensity")
assert PROPENSITY == ARM + 1


def decision_line(line: LogLine) -> int:
    """The line of the decision that ``line`` is about, or 0."""
    if line.kind == "credit":
        return line.about or 0
    return line.decision or 0


def is_open(line: LogLine) -> bool:
    """Whether it is a decision that is still to be made."""
    return line.arm is None and line.kind == "decision"


def is_told(line: LogLine) -> bool:
    """Whether the decision is one that others have made: the policy takes note of it."""
    return line.happened is not None


class Attention:
    """Whether lines belong to a stretch that is told, not decided: what is no decision belongs to
    the stretch it is found in."""

    def __init__(self) -> None:
        self._told = False

    def __call__(self, line: LogLine) -> bool:
        if line.kind == "decision":
            self._told = is_told(line)
        return self._told


def chosen_line(draft: LogLine, arm: int, propensity: float) -> LogLine:
    """The decision's line, complete; ``propensity``: 0 if the policy does not know.

    Made of a tuple: by its columns' names it would take longer than the policy does.
    """
    known = min(propensity, 1.0) if propensity > 0.0 else None
    return LogLine._make((*draft[:ARM], arm, known, *draft[PROPENSITY + 1 :]))
