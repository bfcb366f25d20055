"""What identifies a person goes; what was counted stays.

A person's lines stay in the log with their arms, times and values. Their names are replaced by
random ones, the same by the same within an experiment: so orders still belong to the decisions they
paid for, and everything that is counted from the log is as it was. Nobody can tell whose lines they
are, not even with the name in hand.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from patientbandits.live.log_line import LogLine
from patientbandits.live.people import Persons, with_aliases
from patientbandits.live.pseudonyms import HASHED, Pseudonyms, erased_name, is_erased
from patientbandits.live.store.base import NAMES_KEPT, Experiment, Reader
from patientbandits.live.store.log_store import LogStore

KINDS_WITH_UNITS = ("decision", "assignment", "order", "goal", "alias")
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
            store.rename(nameless(found))
            known += 1
            lines += len(found)
    return Erased(experiments=known, lines=lines)


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


def lines_naming(reader: Reader, experiment: int, units: set[str]) -> list[LogLine]:
    """All lines that name one of these units, oldest first."""
    wanted = sorted(units)
    found: dict[int, LogLine] = {}
    for kind in KINDS_WITH_UNITS:
        for line in reader.named_lines(experiment, kind, "unit", wanted):
            found[line.seq] = line
    for line in reader.named_lines(experiment, "alias", "key", wanted):
        found[line.seq] = line
    return [found[seq] for seq in sorted(found)]


def nameless(lines: Iterable[LogLine]) -> list[LogLine]:
    """The lines with random names, the same for the same; a decision's key is left out."""
    units: defaultdict[str, str] = defaultdict(erased_name)
    orders: defaultdict[str, str] = defaultdict(erased_name)
    done = []
    for line in lines:
        unit = None if line.unit is None else units[line.unit]
        key = None
        if line.key is not None and line.kind != "decision":
            key = units[line.key] if line.kind == "alias" else orders[line.key]
        done.append(line._replace(unit=unit, key=key))
    return done


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


def forget_some(store: LogStore, experiment: int, before: int) -> bool:
    """Within a transaction: names of people who were last heard of before the time ``before``.

    A piece of the log at a time; whether there is more. A fact says how far it has come: what was
    passed because its person was still heard of later is met again with that later line.
    """
    fact = f"forgotten {experiment}"
    last = last_before(store, experiment, before)
    passed = int(store.fact(fact) or 0)
    lines = store.lines(experiment, passed, last, LINES_FORGOTTEN_AT_A_TIME)
    if not lines:
        return False
    store.rename(nameless(silent_lines(store, experiment, lines, last)))
    store.set_fact(fact, str(lines[-1].seq))
    return lines[-1].seq < last


def silent_lines(
    reader: Reader, experiment: int, lines: Iterable[LogLine], last: int
) -> list[LogLine]:
    """Of the people in ``lines`` who are named in no line after ``last``: all their lines."""
    keyed = []
    units: set[str] = set()
    for line in lines:
        if line.unit is None and line.key is not None:
            keyed.append(line)
        elif line.unit is not None and not is_erased(line.unit):
            units.add(line.unit)
        if line.kind == "alias" and line.key is not None and not is_erased(line.key):
            units.add(line.key)
    persons = Persons()
    everyone = with_aliases(reader, experiment, units, persons)
    naming = lines_naming(reader, experiment, everyone)
    heard: set[str] = set()
    for line in naming:
        if line.seq > last and line.unit is not None:
            heard.update(persons.units(line.unit))
    silent = [line for line in naming if line.unit not in heard]
    return [*keyed, *silent]


def hash_names(store: LogStore, names: Pseudonyms) -> int:
    """Within a transaction: replace every name in the clear by its hash; how many lines."""
    changed = 0

    def hashed(line: LogLine) -> LogLine:
        nonlocal changed
        renamed = hashed_line(line, names)
        changed += renamed != line
        return renamed

    for experiment in store.experiments():
        store.rechain(experiment.id, hashed)
    store.set_fact(NAMES_KEPT, HASHED)
    store.seal()
    return changed


def hashed_line(line: LogLine, names: Pseudonyms) -> LogLine:
    unit = line.unit
    if unit is not None and not is_erased(unit):
        unit = names.unit(unit)
    key = line.key
    if key is not None and not is_erased(key):
        naming = {"decision": names.key, "alias": names.unit}.get(line.kind, names.order)
        key = naming(key)
    return line._replace(unit=unit, key=key)
