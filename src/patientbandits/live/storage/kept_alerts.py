"""Alerts as they are kept."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from patientbandits.live.storage import alert_queries
from patientbandits.live.storage.base import Reader
from patientbandits.live.times import iso_text


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
