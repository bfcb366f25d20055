"""Whose names are removed, and when: on request, after the retention, or all by their hashes."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from patientbandits.live.commands import Journal
from patientbandits.live.experiment import ExperimentHandle
from patientbandits.live.names import printable_text
from patientbandits.live.operations.erasing import Erased, erase_person, forget_some, hash_names
from patientbandits.live.storage import HASHED, Pseudonyms, alone_with, database_names
from patientbandits.live.times import SECOND


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
