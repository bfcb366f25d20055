"""The background work of a running service: look at experiments, deliver webhooks."""

from __future__ import annotations

import threading
import time

from patientbandits.live.commands import Journal
from patientbandits.live.errors import LOGGER
from patientbandits.live.monitoring.alerts import Others, Watch, all_active
from patientbandits.live.monitoring.webhooks import deliver_due

DELIVER_EVERY = 2.0
"""seconds"""


class Watcher:
    """Background work on one database; ``every``: seconds between looks.

    ``others``: findings about an experiment, by its name, that are not in its log.
    """

    def __init__(
        self,
        journal: Journal,
        every: float,
        others: Others | None = None,
        webhooks_anywhere: bool = False,
    ) -> None:
        self._anywhere = webhooks_anywhere
        self._stopping = threading.Event()
        self._journal = journal
        self._every = every
        self._watch = Watch(journal, others)
        self._looked = -every
        self.active: list[tuple[str, str, str]] = []
        """(experiment, kind, subject) of all alerts"""

    def turn(self) -> None:
        """Do what is due; to be called again and again, by one thread."""
        now = time.monotonic()
        if now - self._looked >= self._every:
            self._looked = now
            self.look()
        deliver_due(self._journal, self._anywhere, self._stopping)

    def stop(self) -> None:
        """Have a turn that is under way end soon."""
        self._stopping.set()

    def look(self) -> None:
        with self._journal.store.reading() as reader:
            experiments = reader.experiments()
        for experiment in experiments:
            if self._stopping.is_set():
                return
            try:
                self._watch.look(experiment)
            except Exception as error:  # one that cannot be read must not hide the others
                fields = {"experiment": experiment.name}
                LOGGER.error("no alerts", exc_info=error, extra={"fields": fields})
        with self._journal.store.reading() as reader:
            self.active = all_active(reader)
