"""Metrics of each arm: what was decided and what it brought in, from the log.

They are counted when metrics are asked for, but not often: counting takes longer the longer the log
is, and may not take more than a hundredth of the time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from patientbandits.live.log import MILLIONTHS, Experiment
from patientbandits.live.reporting import counts_over_time
from patientbandits.live.settings import stored_settings
from patientbandits.live.shop import Shop
from patientbandits.live.storage import END, Reader

COUNT_EVERY = 10.0
"""seconds"""

REST_FACTOR = 100.0
"""times as long as counting took, nothing is counted again"""

ARM_LABELS = ["experiment", "arm"]


class ArmCounts(NamedTuple):
    experiment: str
    arm: str
    decisions: int = 0
    conversions: int = 0
    value: float = 0.0


class ArmMetrics:
    def __init__(self, shop: Shop, clock: Callable[[], float] = time.monotonic) -> None:
        self._shop = shop
        self._clock = clock
        self._counts: dict[int, list[ArmCounts]] = {}
        self._heads: dict[int, int] = {}
        """the last line of each log that is counted"""
        self._next = 0.0

    @property
    def due(self) -> bool:
        return self._clock() >= self._next

    def count(self) -> None:
        """Bring the counts up to date; in a thread for reading."""
        began = self._clock()
        self._next = began + COUNT_EVERY  # meanwhile nobody else needs to
        with self._shop.store.reading() as reader:
            for experiment in reader.experiments():
                head = reader.head(experiment.id)
                if self._heads.get(experiment.id) != head:
                    self._counts[experiment.id] = counted(reader, experiment)
                    self._heads[experiment.id] = head
        now = self._clock()
        self._next = now + max(COUNT_EVERY, REST_FACTOR * (now - began))

    def collect(self) -> Iterable[Metric]:
        decisions = CounterMetricFamily(
            "patientbandits_decisions", "Decisions for each arm", labels=ARM_LABELS
        )
        conversions = GaugeMetricFamily(
            "patientbandits_conversions", "Decisions that have paid so far", labels=ARM_LABELS
        )
        value = GaugeMetricFamily(
            "patientbandits_value", "What was paid for decisions so far", labels=ARM_LABELS
        )
        for found in list(self._counts.values()):
            for one in found:
                names = [one.experiment, one.arm]
                decisions.add_metric(names, one.decisions)
                conversions.add_metric(names, one.conversions)
                value.add_metric(names, one.value)
        return decisions, conversions, value


def counted(reader: Reader, experiment: Experiment) -> list[ArmCounts]:
    """Of every arm there ever was."""
    settings = stored_settings(reader.changes(experiment.id)[-1].settings)
    found = {arm: ArmCounts(experiment.name, arm) for arm in settings.arms}
    for slot in counts_over_time(reader, experiment.id, END):
        arm = settings.arms[slot.arm]
        found[arm] = ArmCounts(
            experiment=experiment.name,
            arm=arm,
            decisions=slot.pulls,
            conversions=slot.conversions,
            value=slot.paid / MILLIONTHS * settings.scale,
        )
    return list(found.values())
