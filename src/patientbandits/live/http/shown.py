"""Experiments and keys as people and programs are shown them, and changes as they ask for them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec

from patientbandits.live.http import bodies
from patientbandits.live.keys import Key
from patientbandits.live.refusals import ConflictError, RefusedError
from patientbandits.live.settings import Settings
from patientbandits.live.shop import ExperimentHandle, Shop


def created(
    shop: Shop, name: str, settings: Settings, seed: int | None
) -> tuple[bodies.ExperimentAnswer, bool]:
    """(the experiment, whether it is new); one of this name with other settings is a conflict."""
    handle, new = shop.create(name, settings, seed)
    have = handle.settings
    if have != settings or seed not in (None, handle.experiment.seed):
        raise ConflictError(f"experiment: {name!r} exists with other settings.")
    return shown(handle, have), new


def changed(handle: ExperimentHandle, wanted: dict[str, Any]) -> Settings:
    """Change what is asked for; arms are named one by one, not as whole lists."""
    changes = {name: value for name, value in wanted.items() if value is not msgspec.UNSET}
    added, retire, restore = (
        changes.pop("add_arms", []),
        changes.pop("retire", []),
        changes.pop("restore", []),
    )
    if added or retire or restore:
        have = handle.settings
        unknown = [arm for arm in [*retire, *restore] if arm not in [*have.arms, *added]]
        if unknown:
            raise RefusedError(f"experiment: there are no such arms; got {unknown!r:.300}.")
        changes["arms"] = [*have.arms, *added]
        changes["retired"] = [
            arm
            for arm in changes["arms"]
            if (arm in have.retired or arm in retire) and arm not in restore
        ]
    return handle.change(**changes)


def shown(handle: ExperimentHandle, settings: Settings | None = None) -> bodies.ExperimentAnswer:
    have = settings or handle.settings
    return bodies.ExperimentAnswer(
        handle.name,
        moment(handle.experiment.created),
        list(have.arms),
        list(have.retired),
        have.policy,
        have.window,
        have.sticky,
        have.paused,
        have.scale,
    )


def key_shown(key: Key) -> bodies.KeyAnswer:
    revoked = None if key.revoked is None else moment(key.revoked)
    return bodies.KeyAnswer(key.id, sorted(key.scopes), key.note, moment(key.created), revoked)


def moment(microseconds: int) -> str:
    return (
        datetime.fromtimestamp(microseconds / 1e6, UTC)
        .isoformat(timespec="milliseconds")
        .replace("+00:00", "Z")
    )
