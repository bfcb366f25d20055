"""Goals beside the one that decides, and how often each arm's decisions reached them.

Goals are credited to decisions as orders are, by the same rule and window, but only when a report
asks for it: the log keeps what was reported, and the policy never learns of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, NamedTuple

from patientbandits.live.commands import BatchPeople
from patientbandits.live.log import MILLIONTHS, AliasLine, UnitGoalLine
from patientbandits.live.reporting.cohorts import excluded_decisions
from patientbandits.live.settings import Exposure, Payment, Settings, quarantined
from patientbandits.live.storage import Reader, queries


class GoalCredit(NamedTuple):
    """A decision that is credited with reaching a goal once."""

    goal: str
    arm: int
    decision: int
    """its line"""
    value: int
    """in millionths of the scale"""
    known: int
    """from when on it counts: the later time of both"""


@dataclass
class GoalTally:
    """The counts of one arm."""

    count: int = 0
    value: int = 0
    decisions: set[int] = field(default_factory=set)

    def add(self, credit: GoalCredit) -> None:
        self.count += 1
        self.value += credit.value
        self.decisions.add(credit.decision)


def goal_credits(reader: Reader, experiment: int, settings: Settings) -> Iterator[GoalCredit]:
    """A credit for each decision and each time that it is credited."""
    if len(settings.goals) < 2:
        return
    aliases = reader.lines_with_unit(experiment, AliasLine)
    joined = {name for line in aliases for name in line.units}
    if settings.quarantine:  # SQL credits units alone; `BatchPeople` applies aliases and quarantine
        joined |= {line.unit for line in reader.lines_with_unit(experiment, UnitGoalLine)}
    yield from _by_decision(reader, experiment, settings)
    yield from _by_unit(reader, experiment, settings, joined)
    if joined:
        yield from _by_person(reader, experiment, settings, joined)


def _by_decision(reader: Reader, experiment: int, settings: Settings) -> Iterator[GoalCredit]:
    excluded = excluded_decisions(reader.rows, experiment, settings.quarantine)
    excluded_seqs = {decision.seq for decision in excluded}
    for row in reader.rows(queries.GOALS_OF_DECISIONS, experiment):
        goal, happened, value, decision, decided, arm, reported, sender, unit = row
        if decision in excluded_seqs or quarantined(settings.quarantine, reported, unit, sender):
            continue
        if settings.counts(happened - decided):
            yield GoalCredit(goal, arm, decision, value, max(decided, happened))


def _by_unit(
    reader: Reader, experiment: int, settings: Settings, joined: set[str]
) -> Iterator[GoalCredit]:
    """Credits of units that are a person by themselves."""
    rows = sorted(reader.rows(queries.GOALS_OF_UNITS, experiment))
    for _, group in groupby(rows, key=lambda row: row[0]):
        pairs = list(group)
        seq, goal, happened, value, unit = pairs[0][:5]
        if unit in joined:
            continue
        arms = {decision: arm for *_, decision, _, arm in pairs}
        exposures = sorted(
            Exposure(time=decided, seq=decision) for *_, decision, decided, _ in pairs
        )
        payment = Payment(happened=happened, seq=seq, value=value)
        for exposure in settings.crediting.paid_by(payment, exposures):
            yield GoalCredit(goal, arms[exposure.seq], exposure.seq, value, happened)


def _by_person(
    reader: Reader, experiment: int, settings: Settings, joined: set[str]
) -> Iterator[GoalCredit]:
    """Credits of people who have several units."""
    decided: dict[int, Any] = {}
    people = BatchPeople(decided, settings.crediting, settings.quarantine)
    people.look_up(reader, experiment, joined, set(), goals=True)
    for goal, reached in people.goals():
        for exposure in people.paid_by(reached):
            arm = decided[exposure.seq].decision.arm
            payment = reached.payment
            yield GoalCredit(goal, arm, exposure.seq, payment.value, payment.happened)


def goal_report(
    reader: Reader, experiment: int, settings: Settings, pulls: list[int], now: int
) -> list[dict[str, Any]]:
    """The counts of each goal but the one that decides; ``pulls``: the decisions of each arm.

    What happened after ``now`` does not count yet.

    count   how often it was reached      units   decisions that reached it at least once
    rate    units / decisions             value   the sum of what was reported
    """
    tallies = {goal: [GoalTally() for _ in settings.arms] for goal in settings.goals[1:]}
    for credit in goal_credits(reader, experiment, settings):
        if credit.known <= now:
            tallies[credit.goal][credit.arm].add(credit)
    report = []
    for goal, arms in tallies.items():
        rows = []
        for name, tally, decisions in zip(settings.arms, arms, pulls, strict=True):
            rows.append(_goal_row(name, tally, decisions, settings.scale))
        report.append({"goal": goal, "arms": rows})
    return report


def _goal_row(arm: str, tally: GoalTally, pulls: int, scale: float) -> dict[str, Any]:
    units = len(tally.decisions)
    return {
        "arm": arm,
        "count": tally.count,
        "units": units,
        "rate": units / pulls if pulls else None,
        "value": tally.value / MILLIONTHS * scale,
    }
