"""Privacy: erase people on request, forget them after the retention, hash names afterwards.

A person's lines stay in the log with their arms, times and values; only the names are replaced by
random ones. Within an experiment a name is replaced by the same name everywhere, so orders still
belong to the decisions they paid for, and every count is as before. Nobody can tell whose lines
they are, not even with the name in hand.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from msgspec.structs import replace

from patientbandits.live.commands import AliasGroups, Journal, with_aliases
from patientbandits.live.experiment import ExperimentHandle
from patientbandits.live.log import (
    AliasLine,
    AssignmentLine,
    ChangeLine,
    DecisionLine,
    Experiment,
    Line,
    OrderLine,
    UnitGoalLine,
)
from patientbandits.live.names import printable_text
from patientbandits.live.settings import settings_text, stored_settings
from patientbandits.live.storage import (
    HASHED,
    NAMES_KEPT,
    LogStore,
    Pseudonyms,
    Reader,
    database_names,
    erased_name,
    exclusive_lock,
    is_erased,
)
from patientbandits.live.times import SECOND

KINDS_WITH_UNITS: tuple[type[Line], ...] = (
    DecisionLine,
    AssignmentLine,
    OrderLine,
    UnitGoalLine,
    AliasLine,
)
LINES_FORGOTTEN_AT_A_TIME = 200
"""decisions have to wait for one such batch"""


class Erased(NamedTuple):
    experiments: int
    """that knew the person"""
    lines: int


def erase_unit(journal: Journal, unit: str) -> Erased:
    """Remove what identifies the unit and all its aliases, everywhere."""
    printable_text("erase: unit", unit)
    name = journal.names.unit(unit)
    erased = journal.alone(partial(erase_person, journal.store, name))
    journal.leave_no_traces()
    return erased


def forget_silent(journal: Journal, experiments: Iterable[ExperimentHandle]) -> None:
    """Remove what identifies people without any line within their experiment's retention."""
    forgot = False
    for handle in experiments:
        retention = handle.settings.retention
        if retention is None:
            continue
        before = journal.now() - int(retention * SECOND)
        forget_batch = partial(forget_some, journal.store, handle.experiment.id, before)
        more = True
        while more:
            names, more = journal.alone(forget_batch)
            forgot |= names
    if forgot:
        journal.leave_no_traces()


def hash_units(journal: Journal) -> int:
    """Hash all names that are kept in the clear; how many lines have changed."""
    names = Pseudonyms(database_names(journal.store).secret, HASHED)
    if journal.names.way == HASHED:
        return 0
    with exclusive_lock(journal.store.location, "units"):
        changed = journal.alone(partial(hash_names, journal.store, names))
        journal.leave_no_traces()
    journal.names = names
    return changed


def erase_person(store: LogStore, unit: str) -> Erased:
    """Within a transaction: erase the unit's person everywhere, with all aliases."""
    experiments = store.experiments()
    units = units_everywhere(store, experiments, unit)
    touched = 0
    total = 0
    for experiment in experiments:
        lines = lines_naming(store, experiment.id, units)
        if lines:
            replace_names(store, lines, units)
            touched += 1
            total += len(lines)
    return Erased(experiments=touched, lines=total)


def replace_names(store: LogStore, lines: Sequence[Line], units: set[str]) -> None:
    """Replace the units' names in lines of one log.

    A quarantine rule that names one is repeated in a new line, so that readers who are past the old
    line, in this process or another, learn the rule's new name.
    """
    store.rename(anonymous(lines, units))
    if any(isinstance(line, ChangeLine) for line in lines):
        experiment = lines[0].experiment
        current = store.changes(experiment)[-1]
        last = store.head(experiment)
        time = store.time(experiment, last)
        store.append([replace(current, seq=last + 1, time=time, chain=None)])


def units_everywhere(reader: Reader, experiments: Iterable[Experiment], unit: str) -> set[str]:
    """The units of the unit's person by the aliases of all experiments together."""
    listed = list(experiments)
    groups = AliasGroups()
    units = {unit}
    before = 0
    # An alias in one experiment may lead to a unit with aliases in another: until no more are new.
    while len(units) > before:
        before = len(units)
        for experiment in listed:
            units |= with_aliases(reader, experiment.id, units, groups)
    return units


def lines_naming(reader: Reader, experiment: int, units: set[str]) -> list[Line]:
    """All lines that name one of these units, oldest first."""
    names = sorted(units)
    lines: dict[int, Line] = {}
    for kind in KINDS_WITH_UNITS:
        for line in reader.named_lines(experiment, kind, "unit", names):
            lines[line.seq] = line
    for line in reader.named_lines(experiment, AliasLine, "key", names):
        lines[line.seq] = line
    for line in reader.changes(experiment):
        if any(rule.unit in units for rule in stored_settings(line.settings).quarantine):
            lines[line.seq] = line
    return [lines[seq] for seq in sorted(lines)]


def anonymous(lines: Iterable[Line], units: set[str]) -> list[Line]:
    """The lines with random names, equal ones for equal ones; a decision's key is left out."""
    names = {unit: erased_name() for unit in units}
    orders: defaultdict[str, str] = defaultdict(erased_name)
    renamed: list[Line] = []
    for line in lines:
        if isinstance(line, ChangeLine):
            renamed.append(with_renamed_rules(line, lambda unit: names.get(unit, unit)))
        else:
            renamed.append(line.renamed(names.__getitem__, orders.__getitem__, lambda key: None))
    return renamed


def with_renamed_rules(line: ChangeLine, rename: Callable[[str], str]) -> ChangeLine:
    """The change with other names in its quarantine."""
    settings = stored_settings(line.settings)
    rules = []
    for rule in settings.quarantine:
        unit = None if rule.unit is None else rename(rule.unit)
        rules.append(replace(rule, unit=unit))
    if tuple(rules) == settings.quarantine:
        return line
    return replace(line, settings=settings_text(replace(settings, quarantine=tuple(rules))))


def last_before(reader: Reader, experiment: int, time: int) -> int:
    """The last line written before ``time``, or 0; the log's time never goes back."""
    low = 0
    high = reader.head(experiment)
    while low < high:
        middle = (low + high + 1) // 2
        if reader.time(experiment, middle) < time:
            low = middle
        else:
            high = middle - 1
    return low


class Forgotten(NamedTuple):
    """The outcome for a batch of lines."""

    names: bool
    """whether any were removed"""
    more: bool
    """whether there is another batch"""


def forget_some(store: LogStore, experiment: int, before: int) -> Forgotten:
    """Within a transaction: remove names of people whose last line is before the time ``before``.

    It goes through the log in batches, and keeps how far it has come in the database. A person who
    has later lines is passed over, and is met again with those.
    """
    fact = f"forgotten {experiment}"
    last = last_before(store, experiment, before)
    passed = int(store.fact(fact) or 0)
    lines = store.lines(experiment, passed, last, LINES_FORGOTTEN_AT_A_TIME)
    if not lines:
        return Forgotten(names=False, more=False)
    silent = silent_units(store, experiment, lines, last)
    naming = lines_naming(store, experiment, silent)
    if naming:
        replace_names(store, naming, silent)
    # The key of a decision without a unit belongs to nobody who could be heard of again.
    decisions = [line for line in lines if isinstance(line, DecisionLine)]
    keyed = [line for line in decisions if line.unit is None and line.key is not None]
    store.rename([replace(line, key=None) for line in keyed])
    store.set_fact(fact, str(lines[-1].seq))
    return Forgotten(names=bool(naming or keyed), more=lines[-1].seq < last)


def silent_units(reader: Reader, experiment: int, lines: Iterable[Line], last: int) -> set[str]:
    """The units of people in ``lines`` who are named in no line after ``last``."""
    units: set[str] = set()
    for line in lines:
        units.update(name for name in line.units if not is_erased(name))
    groups = AliasGroups()
    everyone = with_aliases(reader, experiment, units, groups)
    heard: set[str] = set()
    for line in lines_naming(reader, experiment, everyone):
        if line.seq > last:
            for unit in line.units:
                heard.update(groups.units(unit))
    return everyone - heard


def hash_names(store: LogStore, names: Pseudonyms) -> int:
    """Within a transaction: hash every name in the clear; how many lines have changed."""
    changed = 0

    def hashed(line: Line) -> Line:
        nonlocal changed
        renamed = hashed_line(line, names)
        changed += renamed != line
        return renamed

    for experiment in store.experiments():
        store.rechain(experiment.id, hashed)
    store.set_fact(NAMES_KEPT, HASHED)
    store.seal()
    return changed


def hashed_line(line: Line, names: Pseudonyms) -> Line:
    unit = partial(unless_erased, names.unit)
    if isinstance(line, ChangeLine):
        return with_renamed_rules(line, unit)
    order = partial(unless_erased, names.order)
    return line.renamed(unit, order, partial(unless_erased, names.key))


def unless_erased(naming: Callable[[str], str], name: str) -> str:
    return name if is_erased(name) else naming(name)
