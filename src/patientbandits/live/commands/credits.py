"""What decisions are worth, and which of them the log says something else of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from patientbandits.live.commands.people import People, own_payments
from patientbandits.live.log import CreditLine, Decided, OrderLine
from patientbandits.live.settings import WORTHLESS, Settings, Worth, decision_quarantined, summed
from patientbandits.live.storage import Reader


def recorded_worth(about: Decided, settings: Settings) -> Worth:
    """What the log says that the decision is worth."""
    if about.credits:
        last = about.credits[-1]
        return Worth(last.value, last.happened)
    conversion = about.conversion
    if conversion is None or about.retraction is not None or not conversion.value:
        return WORTHLESS
    if not settings.counts(conversion.happened - about.decision.made):
        return WORTHLESS
    return Worth(conversion.value, conversion.happened)


def credits_due(
    people: People, units: Iterable[str], settings: Settings
) -> Iterator[tuple[Decided, Worth]]:
    """The decisions for the people behind ``units`` whose recorded worth is not the right one."""
    for unit in units:
        for about, worth in people.worths(unit):
            if recorded_worth(about, settings) != worth:
                yield about, worth


def credit_line(about: Decided, worth: Worth, seq: int, time: int) -> CreditLine:
    return CreditLine(
        experiment=about.decision.experiment,
        seq=seq,
        time=time,
        value=worth.value,
        happened=worth.happened,
        decision=about.decision.seq,
    )


def own_worth(about: Decided, settings: Settings) -> Worth:
    """What a decision without a unit is worth: what it was paid by its id."""
    made = about.decision
    if decision_quarantined(settings.quarantine, made.made, made.unit, made.sender):
        return WORTHLESS
    return summed(own_payments(about, settings.crediting, settings.quarantine))


def all_credits_due(
    reader: Reader, experiment: int, settings: Settings, everyone: bool = False
) -> list[tuple[Decided, Worth]]:
    """Of everyone who ever ordered: what must be written when settings have changed.

    ``everyone``: also of decisions that were paid by their id alone, which a quarantine, but no
    other setting, makes worth something else.
    """
    units = {line.unit for line in reader.lines_with_unit(experiment, OrderLine)}
    alone: list[Decided] = []
    if everyone:
        converted = reader.converted(experiment)
        units |= {about.decision.unit for about in converted if about.decision.unit is not None}
        alone = [about for about in converted if about.decision.unit is None]
    people = People({}, settings.crediting, settings.quarantine)
    people.look_up(reader, experiment, units, set())
    one_each = {tuple(people.persons.units(unit)): unit for unit in sorted(units)}
    due = list(credits_due(people, one_each.values(), settings))
    for about in alone:
        worth = own_worth(about, settings)
        if recorded_worth(about, settings) != worth:
            due.append((about, worth))
    return due
