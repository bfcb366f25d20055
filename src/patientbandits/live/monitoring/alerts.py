"""Alerts on an experiment: looked for in its log, raised once, active until they are over.

`Watch.look` reads the log on, computes the findings of the moment, and stores what has changed:
a new finding raises an alert, one that is gone clears it, and both queue messages for webhooks. All
of it happens aside from decisions.

An alert's id is a hash of its subject, line and time, and a message's id is made of the alert's, so
whoever gets a message twice can tell. Alerts and messages are written in one transaction: none is
lost, whenever the process ends.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import msgspec
import numpy as np

from patientbandits.live.commands import Journal
from patientbandits.live.log import Experiment
from patientbandits.live.monitoring.findings import LASTING, OF_SERVICE, Finding
from patientbandits.live.monitoring.ratio import RatioTest
from patientbandits.live.monitoring.surprises import (
    ArmModel,
    bursts,
    frequent_units,
    jumps,
    stopped,
)
from patientbandits.live.monitoring.watched_log import ArmArrivals, Messages, WatchedLog
from patientbandits.live.reporting import curve_times, posteriors_of, read_cohorts, verdict_on
from patientbandits.live.settings import Settings, stored_settings
from patientbandits.live.storage import LogStore, Reader, queries
from patientbandits.live.times import SECOND, iso_text

LEADS = 0.9
"""the probability of being the best arm from which on an arm is said to lead"""

LARGEST_LEAD = 60.0
"""seconds by which a log may be ahead of the clock"""

CHEAP = 0.05
"""processor seconds: an analysis that takes less is not cached"""

GROWTH = 64
MAX_AGE = 3600.0
"""seconds for which a cached analysis is used"""


Others = Callable[[str], list[Finding]]


class Watch:
    """Looks at experiments, each time from where the last look ended.

    ``others``: findings of the service about an experiment, by its name; None if this is not the
    service, whose alerts then stay as they are.
    """

    def __init__(self, journal: Journal, others: Others | None = None) -> None:
        self._journal = journal
        self._others = others
        self._logs: dict[int, WatchedLog] = {}
        self._analyses: dict[int, AnalysisCache] = {}

    def look(self, experiment: Experiment) -> list[dict[str, Any]]:
        """Compute the findings, store and queue what has changed; the alerts active now."""
        journal = self._journal
        now = journal.now()
        with journal.store.reading() as reader:
            settings = stored_settings(reader.changes(experiment.id)[-1].settings)
            log = self._log(experiment, settings)
            log.read_on(reader, experiment.id)
            last = reader.time(experiment.id, log.seq)
            moment = max(now, last)
            findings = process_findings(journal, experiment, last, now)
            cache = self._analyses.setdefault(experiment.id, AnalysisCache())
            findings += log_findings(reader, experiment, settings, log, cache, moment)
            active = active_alerts(reader, experiment.id)
            findings += self._findings_of_service(experiment, active)
        # Mostly nothing has changed; then no transaction holds up decisions.
        if {finding.key for finding in findings} != {alert.key for alert in active}:
            store = partial(store_findings, journal.store, experiment, findings, log.seq, moment)
            journal.alone(store)
        with journal.store.reading() as reader:
            return current_alerts(reader, experiment.id)

    def _findings_of_service(
        self, experiment: Experiment, active: Sequence[StoredAlert]
    ) -> list[Finding]:
        if self._others is not None:
            return self._others(experiment.name)
        kept = [alert for alert in active if alert.kind in OF_SERVICE]
        return [Finding(alert.kind, alert.subject, alert.words, {}) for alert in kept]

    def _log(self, experiment: Experiment, settings: Settings) -> WatchedLog:
        log = self._logs.get(experiment.id)
        if log is None or not log.fits(settings):
            log = self._logs[experiment.id] = WatchedLog(settings)
        log.settings = settings
        return log


# Stored alerts


class StoredAlert(NamedTuple):
    """A row of the table; times in microseconds."""

    id: str
    experiment: int
    kind: str
    subject: str
    raised: int
    seq: int
    words: str
    data: str
    cleared: int | None

    @property
    def key(self) -> tuple[str, str]:
        return self.kind, self.subject

    def plain(self) -> dict[str, Any]:
        """Plain data for users."""
        return {
            "id": self.id,
            "kind": self.kind,
            "subject": self.subject or None,
            "raised": iso_text(self.raised),
            "words": self.words,
            "data": msgspec.json.decode(self.data),
        }


def active_alerts(reader: Reader, experiment: int) -> list[StoredAlert]:
    """Alerts that are not cleared, oldest first."""
    return [StoredAlert(*row) for row in reader.rows(queries.STANDING, experiment)]


def current_alerts(reader: Reader, experiment: int) -> list[dict[str, Any]]:
    """The active alerts as plain data for users."""
    return [alert.plain() for alert in active_alerts(reader, experiment)]


def all_active(reader: Reader) -> list[tuple[str, str, str]]:
    """(experiment, kind, subject) of the active alerts of all experiments."""
    return [(row[0], row[1], row[2]) for row in reader.rows(queries.ALL_STANDING)]


def store_findings(
    store: LogStore, experiment: Experiment, findings: Sequence[Finding], seq: int, now: int
) -> None:
    """Within a transaction: raise what is new, clear what is over, queue messages of both."""
    active = {alert.key: alert for alert in active_alerts(store, experiment.id)}
    by_key = {finding.key: finding for finding in findings}
    kinds = {finding.kind for finding in findings}
    for key, alert in active.items():
        over = alert.kind not in LASTING or alert.kind in kinds
        if key not in by_key and over:
            store.many(queries.CLEAR_ALERT, [(now, alert.id)])
            queue_messages(store, experiment, alert, "cleared", now)
    for key, finding in by_key.items():
        if key not in active:
            alert = raised_alert(experiment, finding, seq, now)
            store.many(queries.RAISE, [alert])
            queue_messages(store, experiment, alert, "raised", now)


def raised_alert(experiment: Experiment, finding: Finding, seq: int, now: int) -> StoredAlert:
    hashed = msgspec.json.encode([experiment.name, finding.kind, finding.subject, seq, now])
    return StoredAlert(
        id=hashlib.blake2b(hashed, digest_size=12).hexdigest(),
        experiment=experiment.id,
        kind=finding.kind,
        subject=finding.subject,
        raised=now,
        seq=seq,
        words=finding.words,
        data=msgspec.json.encode(finding.data).decode(),
        cleared=None,
    )


def queue_messages(
    store: LogStore, experiment: Experiment, alert: StoredAlert, event: str, now: int
) -> None:
    """Queue a message for every webhook that subscribes to this kind."""
    message = f"msg_{alert.id}_{event}"
    body = {
        "type": f"alert.{event}",
        "timestamp": iso_text(now),
        "data": {"experiment": experiment.name, **alert.plain()},
    }
    text = msgspec.json.encode(body).decode()
    for id, kinds in store.rows(queries.LISTENING):
        if not kinds or alert.kind in kinds.split():
            store.many(queries.QUEUE, [(id, message, text, now)])


# Findings


def log_findings(
    reader: Reader,
    experiment: Experiment,
    settings: Settings,
    log: WatchedLog,
    cache: AnalysisCache,
    now: int,
) -> list[Finding]:
    """Findings from the log; those of `conversion_findings` need a first conversion."""
    findings = ratio_findings(log.ratio, settings)
    if any(own.reported.total for own in log.arrivals()):
        analysis = cache.get(reader, experiment, settings, log.seq, now)
        first_line = partial(log.first_line, reader, experiment.id)
        models = arm_models(analysis.curves, settings, log)
        findings += conversion_findings(
            *(models, log.arrivals(), log.messages(), first_line, now / SECOND),
            lag=settings.reporting_lag,
        )
        findings += verdict_findings(analysis.verdict)
    return findings


def conversion_findings(
    models: Sequence[ArmModel],
    arrivals: Sequence[ArmArrivals],
    messages: Messages,
    first_line: Callable[[int], int],
    now: float,
    lag: float | None = None,
) -> list[Finding]:
    """Conversions that surprise the lag model; ``now`` in seconds.

    With a reporting ``lag`` they come in dumps: only that none come can be told.
    """
    if lag is not None:
        return [
            *stopped(models, arrivals, messages, now - lag),
            *frequent_units(messages, first_line, now),
        ]
    return [
        *stopped(models, arrivals, messages, now),
        *jumps(models, arrivals, now),
        *bursts(models, arrivals, now),
        *frequent_units(messages, first_line, now),
    ]


def ratio_findings(test: RatioTest, settings: Settings) -> list[Finding]:
    if not test.mismatch:
        return []
    arms = []
    for arm, count, owed in zip(settings.arms, test.shown, test.owed, strict=True):
        ratio = owed / test.decisions
        arms.append({"arm": arm, "shown": int(count), "ratio": float(ratio)})
    words = "arms are not shown as often as the logged propensities say"
    data = {"arms": arms, "log_evidence": test.largest}
    return [Finding("ratio", "", words, data)]


def verdict_findings(verdict: dict[str, Any]) -> list[Finding]:
    leader = verdict.get("leader")
    if leader is None or verdict["too_early"]:
        return []
    data = {"probability": verdict["probability"], "expected_loss": verdict["expected_loss"]}
    findings = []
    if verdict["probability"] >= LEADS:
        words = f"is the best arm with a probability of {100 * verdict['probability']:.0f} %"
        findings.append(Finding("leader", leader, words, data))
    if verdict["certain"]:
        findings.append(Finding("can_stop", "", verdict["words"], data))
    return findings


def process_findings(
    journal: Journal, experiment: Experiment, last: int, now: int
) -> list[Finding]:
    """Findings about the machine and the program; ``last``: when the log was last written."""
    findings = []
    jump = float(getattr(journal.clock, "jump", 0.0))
    ahead = (last - now) / SECOND
    if jump or ahead > LARGEST_LEAD:
        words = f"the clock has jumped by {jump or -ahead:.0f} seconds"
        findings.append(Finding("clock", "", words, {"seconds": jump or -ahead}))
    cause = journal.cause_of_failure(experiment.id)
    if cause is not None:
        findings.append(Finding("failed", "", f"the experiment cannot decide: {cause}", {}))
    return findings


# Analysis of the whole log


class ArmCurve(NamedTuple):
    """The arrival of an arm's conversions, by the lag model."""

    rate: float
    ages: Any
    """from 0 on"""
    shares: Any
    """of the conversions that come within an age"""


class LogAnalysis(NamedTuple):
    """Results that need the whole log, as it was with these settings up to line ``seq``."""

    curves: list[ArmCurve]
    """of each arm"""
    verdict: dict[str, Any]
    settings: Settings
    seq: int
    time: float
    cost: float
    """processor seconds"""


class AnalysisCache:
    """The analysis of one experiment, computed anew when the log has grown or an hour is over.

    To read all of the log at every look would take ever longer. Doing it when the log has grown by
    a 64th costs a fixed share of what writing the log has cost, however long it becomes.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        cost: Callable[[], float] = time.thread_time,
    ) -> None:
        self._clock = clock
        self._cost = cost
        """processor seconds of this thread so far"""
        self._latest: LogAnalysis | None = None

    def get(
        self, reader: Reader, experiment: Experiment, settings: Settings, seq: int, now: int
    ) -> LogAnalysis:
        """The analysis; ``seq``: the log's last line."""
        latest = self._latest
        if latest is None or not self._is_fresh(latest, settings, seq):
            began = self._cost()
            curves = arm_curves(reader, experiment, settings, now)
            verdict = verdict_on(reader, experiment, settings, now)
            cost = self._cost() - began
            latest = LogAnalysis(curves, verdict, settings, seq, self._clock(), cost)
            self._latest = latest
        return latest

    def _is_fresh(self, latest: LogAnalysis, settings: Settings, seq: int) -> bool:
        if latest.cost < CHEAP or latest.settings != settings:
            return False
        grown = (seq - latest.seq) * GROWTH >= latest.seq
        return not grown and self._clock() - latest.time < MAX_AGE


def arm_curves(
    reader: Reader, experiment: Experiment, settings: Settings, now: int
) -> list[ArmCurve]:
    complete = settings.complete_until(now)
    cohorts = read_cohorts(
        reader, experiment.id, len(settings.arms), settings.window, complete, settings.quarantine
    )
    times = curve_times(cohorts)
    ages = np.concatenate([[0.0], times])
    curves = []
    for arm in posteriors_of(cohorts, times, settings.window):
        shares: Any = arm.lag.mean
        curves.append(ArmCurve(arm.rate.mean, ages, np.concatenate([[0.0], shares])))
    return curves


def arm_models(curves: Sequence[ArmCurve], settings: Settings, log: WatchedLog) -> list[ArmModel]:
    """Each arm's curve, with its decisions up to now."""
    models = []
    for name, decisions, curve in zip(settings.arms, log.made, curves, strict=True):
        models.append(ArmModel(name, decisions.bins(), *curve))
    return models
