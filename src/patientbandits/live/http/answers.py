"""Experiments and keys as people and programs are shown them."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from patientbandits.live.experiment import ExperimentHandle
from patientbandits.live.operations import Key
from patientbandits.live.settings import Settings, Shares
from patientbandits.live.times import iso_text


class ExperimentAnswer(Struct):
    name: str
    created: str
    arms: list[str]
    retired: list[str]
    policy: dict[str, Any]
    window: float | None
    sticky: bool
    paused: bool
    scale: float
    largest_value: float
    """the same as scale"""
    credit: str
    control: str | None
    currency: str | None
    goals: list[str]
    """the first decides"""
    retention: float | None
    """seconds"""
    window_text: str | None
    """the window as people write it"""
    shares: Shares | None
    """what arms get whatever the policy chooses"""
    closed: bool
    """no new units"""
    fallback: str | None
    """the arm for units outside the experiment"""


class KeyAnswer(Struct):
    id: str
    scopes: list[str]
    note: str
    created: str
    revoked: str | None


def experiment_answer(
    handle: ExperimentHandle, settings: Settings | None = None
) -> ExperimentAnswer:
    """``settings``: if they are known already."""
    have = settings or handle.settings
    return ExperimentAnswer(
        name=handle.name,
        created=iso_text(handle.experiment.created),
        arms=list(have.arms),
        retired=list(have.retired),
        policy=have.description,
        window=have.window,
        sticky=have.sticky,
        paused=have.paused,
        scale=have.scale,
        largest_value=have.scale,
        credit=have.credit,
        control=have.control,
        currency=have.currency,
        goals=list(have.goals),
        retention=have.retention,
        window_text=have.window_text,
        shares=have.shares,
        closed=have.closed,
        fallback=have.fallback,
    )


def key_answer(key: Key) -> KeyAnswer:
    return KeyAnswer(
        id=key.id,
        scopes=sorted(key.scopes),
        note=key.note,
        created=iso_text(key.created),
        revoked=None if key.revoked is None else iso_text(key.revoked),
    )
