"""Looking at experiments again and again, each time from where the last look ended."""

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
from patientbandits.live.monitoring.ratio import RatioTest
from patientbandits.live.monitoring.surprises import (
    AlertFinding,
    ArmModel,
    bursts,
    frequent_units,
    jumps,
    stopped,
)
from patientbandits.live.monitoring.watched_log import WatchedLog
from patientbandits.live.reporting import curve_times, posteriors_of, verdict_on
from patientbandits.live.reporting.cohorts import cohorts
from patientbandits.live.settings import Settings, stored_settings
from patientbandits.live.storage import (
    LogStore,
    Reader,
    alert_queries,
)
from patientbandits.live.times import SECOND, iso_text


class Watch:
    """What was read so far, of every experiment that was looked at."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._logs: dict[int, WatchedLog] = {}
        self._whole: dict[int, WholeLog] = {}

    def look(self, experiment: Experiment) -> list[dict[str, Any]]:
        """Find, keep and queue; the alerts that stand now."""
        journal = self._journal
        now = journal.now()
        with journal.store.reading() as reader:
            settings = stored_settings(reader.changes(experiment.id)[-1].settings or "")
            log = self._log(experiment, settings)
            log.read_on(reader, experiment.id)
            last = reader.time(experiment.id, log.seq)
            moment = max(now, last)
            found = found_running(journal, experiment, last, now)
            whole = self._whole.setdefault(experiment.id, WholeLog())
            found += found_in_log(reader, experiment, settings, log, whole, moment)
            standing = standing_alerts(reader, experiment.id)
        if differs(found, {(alert.kind, alert.subject) for alert in standing}):
            keep = partial(keep_findings, journal.store, experiment, found, log.seq, moment)
            journal.alone(keep)
        with journal.store.reading() as reader:
            return current_alerts(reader, experiment.id)

    def _log(self, experiment: Experiment, settings: Settings) -> WatchedLog:
        have = self._logs.get(experiment.id)
        if have is None or not have.fits(settings):
            have = self._logs[experiment.id] = WatchedLog(settings)
        have.settings = settings
        return have


def differs(found: list[AlertFinding], standing: set[tuple[str, str]]) -> bool:
    """Whether there is anything to be written: mostly there is not."""
    return {(finding.kind, finding.subject) for finding in found} != standing


# Alerts as they are kept.


class KeptAlert(NamedTuple):
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


def standing_alerts(reader: Reader, experiment: int) -> list[KeptAlert]:
    """Oldest first."""
    return [KeptAlert(*row) for row in reader.rows(alert_queries.STANDING, experiment)]


def current_alerts(reader: Reader, experiment: int) -> list[dict[str, Any]]:
    """The experiment's alerts that stand, as users see them."""
    return [shown_alert(alert) for alert in standing_alerts(reader, experiment)]


def all_standing(reader: Reader) -> list[tuple[str, str, str]]:
    """(experiment, kind, subject) of all experiments."""
    return [(row[0], row[1], row[2]) for row in reader.rows(alert_queries.ALL_STANDING)]


def shown_alert(alert: KeptAlert) -> dict[str, Any]:
    return {
        "id": alert.id,
        "kind": alert.kind,
        "subject": alert.subject or None,
        "raised": iso_text(alert.raised),
        "words": alert.words,
        "data": msgspec.json.decode(alert.data),
    }


# What only the whole log can tell: how each arm's conversions come, and the verdict.
#
# To read all of it at every look would take ever longer. So what was found stands until
# the log has grown by a 64th or an hour has passed: however long the log, reading it takes a fixed
# share of what writing it took, and a little every hour. What is quick is found out at every look.


QUICK_LOOK = 0.05
"""processor seconds"""

GROWTH = 64
STANDS_FOR = 3600.0
"""seconds at most"""


class ArmCurve(NamedTuple):
    """How an arm's conversions come, by the lag model."""

    rate: float
    ages: Any
    """where the curve is known, from 0 on"""
    shares: Any
    """of the conversions that come within an age"""


class WholeLook(NamedTuple):
    curves: list[ArmCurve]
    """of each arm"""
    verdict: dict[str, Any]


class KeptLook(NamedTuple):
    look: WholeLook
    settings: Settings
    seq: int
    at: float
    took: float


class WholeLog:
    """Of one experiment."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        used: Callable[[], float] = time.thread_time,
    ) -> None:
        self._clock = clock
        self._used = used
        """processor seconds of this thread"""
        self._kept: KeptLook | None = None

    def look(
        self, reader: Reader, experiment: Experiment, settings: Settings, seq: int, now: int
    ) -> WholeLook:
        """``seq``: the log's last line."""
        kept = self._kept
        if kept is None or self._is_due(kept, settings, seq):
            began = self._used()
            found = WholeLook(
                curves=arm_curves(reader, experiment, settings, now),
                verdict=verdict_on(reader, experiment, settings, now),
            )
            took = self._used() - began
            kept = self._kept = KeptLook(found, settings, seq, self._clock(), took)
        return kept.look

    def _is_due(self, kept: KeptLook, settings: Settings, seq: int) -> bool:
        if kept.took < QUICK_LOOK or kept.settings != settings:
            return True
        grown = (seq - kept.seq) * GROWTH >= kept.seq
        return grown or self._clock() - kept.at >= STANDS_FOR


def arm_curves(
    reader: Reader, experiment: Experiment, settings: Settings, now: int
) -> list[ArmCurve]:
    counts = cohorts(
        reader, experiment.id, len(settings.arms), settings.window, now, settings.quarantine
    )
    times = curve_times(counts)
    curves = []
    for found in posteriors_of(counts, times, settings.window):
        shares: Any = found.lag.mean
        curves.append(
            ArmCurve(
                rate=found.rate.mean,
                ages=np.concatenate([[0.0], times]),
                shares=np.concatenate([[0.0], shares]),
            )
        )
    return curves


# All that is to be told of an experiment now.


LEADS = 0.9
"""the probability from which on an arm is said to lead"""

LARGEST_LEAD = 60.0
"""seconds by which a log may be ahead of the clock"""


def found_in_log(
    reader: Reader,
    experiment: Experiment,
    settings: Settings,
    watched: WatchedLog,
    whole: WholeLog,
    now: int,
) -> list[AlertFinding]:
    """What the log says."""
    found = ratio_findings(watched.ratio, settings)
    arrivals = watched.arrivals()
    if not any(own.told.total for own in arrivals):
        return found
    messages = watched.messages()
    moment = now / SECOND
    look = whole.look(reader, experiment, settings, watched.seq, now)
    models = arm_models(look.curves, settings, watched)
    found += stopped(models, arrivals, messages, moment)
    found += jumps(models, arrivals, moment)
    found += bursts(models, arrivals, moment)
    found += frequent_units(messages, partial(watched.first_line, reader, experiment.id), moment)
    return found + verdict_findings(look.verdict)


def ratio_findings(test: RatioTest, settings: Settings) -> list[AlertFinding]:
    if not test.mismatch:
        return []
    arms = []
    for arm, shown, owed in zip(settings.arms, test.shown, test.owed, strict=True):
        ratio = owed / test.decisions
        arms.append({"arm": arm, "shown": int(shown), "ratio": float(ratio)})
    words = "arms are not shown as often as the logged propensities say"
    data = {"arms": arms, "log_evidence": test.largest}
    return [AlertFinding("ratio", "", words, data)]


def arm_models(
    curves: Sequence[ArmCurve], settings: Settings, watched: WatchedLog
) -> list[ArmModel]:
    """Each arm's curve, with its decisions up to now."""
    models = []
    for name, made, curve in zip(settings.arms, watched.made, curves, strict=True):
        models.append(ArmModel(name, made.moments(), *curve))
    return models


def verdict_findings(verdict: dict[str, Any]) -> list[AlertFinding]:
    leader = verdict.get("leader")
    if leader is None or verdict["too_early"]:
        return []
    data = {"probability": verdict["probability"], "expected_loss": verdict["expected_loss"]}
    found = []
    if verdict["probability"] >= LEADS:
        found.append(AlertFinding("leader", leader, "leads", data))
    if verdict["certain"]:
        found.append(AlertFinding("can_stop", "", verdict["words"], data))
    return found


def found_running(
    journal: Journal, experiment: Experiment, last: int, now: int
) -> list[AlertFinding]:
    """What is wrong with the machine or the program; ``last``: when the log was last written."""
    found = []
    jump = float(getattr(journal.clock, "jump", 0.0))
    ahead = (last - now) / SECOND
    if jump or ahead > LARGEST_LEAD:
        words = f"the clock has jumped by {jump or -ahead:.0f} seconds"
        found.append(AlertFinding("clock", "", words, {"seconds": jump or -ahead}))
    cause = journal.cause_of_failure(experiment.id)
    if cause is not None:
        found.append(AlertFinding("failed", "", f"it cannot decide: {cause}", {}))
    return found


# What was found, kept: raised once, standing until it is over, queued for webhooks.
#
# An alert's id is made of what it is about and the line and time at which it was raised, and a
# message's id of the alert's, so whoever gets a message twice can tell. Alert and messages are
# written in one transaction: none is lost, whenever the process ends.


LASTING = ("leader",)
"""kinds that stand until another of their kind is found"""


def keep_findings(
    store: LogStore, experiment: Experiment, found: Sequence[AlertFinding], seq: int, now: int
) -> None:
    """Within a transaction: raise what is new, clear what is over, queue both."""
    have = {(alert.kind, alert.subject): alert for alert in standing_alerts(store, experiment.id)}
    wanted = {(finding.kind, finding.subject): finding for finding in found}
    kinds = {finding.kind for finding in found}
    for key, alert in have.items():
        over = alert.kind not in LASTING or alert.kind in kinds
        if key not in wanted and over:
            store.many(alert_queries.CLEAR_ALERT, [(now, alert.id)])
            queue(store, experiment, alert, "cleared", now)
    for key, finding in wanted.items():
        if key not in have:
            alert = raised_alert(experiment, finding, seq, now)
            store.many(alert_queries.RAISE, [alert])
            queue(store, experiment, alert, "raised", now)


def raised_alert(experiment: Experiment, finding: AlertFinding, seq: int, now: int) -> KeptAlert:
    about = msgspec.json.encode([experiment.name, finding.kind, finding.subject, seq, now])
    return KeptAlert(
        id=hashlib.blake2b(about, digest_size=12).hexdigest(),
        experiment=experiment.id,
        kind=finding.kind,
        subject=finding.subject,
        raised=now,
        seq=seq,
        words=finding.words,
        data=msgspec.json.encode(finding.data).decode(),
        cleared=None,
    )


def queue(store: LogStore, experiment: Experiment, alert: KeptAlert, what: str, now: int) -> None:
    """A message to every webhook that wants this kind."""
    message = f"msg_{alert.id}_{what}"
    body = {
        "type": f"alert.{what}",
        "timestamp": iso_text(now),
        "data": {"experiment": experiment.name, **shown_alert(alert)},
    }
    text = msgspec.json.encode(body).decode()
    for id, kinds in store.rows(alert_queries.LISTENING):
        if not kinds or alert.kind in kinds.split():
            store.many(alert_queries.QUEUE, [(id, message, text, now)])
