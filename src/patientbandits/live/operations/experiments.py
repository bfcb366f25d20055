"""A new experiment: its row, the first line of its log, and who is known to be one person."""

from __future__ import annotations

import secrets

from msgspec.structs import replace

from patientbandits.live.commands import Journal, Persons
from patientbandits.live.errors import RefusedError
from patientbandits.live.log import AliasLine, ChangeLine, Experiment
from patientbandits.live.names import experiment_name
from patientbandits.live.settings import Settings, settings_text
from patientbandits.live.storage import LogStore, Reader, is_erased


def create_experiment(
    journal: Journal,
    called: str,
    settings: Settings,
    seed: int | None = None,
    created: int | None = None,
) -> tuple[Experiment, bool]:
    """(the experiment of this name, whether it is new); ``created``: when, if not now."""
    experiment_name(called)
    chosen = checked_seed(seed)

    def found() -> tuple[Experiment, bool]:
        when = journal.now() if created is None else created
        return insert_experiment(journal.store, called, settings, chosen, when)

    return journal.alone(found)


def checked_seed(seed: int | None) -> int:
    """The seed; one that nobody can guess, if none is given."""
    if seed is None:
        return secrets.randbits(62)
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**63:
        raise RefusedError(f"experiment: seed must be an integer in 0..2^63-1; got {seed!r}.")
    return seed


def insert_experiment(
    store: LogStore, called: str, settings: Settings, seed: int, created: int
) -> tuple[Experiment, bool]:
    """(the experiment of this name, whether it is new); within a transaction."""
    there = store.experiment(called)
    if there is not None:
        return there, False
    made = Experiment(id=store.next_experiment(), name=called, seed=seed, created=created)
    first = ChangeLine(
        experiment=made.id,
        seq=1,
        time=made.created,
        settings=settings_text(settings),
    )
    aliases = [
        replace(line, experiment=made.id, seq=place, time=made.created)
        for place, line in enumerate(known_aliases(store), first.seq + 1)
    ]
    store.add_experiment(made)
    store.append([first, *aliases])
    return made, True


def known_aliases(reader: Reader) -> list[AliasLine]:
    """Who is one person, as some experiment was told."""
    found: list[AliasLine] = []
    persons = Persons()
    for experiment in reader.experiments():
        for line in reader.lines_with_unit(experiment.id, AliasLine):
            if not (is_erased(line.unit) or persons.same(line.unit, line.other)):
                persons.join(line.unit, line.other)
                found.append(line)
    return found
