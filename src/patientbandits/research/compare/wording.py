"""Numbers and lists in the words of the advice."""

from __future__ import annotations

from collections.abc import Sequence

from patientbandits.research.compare.scores import Standing

MOST_EXAMPLES = 5
"""in a sentence"""


def plural(count: int, noun: str) -> str:
    if count == 1:
        return f"1 {noun}"
    return f"{count} {noun}s"


def enumerated(parts: Sequence[str]) -> str:
    """a, b and c"""
    if len(parts) == 1:
        return parts[0]
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def some(parts: Sequence[str]) -> str:
    """The first few, and how many more there are."""
    if len(parts) <= MOST_EXAMPLES + 1:
        return enumerated(parts)
    return enumerated([*parts[:MOST_EXAMPLES], f"{len(parts) - MOST_EXAMPLES} more"])


def times_best(standing: Standing) -> str:
    if standing.typical < 1.005:
        return "the best"
    return f"{standing.typical:.2f} times the best"


def record_of(standing: Standing) -> str:
    problems = plural(standing.problems, "problem")
    return (
        f"{standing.typical:.2f} times the regret of the best on the whole "
        f"(geometric mean over {problems}), "
        f"{standing.worst:.1f} times at worst ({standing.worst_problem}); "
        f"the best or not significantly worse on {standing.good}."
    )
