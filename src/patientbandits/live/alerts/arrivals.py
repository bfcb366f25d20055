"""When conversions came, and how many should have: the log as alerts read it.

It is read on from where it was left; a quarantine makes it begin anew.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from patientbandits.live.alerts.ratio import RatioTest
from patientbandits.live.log_line import LogLine
from patientbandits.live.quarantine import quarantined
from patientbandits.live.settings import Settings
from patientbandits.live.store import queries
from patientbandits.live.store.base import Reader
from patientbandits.live.times import SECOND

ROWS_READ_AT_A_TIME = 20_000


class Paid(NamedTuple):
    """A decision that is worth something, and when that was first told."""

    arm: int
    made: float
    told: float
    """seconds; when it happened, if that was said and long before"""
    worth: int


class Message(NamedTuple):
    """A conversion or an order as it was told, counted or not."""

    told: float
    unit: str | None
    seq: int = 0


class WatchedLog:
    """Decisions and what was paid, up to line ``seq``; times in seconds since 1970."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.seq = 0
        self.ratio = RatioTest(len(settings.arms))
        self.made: list[list[float]] = [[] for _ in settings.arms]
        """of each arm: when its decisions were made"""
        self.paid: dict[int, Paid] = {}
        """by decision"""
        self.messages: list[Message] = []

    def fits(self, settings: Settings) -> bool:
        """Whether it can be read on."""
        have = self.settings
        return have.arms == settings.arms and have.quarantine == settings.quarantine

    def read_on(self, reader: Reader, experiment: int) -> None:
        head = reader.head(experiment)
        while self.seq < head:
            last = min(self.seq + ROWS_READ_AT_A_TIME, head)
            self._decisions(reader.rows(queries.WATCHED_DECISIONS, experiment, self.seq, last))
            for row in reader.rows(queries.WATCHED_PAYMENTS, experiment, self.seq, last):
                self._payment(experiment, row)
            self.seq = last

    def _decisions(self, rows: list[tuple[Any, ...]]) -> None:
        known = []
        for seq, arm, made, propensity, unit, sender in rows:
            rules = self.settings.quarantine
            if rules and quarantined(rules, decision_of(seq, arm, made, unit, sender)):
                continue
            self.made[arm].append(made / SECOND)
            if propensity is not None:
                known.append((arm, propensity))
        if known:
            arms, propensities = zip(*known, strict=True)
            self.ratio.add(np.array(arms), np.array(propensities))

    def _payment(self, experiment: int, row: tuple[Any, ...]) -> None:
        seq, kind, time, decision, value, happened, stated, unit, sender, arm, made = row
        rules = self.settings.quarantine
        line = LogLine(experiment=experiment, seq=seq, kind=kind, time=time, sender=sender)
        told = message_time(time, happened, stated)
        if kind in ("conversion", "order") and value and not quarantined(rules, line, unit):
            self.messages.append(Message(told=told, unit=unit, seq=seq))
        if kind == "order" or arm is None:
            return
        worth = 0 if kind == "retraction" else value
        have = self.paid.get(decision)
        if have is not None:
            self.paid[decision] = have._replace(worth=worth)
        elif worth:
            self.paid[decision] = Paid(arm=arm, made=made / SECOND, told=told, worth=worth)

    def arrivals(self) -> list[Paid]:
        """Those that count, by time."""
        return sorted((one for one in self.paid.values() if one.worth), key=told_at)


def told_at(one: Paid | Message) -> float:
    return one.told


def message_time(time: int, happened: int | None, stated: int | None) -> float:
    """When a conversion came: as it was told, or as it happened if others collected it first."""
    if stated is not None and happened is not None:
        return happened / SECOND
    return time / SECOND


def decision_of(seq: int, arm: int, made: int, unit: str | None, sender: str | None) -> LogLine:
    return LogLine(
        experiment=0, seq=seq, kind="decision", time=made, arm=arm, unit=unit, sender=sender
    )
