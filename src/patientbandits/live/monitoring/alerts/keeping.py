"""What was found, kept: raised once, standing until it is over, queued for webhooks.

An alert's id is made of what it is about and the line and time at which it was raised, and a
message's id of the alert's, so whoever gets a message twice can tell. Alert and messages are
written in one transaction: none is lost, whenever the process ends.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import msgspec

from patientbandits.live.log import Experiment
from patientbandits.live.monitoring.alerts.surprises import AlertFinding
from patientbandits.live.storage import (
    KeptAlert,
    LogStore,
    alert_queries,
    shown_alert,
    standing_alerts,
)
from patientbandits.live.times import iso_text

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
