"""New experiments: a row, the first line of its log, and the aliases that are known so far."""

from __future__ import annotations

import secrets

from msgspec.structs import replace

from patientbandits.live.commands import AliasGroups, Journal
from patientbandits.live.errors import RefusedError
from patientbandits.live.log import AliasLine, ChangeLine, Experiment
from patientbandits.live.names import experiment_name
from patientbandits.live.settings import Settings, settings_text
from patientbandits.live.storage import WITH_ALIASES, LogStore, Reader, is_erased


def create_experiment(
    journal: Journal,
    name: str,
    settings: Settings,
    seed: int | None = None,
    created: int | None = None,
    by: str | None = None,
) -> tuple[Experiment, bool]:
    """(the experiment of this name, whether it is new); ``created``: when, if not now."""
    experiment_name(name)
    chosen = checked_seed(seed)

    def insert() -> tuple[Experiment, bool]:
        when = journal.now() if created is None else created
        return insert_experiment(journal.store, name, settings, chosen, when, by)

    return journal.alone(insert)


def checked_seed(seed: int | None) -> int:
    """The seed, or one that nobody can guess."""
    if seed is None:
        return secrets.randbits(62)
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**63:
        raise RefusedError(f"experiment: seed must be an integer in 0..2^63-1; got {seed!r}.")
    return seed


def insert_experiment(
    store: LogStore,
    name: str,
    settings: Settings,
    seed: int,
    created: int,
    by: str | None = None,
) -> tuple[Experiment, bool]:
    """Within a transaction: (the experiment of this name, whether it is new)."""
    existing = store.experiment(name)
    if existing is not None:
        return existing, False
    experiment = Experiment(id=store.next_experiment(), name=name, seed=seed, created=created)
    change = ChangeLine(
        experiment=experiment.id,
        seq=1,
        time=experiment.created,
        settings=settings_text(settings),
        sender=by,
    )
    aliases = [
        replace(line, experiment=experiment.id, seq=seq, time=experiment.created)
        for seq, line in enumerate(all_aliases(store), change.seq + 1)
    ]
    store.add_experiment(experiment)
    store.append([change, *aliases])
    return experiment, True


def all_aliases(reader: Reader) -> list[AliasLine]:
    """The aliases of all experiments, without those that follow from others."""
    aliases: list[AliasLine] = []
    groups = AliasGroups()
    experiments = {experiment.id: experiment for experiment in reader.experiments()}
    with_any = [number for (number,) in reader.rows(WITH_ALIASES) if number in experiments]
    for number in sorted(with_any, key=lambda number: experiments[number].name):
        for line in reader.lines_with_unit(number, AliasLine):
            if not (is_erased(line.unit) or groups.same(line.unit, line.other)):
                groups.join(line.unit, line.other)
                aliases.append(line)
    return aliases
