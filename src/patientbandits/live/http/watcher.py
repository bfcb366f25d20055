"""What a running service does beside answering: looks at its experiments, and tells webhooks."""

from __future__ import annotations

import time

from patientbandits.live.errors import LOGGER
from patientbandits.live.monitoring import Watch, all_active, deliver_due
from patientbandits.live.shop import Shop

DELIVER_EVERY = 2.0
"""seconds"""


class Watcher:
    """``every``: seconds between looks."""

    def __init__(self, shop: Shop, every: float) -> None:
        self._shop = shop
        self._every = every
        self._watch = Watch(shop.journal)
        self._looked = -every
        self.standing: list[tuple[str, str, str]] = []
        """(experiment, kind, subject) of all alerts"""

    def turn(self) -> None:
        """To be called again and again, by one thread."""
        now = time.monotonic()
        if now - self._looked >= self._every:
            self._looked = now
            self.look()
        deliver_due(self._shop.journal)

    def look(self) -> None:
        for handle in self._shop.experiments():
            try:
                self._watch.look(handle.experiment)
            except Exception as error:  # one that cannot be read must not hide the others
                fields = {"experiment": handle.name}
                LOGGER.error("no alerts", exc_info=error, extra={"fields": fields})
        with self._shop.store.reading() as reader:
            self.standing = all_active(reader)
