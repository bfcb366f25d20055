"""Answers of the service, as records."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar


class Decision(NamedTuple):
    """Show the arm, keep the id."""

    id: str | None
    """None: the unit is outside the experiment, and nothing was written"""
    arm: str
    propensity: float | None = None
    """probability with which this arm was to be chosen, if the policy is randomised and knows"""
    duplicate: bool = False
    """the decision was made before, for the same key or the same sticky unit"""
    outside: str | None = None
    """why the unit is outside and gets the fallback arm: closed, holdback; of a client: away"""


class Conversion(NamedTuple):
    duplicate: bool
    counted: bool
    """False: it came after the window, or was retracted; it is kept all the same"""


class Credited(NamedTuple):
    """The outcome of an order."""

    duplicate: bool
    counted: bool
    """False: no decision for this unit within the window before it, or withdrawn; it is kept"""
    exposed: bool
    """False: nothing was ever decided for this unit, as far as is known"""


class Retraction(NamedTuple):
    duplicate: bool


class Exposed(NamedTuple):
    """An exposure that was reported; conversions may name its id."""

    id: str
    duplicate: bool
    """it was reported before, or the unit is sticky and has it already"""


class Evaluated(NamedTuple):
    """The value of a flag for a unit."""

    arm: str | None
    """None: the experiment is paused, or closed to the unit; use the default in the code"""
    value: Any = None
    """the arm as boolean, number or object if all arms are such"""
    propensity: float | None = None
    id: str | None = None
    """the decision's; None: so far the arm is only promised, and nothing is counted"""
    outside: str | None = None
    """as in `Decision`"""


class Joined(NamedTuple):
    duplicate: bool
    """the two units were known to be one person"""


if not TYPE_CHECKING:
    # The library's own records where it is installed, all or none, as in `errors`.
    with suppress(ImportError, AttributeError):
        from patientbandits.live import outcomes as library

        (Decision, Conversion, Credited, Retraction, Exposed, Evaluated, Joined) = (
            library.Decision,
            library.Conversion,
            library.Credited,
            library.Retraction,
            library.Exposed,
            library.Evaluated,
            library.Joined,
        )

Record = TypeVar("Record")


def reader(record: Callable[..., Record]) -> Callable[[Mapping[str, Any]], Record]:
    """Return a function that makes the record from an answer.

    Fields that the record does not have are dropped: a newer service may send more.
    """
    fields: tuple[str, ...] = record._fields  # type: ignore[attr-defined]

    def read(answer: Mapping[str, Any]) -> Record:
        return record(**{name: answer[name] for name in fields if name in answer})

    return read
