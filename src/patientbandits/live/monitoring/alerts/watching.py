"""Looking at experiments again and again, each time from where the last look ended."""

from __future__ import annotations

from functools import partial
from typing import Any

from patientbandits.live.commands import Journal
from patientbandits.live.log import Experiment
from patientbandits.live.monitoring.alerts.arrivals import WatchedLog
from patientbandits.live.monitoring.alerts.finding import found_in_log, found_running
from patientbandits.live.monitoring.alerts.keeping import keep_findings
from patientbandits.live.monitoring.alerts.surprises import AlertFinding
from patientbandits.live.monitoring.alerts.whole_log import WholeLog
from patientbandits.live.settings import Settings, stored_settings
from patientbandits.live.storage import shown_alert, standing_alerts


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
            return [shown_alert(alert) for alert in standing_alerts(reader, experiment.id)]

    def _log(self, experiment: Experiment, settings: Settings) -> WatchedLog:
        have = self._logs.get(experiment.id)
        if have is None or not have.fits(settings):
            have = self._logs[experiment.id] = WatchedLog(settings)
        have.settings = settings
        return have


def differs(found: list[AlertFinding], standing: set[tuple[str, str]]) -> bool:
    """Whether there is anything to be written: mostly there is not."""
    return {(finding.kind, finding.subject) for finding in found} != standing
