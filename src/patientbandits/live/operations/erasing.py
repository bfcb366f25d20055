"""What identifies a person goes; what was counted stays.

A person's lines stay in the log with their arms, times and values. Their names are replaced by
random ones, the same by the same within an experiment: so orders still belong to the decisions they
paid for, and everything that is counted from the log is as it was. Nobody can tell whose lines they
are, not even with the name in hand.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from msgspec.structs import replace

from patientbandits.live.commands import Journal, Persons, with_aliases
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
    alone_with,
    database_names,
    erased_name,
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
"""decisions wait for no more than that"""


class Erased(NamedTuple):
    experiments: int
    """in which the person was known"""
    lines: int


def erase_person(store: LogStore, unit: str) -> Erased:
    """Within a transaction: everywhere, with all units that an alias joins to this one."""
    experiments = store.experiments()
    units = units_everywhere(store, experiments, unit)
    known = 0
    lines = 0
    for experiment in experiments:
        found = lines_naming(store, experiment.id, units)
        if found:
            make_nameless(store, found, units)
            known += 1
            lines += len(found)
    return Erased(experiments=known, lines=lines)


def make_nameless(store: LogStore, lines: Sequence[Line], units: set[str]) -> None:
    """Rename the units in lines of one log; a rule that names one is said again by a new line.

    So those who read on, here or elsewhere, learn the rule's new name.
    """
    store.rename(nameless(lines, units))
    if any(isinstance(line, ChangeLine) for line in lines):
        experiment = lines[0].experiment
        now = store.changes(experiment)[-1]
        last = store.head(experiment)
        time = store.time(experiment, last)
        store.append([replace(now, seq=last + 1, time=time, chain=None)])


def units_everywhere(reader: Reader, experiments: Iterable[Experiment], unit: str) -> set[str]:
    """Those of the unit's person, as the experiments were told together."""
    listed = list(experiments)
    persons = Persons()
    units = {unit}
    before = 0
    while len(units) > before:
        before = len(units)
        for experiment in listed:
            units |= with_aliases(reader, experiment.id, units, persons)
    return units


def lines_naming(reader: Reader, experiment: int, units: set[str]) -> list[Line]:
    """All lines that name one of these units, oldest first."""
    wanted = sorted(units)
    found: dict[int, Line] = {}
    for kind in KINDS_WITH_UNITS:
        for line in reader.named_lines(experiment, kind, "unit", wanted):
            found[line.seq] = line
    for line in reader.named_lines(experiment, AliasLine, "key", wanted):
        found[line.seq] = line
    for line in reader.changes(experiment):
        if any(rule.unit in units for rule in stored_settings(line.settings).quarantine):
            found[line.seq] = line
    return [found[seq] for seq in sorted(found)]


def nameless(lines: Iterable[Line], units: set[str]) -> list[Line]:
    """The lines with random names, the same for the same; a decision's key is left out."""
    names = {unit: erased_name() for unit in units}
    orders: defaultdict[str, str] = defaultdict(erased_name)
    done: list[Line] = []
    for line in lines:
        if isinstance(line, ChangeLine):
            done.append(rules_renamed(line, lambda unit: names.get(unit, unit)))
        else:
            done.append(line.renamed(names.__getitem__, orders.__getitem__, lambda key: None))
    return done


def rules_renamed(line: ChangeLine, renamed: Callable[[str], str]) -> ChangeLine:
    """The change with other names in its quarantine."""
    have = stored_settings(line.settings)
    rules = []
    for rule in have.quarantine:
        unit = None if rule.unit is None else renamed(rule.unit)
        rules.append(replace(rule, unit=unit))
    if tuple(rules) == have.quarantine:
        return line
    settings = settings_text(replace(have, quarantine=tuple(rules)))
    return replace(line, settings=settings)


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
    """What came of a piece of the log."""

    names: bool
    """whether any were removed"""
    more: bool
    """whether there is another piece"""


def forget_some(store: LogStore, experiment: int, before: int) -> Forgotten:
    """Within a transaction: names of people who were last heard of before the time ``before``.

    A piece of the log at a time. A fact says how far it has come: what was passed because its
    person was still heard of later is met again with that later line.
    """
    fact = f"forgotten {experiment}"
    last = last_before(store, experiment, before)
    passed = int(store.fact(fact) or 0)
    lines = store.lines(experiment, passed, last, LINES_FORGOTTEN_AT_A_TIME)
    if not lines:
        return Forgotten(names=False, more=False)
    silent = silent_units(store, experiment, lines, last)
    found = lines_naming(store, experiment, silent)
    if found:
        make_nameless(store, found, silent)
    decisions = [line for line in lines if isinstance(line, DecisionLine)]
    keyed = [line for line in decisions if line.unit is None and line.key is not None]
    store.rename([replace(line, key=None) for line in keyed])
    store.set_fact(fact, str(lines[-1].seq))
    return Forgotten(names=bool(found or keyed), more=lines[-1].seq < last)


def silent_units(reader: Reader, experiment: int, lines: Iterable[Line], last: int) -> set[str]:
    """The units of people in ``lines`` who are named in no line after ``last``."""
    units: set[str] = set()
    for line in lines:
        units.update(name for name in line.units if not is_erased(name))
    persons = Persons()
    everyone = with_aliases(reader, experiment, units, persons)
    heard: set[str] = set()
    for line in lines_naming(reader, experiment, everyone):
        if line.seq > last:
            for unit in line.units:
                heard.update(persons.units(unit))
    return everyone - heard


def hash_names(store: LogStore, names: Pseudonyms) -> int:
    """Within a transaction: replace every name in the clear by its hash; how many lines."""
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
        return rules_renamed(line, unit)
    order = partial(unless_erased, names.order)
    return line.renamed(unit, order, partial(unless_erased, names.key))


def unless_erased(naming: Callable[[str], str], name: str) -> str:
    return name if is_erased(name) else naming(name)


# Whose names are removed, and when: on request, after the retention, or all by their hashes.


def erase_unit(journal: Journal, unit: str) -> Erased:
    """Remove what identifies the unit, and all that aliases join to it, everywhere."""
    printable_text("erase: unit", unit)
    name = journal.names.unit(unit)
    erased = journal.alone(partial(erase_person, journal.store, name))
    journal.leave_no_traces()
    return erased


def forget_silent(journal: Journal, experiments: Iterable[ExperimentHandle]) -> None:
    """Remove what identifies people of whom nothing was heard for an experiment's retention."""
    forgot = False
    for handle in experiments:
        retention = handle.settings.retention
        if retention is None:
            continue
        before = journal.now() - int(retention * SECOND)
        some = partial(forget_some, journal.store, handle.experiment.id, before)
        more = True
        while more:
            names, more = journal.alone(some)
            forgot |= names
    if forgot:
        journal.leave_no_traces()


def hash_units(journal: Journal) -> int:
    """Hash all names that are kept in the clear; how many lines have changed."""
    names = Pseudonyms(database_names(journal.store).secret, HASHED)
    if journal.names.way == HASHED:
        return 0
    with alone_with(journal.store.location, "units"):
        changed = journal.alone(partial(hash_names, journal.store, names))
        journal.leave_no_traces()
    journal.names = names
    return changed
