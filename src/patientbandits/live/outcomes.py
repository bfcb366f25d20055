"""Outcomes of commands, for the library and for clients. Imports little."""

from __future__ import annotations

from typing import Any, NamedTuple


class Decision(NamedTuple):
    """A decision: show the arm, keep the id."""

    id: str | None
    """None: the unit is outside the experiment, and nothing was written"""
    arm: str
    propensity: float | None = None
    """probability with which this arm was chosen, if the policy is randomised and knows it"""
    duplicate: bool = False
    """the decision existed already, for the same key or the same sticky unit"""
    outside: str | None = None
    """why the unit is outside and gets the fallback arm: closed, holdback; of a client: away"""


class Conversion(NamedTuple):
    duplicate: bool
    counted: bool
    """False: it came after the window, or was retracted; it is stored all the same"""


class Credited(NamedTuple):
    """The outcome of an order."""

    duplicate: bool
    counted: bool
    """False: no decision for this unit within the window before it, or retracted; it is stored"""
    exposed: bool
    """False: there is no decision for this unit so far"""


class Retraction(NamedTuple):
    duplicate: bool


class Exposed(NamedTuple):
    """An exposure that was reported; conversions may name its id."""

    id: str
    duplicate: bool
    """it was reported before, or the unit is sticky and has one already"""


class Evaluated(NamedTuple):
    """The value of a flag for a unit."""

    arm: str | None
    """None: the experiment is paused, or closed to the unit; use the default in the code"""
    value: Any = None
    """the arm as boolean, number or object if all arms are"""
    propensity: float | None = None
    id: str | None = None
    """the decision's; None: the arm is only reserved, and nothing is counted so far"""
    outside: str | None = None
    """as in `Decision`"""


class Joined(NamedTuple):
    duplicate: bool
    """the two units were one person already"""
