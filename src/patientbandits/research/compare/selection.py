"""Which problems and contenders take part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from patientbandits.errors import InputError, choice, items
from patientbandits.research.compare.contenders import Contender, contenders
from patientbandits.research.compare.delay_bench import suite
from patientbandits.research.compare.suite import Case


def chosen(
    problems: Sequence[str | Case] | None,
    players: Sequence[str | Contender] | None,
    quick: bool,
    seed: int,
) -> tuple[list[Case], list[Contender]]:
    """The problems and contenders that take part: the named ones, all, or with ``quick`` a few.

    ``seed`` decides on the random problems.
    """
    cases: list[Case] = pick("problem", suite(seed), problems, Case)
    known: list[Contender] = pick("policy", contenders(), players, Contender)
    if quick and problems is None:
        cases = [case for case in cases if case.quick]
    if quick and players is None:
        known = [player for player in known if player.quick]
    return cases, known


def pick(what: str, known: Sequence[Any], names: Sequence[Any] | None, kind: type) -> list[Any]:
    """Those of ``known`` with the ``names``, in their order; all for None.

    A member of ``kind`` stands for itself.
    """
    if names is None:
        return list(known)
    by_name = {member.name: member for member in known}
    picked: list[Any] = []
    for name in items("compare", what, names):
        if isinstance(name, kind):
            picked.append(name)
        else:
            picked.append(by_name[choice("compare", what, name, by_name)])
    found = [member.name for member in picked]
    repeated = sorted({name for name in found if found.count(name) > 1})
    if repeated or not picked:
        got = ", ".join(repeated) or "none"
        raise InputError(f"compare: every {what} is needed once, and at least one; got {got}.")
    return picked
