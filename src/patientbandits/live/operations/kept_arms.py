"""The check that every person kept the first arm that anybody of it was given.

It follows the log, because units that were given different arms may be joined later. Lines from
before the rule, and imported ones, begin a person's history but break nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from operator import attrgetter

from patientbandits.live.commands import AliasGroups
from patientbandits.live.log import AliasLine, AssignmentLine, ChangeLine, DecisionLine
from patientbandits.live.policy import Regimes
from patientbandits.live.settings import stored_settings
from patientbandits.live.storage import KEPT_FROM, WITH_SEVERAL_ARMS, Reader

UNITS_AT_A_TIME = 1000

StoredLine = DecisionLine | AssignmentLine
"""a line that gave a unit an arm"""


def broken_promises(reader: Reader, experiment: int) -> int:
    """The number of lines that gave a unit another arm than its person's."""
    changes = reader.changes(experiment)
    aliases = reader.lines_with_unit(experiment, AliasLine)
    units = {unit for (unit,) in reader.rows(WITH_SEVERAL_ARMS, experiment)}
    units.update(*(line.units for line in aliases))
    lines = [*given_lines(reader, experiment, iter(sorted(units))), *aliases]
    lines.sort(key=attrgetter("seq"))
    begin = int(reader.fact(f"{KEPT_FROM}{experiment}") or 1)
    imported = imported_lines(changes)
    return sum(
        line.seq >= begin and not any(line.seq in batch for batch in imported)
        for line in departures(lines, Regimes(changes))
    )


def given_lines(reader: Reader, experiment: int, units: Iterator[str]) -> Iterator[StoredLine]:
    while batch := list(islice(units, UNITS_AT_A_TIME)):
        for decided in reader.decided(experiment, "unit", batch):
            yield decided.decision
        yield from reader.named_lines(experiment, AssignmentLine, "unit", batch)


def imported_lines(changes: list[ChangeLine]) -> list[range]:
    """Each import's: a batch of exposures ends with a change that counts them."""
    before = 0
    batches = []
    for change in changes:
        imported = stored_settings(change.settings).imported
        if imported > before:
            batches.append(range(change.seq - (imported - before), change.seq))
        before = imported
    return batches


def departures(lines: Sequence[StoredLine | AliasLine], regimes: Regimes) -> Iterator[StoredLine]:
    """The lines whose arm is not the one that their person had then."""
    aliases = AliasGroups()
    arms_of: dict[str, list[StoredLine]] = {}
    """by the first unit of the person"""
    kept: dict[str, StoredLine | None] = {}
    for line in lines:
        if isinstance(line, AliasLine):
            both = {aliases.units(unit)[0] for unit in line.units}
            aliases.join(line.unit, line.other)
            person = aliases.units(line.unit)[0]
            joined = [one for before in both for one in arms_of.pop(before, ())]
            arms_of[person] = sorted(joined, key=attrgetter("seq"))
            kept[person] = None
            for one in arms_of[person]:
                kept[person] = regimes.kept_with(kept[person], one)
            continue
        person = aliases.units(line.unit or "")[0]
        before_it = kept.get(person)
        kept[person] = regimes.kept_with(before_it, line)
        arms_of.setdefault(person, []).append(line)
        if kept[person] is before_it is not None and before_it.arm != line.arm:
            yield line
