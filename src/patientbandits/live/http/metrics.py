"""Metrics for Prometheus: of requests and commands, and of each arm."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple, Protocol

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)

from patientbandits.live.log import MILLIONTHS, Experiment
from patientbandits.live.reporting import counts_over_time
from patientbandits.live.settings import stored_settings
from patientbandits.live.shop import Shop
from patientbandits.live.storage import END, Reader

BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""seconds"""

BOUND_NAMES = [*map(str, BOUNDS), "+Inf"]

COUNT_EVERY = 10.0
"""seconds"""

REST_FACTOR = 100.0
"""times as long as counting took, nothing is counted again"""

ARM_LABELS = ["experiment", "arm"]


class WriterCounts(NamedTuple):
    """What the writer has counted."""

    commits: int = 0
    experiment_failures: int = 0
    interpreted: int = 0
    clock_jump: float = 0.0
    log_ahead: float = 0.0


@dataclass
class Durations:
    """How long a route took: answers per bucket, and all their seconds."""

    buckets: list[float] = field(default_factory=lambda: [0.0] * len(BOUND_NAMES))
    seconds: float = 0.0


class ServiceCounts(Protocol):
    """What is read when metrics are asked for."""

    @property
    def carried_out(self) -> int: ...

    @property
    def counts(self) -> WriterCounts: ...

    @property
    def waiting(self) -> int: ...

    @property
    def standing(self) -> list[tuple[str, str, str]]: ...

    @property
    def failed(self) -> bool: ...


class Metrics:
    """Plain counters, made into metrics when asked for: a request pays two additions."""

    def __init__(self, measured: ServiceCounts) -> None:
        self._measured = measured
        self.answers: Counter[tuple[str, str, int]] = Counter()
        """method, path, status"""
        self._durations: dict[str, Durations] = {}
        self._registry = CollectorRegistry()
        self._registry.register(self)

    def answered(self, method: str, path: str, status: int, seconds: float) -> None:
        self.answers[method, path, status] += 1
        durations = self._durations.get(path)
        if durations is None:
            durations = self._durations[path] = Durations()
        durations.buckets[bisect_left(BOUNDS, seconds)] += 1
        durations.seconds += seconds

    def collect(self) -> Iterable[Metric]:
        counts = self._measured.counts
        yield self._answers()
        yield self._answer_seconds()
        yield CounterMetricFamily(
            "patientbandits_commands",
            "Decisions, conversions and retractions carried out",
            value=self._measured.carried_out,
        )
        yield CounterMetricFamily(
            "patientbandits_commits",
            "Commits: commands / commits is the size of a batch",
            value=counts.commits,
        )
        yield CounterMetricFamily(
            "patientbandits_experiment_failures",
            "Batches of one experiment that failed alone; the log names it",
            value=counts.experiment_failures,
        )
        yield GaugeMetricFamily(
            "patientbandits_interpreted",
            "Experiments that decide without compiled code, as they do until it is worth compiling",
            value=counts.interpreted,
        )
        yield GaugeMetricFamily(
            "patientbandits_clock_jump_seconds",
            "By how much the clock has jumped, while it is not believed",
            value=counts.clock_jump,
        )
        yield GaugeMetricFamily(
            "patientbandits_log_ahead_seconds",
            "By how much the time of a log is ahead of the clock",
            value=counts.log_ahead,
        )
        yield self._alerts()
        yield GaugeMetricFamily(
            "patientbandits_waiting",
            "Commands that are not answered yet",
            value=self._measured.waiting,
        )
        yield GaugeMetricFamily(
            "patientbandits_failed",
            "1 if the database can be written no more",
            value=int(self._measured.failed),
        )

    def _alerts(self) -> Metric:
        family = GaugeMetricFamily(
            "patientbandits_alerts", "Alerts that stand", labels=["experiment", "kind"]
        )
        standing = Counter((name, kind) for name, kind, _ in self._measured.standing)
        for (name, kind), number in sorted(standing.items()):
            family.add_metric([name, kind], number)
        return family

    def _answers(self) -> Metric:
        family = CounterMetricFamily(
            "patientbandits_answers", "HTTP answers", labels=["method", "route", "status"]
        )
        for (method, path, status), number in list(self.answers.items()):
            family.add_metric([method, path, str(status)], number)
        return family

    def _answer_seconds(self) -> Metric:
        family = HistogramMetricFamily(
            "patientbandits_answer_seconds", "Time to answer", labels=["route"]
        )
        for path, durations in list(self._durations.items()):
            totals = accumulate(durations.buckets)
            buckets = list(zip(BOUND_NAMES, totals, strict=True))
            family.add_metric([path], buckets, durations.seconds)
        return family

    def add(self, arms: ArmMetrics) -> None:
        self._registry.register(arms)

    def text(self) -> bytes:
        return generate_latest(self._registry)


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
        for counts in list(self._counts.values()):
            for one in counts:
                names = [one.experiment, one.arm]
                decisions.add_metric(names, one.decisions)
                conversions.add_metric(names, one.conversions)
                value.add_metric(names, one.value)
        return decisions, conversions, value


def counted(reader: Reader, experiment: Experiment) -> list[ArmCounts]:
    """Of every arm there ever was."""
    settings = stored_settings(reader.changes(experiment.id)[-1].settings)
    by_arm = {arm: ArmCounts(experiment.name, arm) for arm in settings.arms}
    for slot in counts_over_time(reader, experiment.id, END):
        arm = settings.arms[slot.arm]
        by_arm[arm] = ArmCounts(
            experiment=experiment.name,
            arm=arm,
            decisions=slot.pulls,
            conversions=slot.conversions,
            value=slot.paid / MILLIONTHS * settings.scale,
        )
    return list(by_arm.values())
