"""What an operator sees: metrics for Prometheus, and a log of JSON lines on stderr."""

from __future__ import annotations

import json
import sys
import time
import traceback
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)

if TYPE_CHECKING:
    from patientbandits.live.http.routes import Route
    from patientbandits.live.http.service import Service

BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
LEVELS = {"debug": 0, "info": 1, "warning": 2, "error": 3}
SUMMARY_EVERY = 60.0


class Observer:
    """Plain counters, made into metrics when asked for: a request pays two additions."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self.answers: Counter[tuple[str, str, int]] = Counter()
        self._times: dict[str, list[float]] = {}
        """route: number of answers per bucket, then the sum of seconds"""
        self._registry = CollectorRegistry()
        self._registry.register(self)

    def answered(self, route: Route | None, status: int, seconds: float) -> None:
        method, path = (route.method, route.path) if route else ("", "")
        self.answers[method, path, status] += 1
        times = self._times.get(path)
        if times is None:
            times = self._times[path] = [0.0] * (len(BOUNDS) + 2)
        times[bisect_left(BOUNDS, seconds)] += 1
        times[-1] += seconds

    def collect(self) -> Iterable[Metric]:
        answers = CounterMetricFamily(
            "patientbandits_answers", "HTTP answers", labels=["method", "route", "status"]
        )
        for (method, path, status), times_answered in list(self.answers.items()):
            answers.add_metric([method, path, str(status)], times_answered)
        yield answers
        durations = HistogramMetricFamily(
            "patientbandits_answer_seconds", "Time to answer", labels=["route"]
        )
        for path, times in list(self._times.items()):
            total, buckets = 0.0, []
            for bound, number in zip([*map(str, BOUNDS), "+Inf"], times[:-1], strict=True):
                total += number
                buckets.append((bound, total))
            durations.add_metric([path], buckets, times[-1])
        yield durations
        service = self._service
        for name, what, value in (
            (
                "commands",
                "Decisions, conversions and retractions carried out",
                service.intake.carried_out,
            ),
            (
                "commits",
                "Commits: commands / commits is the size of a batch",
                service.shop.journal.batches,
            ),
        ):
            yield CounterMetricFamily(f"patientbandits_{name}", what, value=value)
        for name, what, value in (
            ("waiting", "Commands that are not answered yet", service.intake.waiting),
            (
                "failed",
                "1 if the database can be written no more",
                int(service.shop.journal.failure is not None),
            ),
        ):
            yield GaugeMetricFamily(f"patientbandits_{name}", what, value=value)

    def text(self) -> bytes:
        return generate_latest(self._registry)


class Log:
    """One JSON object per line. Single requests only at level debug, or if they failed; a summary every minute at level info."""

    def __init__(self, level: str) -> None:
        self._level = LEVELS[level]
        self.every_request = level == "debug"
        self._summarised, self._seen = time.monotonic(), Counter[tuple[str, str, int]]()

    def write(self, level: str, what: str, **more: Any) -> None:
        if LEVELS[level] >= self._level:
            now = datetime.now(UTC).isoformat(timespec="milliseconds")
            print(
                json.dumps({"time": now, "level": level, "what": what, **more}, default=str),
                file=sys.stderr,
                flush=True,
            )

    def event(self, what: str, **more: Any) -> None:
        self.write("info", what, **more)

    def failure(self, what: str, error: BaseException, **more: Any) -> None:
        trace = "".join(traceback.format_exception(error)[-8:])
        self.write("error", what, error=f"{type(error).__name__}: {error}", trace=trace, **more)

    def answered(
        self, id: str, scope: dict[str, Any], route: Route | None, status: int, began: float
    ) -> None:
        level = "error" if status >= 500 else "debug"
        milliseconds = round(1000 * (time.perf_counter() - began), 2)
        path = route.path if route else None
        self.write(
            level,
            "answer",
            request=id,
            method=scope["method"],
            route=path,
            status=status,
            milliseconds=milliseconds,
        )

    def summary(self, observer: Observer) -> None:
        now = time.monotonic()
        if now - self._summarised >= SUMMARY_EVERY:
            new = observer.answers - self._seen
            if new:
                counts = {
                    f"{method} {path} {status}": number
                    for (method, path, status), number in sorted(new.items())
                }
                self.event("summary", seconds=round(now - self._summarised), answers=counts)
            self._summarised, self._seen = now, observer.answers.copy()
