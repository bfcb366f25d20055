"""What the command line and HTTP share: experiments and keys as both show them and change them."""

from __future__ import annotations

from typing import Any

import msgspec

from patientbandits.live.keys import Key
from patientbandits.live.refusals import ConflictError, RefusedError
from patientbandits.live.settings import Settings
from patientbandits.live.shop import ExperimentHandle, Shop
from patientbandits.live.values import moment_text


class ExperimentAnswer(msgspec.Struct):
    name: str
    created: str
    arms: list[str]
    retired: list[str]
    policy: dict[str, Any]
    window: float | None
    sticky: bool
    paused: bool
    scale: float


class KeyAnswer(msgspec.Struct):
    id: str
    scopes: list[str]
    note: str
    created: str
    revoked: str | None


def experiment_answer(
    handle: ExperimentHandle, settings: Settings | None = None
) -> ExperimentAnswer:
    """The experiment as it is shown; ``settings`` saves asking for them again."""
    have = settings or handle.settings
    return ExperimentAnswer(
        name=handle.name,
        created=moment_text(handle.experiment.created),
        arms=list(have.arms),
        retired=list(have.retired),
        policy=have.policy,
        window=have.window,
        sticky=have.sticky,
        paused=have.paused,
        scale=have.scale,
    )


def key_answer(key: Key) -> KeyAnswer:
    """The key as it is shown: without its secret."""
    return KeyAnswer(
        id=key.id,
        scopes=sorted(key.scopes),
        note=key.note,
        created=moment_text(key.created),
        revoked=None if key.revoked is None else moment_text(key.revoked),
    )


def create_experiment(
    shop: Shop, name: str, settings: Settings, seed: int | None
) -> tuple[ExperimentAnswer, bool]:
    """(the experiment, whether it is new); one of this name with other settings is a conflict."""
    handle, new = shop.create(name, settings, seed)
    have = handle.settings
    if have != settings or seed not in (None, handle.experiment.seed):
        raise ConflictError(f"experiment: {name!r} exists with other settings.")
    return experiment_answer(handle, have), new


def change_experiment(handle: ExperimentHandle, wanted: dict[str, Any]) -> Settings:
    """Change what is asked for; arms are named one by one, not as whole lists."""
    changes = {name: value for name, value in wanted.items() if value is not msgspec.UNSET}
    added = changes.pop("add_arms", [])
    retire = changes.pop("retire", [])
    restore = changes.pop("restore", [])
    if added or retire or restore:
        have = handle.settings
        arms = [*have.arms, *added]
        unknown = [arm for arm in [*retire, *restore] if arm not in arms]
        if unknown:
            raise RefusedError(f"experiment: there are no such arms; got {unknown!r:.300}.")
        retired = {*have.retired, *retire} - {*restore}
        changes["arms"] = arms
        changes["retired"] = [arm for arm in arms if arm in retired]
    return handle.change(**changes)
