"""Traces for OpenTelemetry: one span for each request, in the trace of whoever asked.

A span is made when the answer is sent, from the times that are taken anyway: a service that traces
nothing pays nothing. Needs the extra ``traces``; where spans go is said by OpenTelemetry's own
variables, such as OTEL_EXPORTER_OTLP_ENDPOINT.
"""

from __future__ import annotations

import time
from typing import Any, Protocol

from patientbandits._version import __version__
from patientbandits.errors import InputError

CARRIED = (b"traceparent", b"tracestate")
"""headers that say which trace a request belongs to"""


class Traces(Protocol):
    def answered(
        self, headers: dict[bytes, bytes], method: str, path: str, status: int, seconds: float
    ) -> None: ...

    def close(self) -> None: ...


class RequestSpans:
    """``provider``: an OpenTelemetry TracerProvider."""

    def __init__(self, provider: Any) -> None:
        from opentelemetry.trace import SpanKind, Status, StatusCode
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        self._provider = provider
        self._tracer = provider.get_tracer("patientbandits", __version__)
        self._context = TraceContextTextMapPropagator()
        self._kind = SpanKind.SERVER
        self._failed = Status(StatusCode.ERROR)

    def answered(
        self, headers: dict[bytes, bytes], method: str, path: str, status: int, seconds: float
    ) -> None:
        end = time.time_ns()
        carried = {
            name.decode(): headers[name].decode("latin-1") for name in CARRIED if name in headers
        }
        attributes = {
            "http.request.method": method,
            "http.route": path,
            "http.response.status_code": status,
        }
        span = self._tracer.start_span(
            f"{method} {path}",
            context=self._context.extract(carried),
            kind=self._kind,
            attributes=attributes,
            start_time=end - int(seconds * 1e9),
        )
        if status >= 500:
            span.set_status(self._failed)
        span.end(end)

    def close(self) -> None:
        """Send what is left."""
        self._provider.shutdown()


def exported_traces() -> Traces:
    """Spans that are sent by OTLP."""
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise InputError(
            "serve: traces need more packages; pip install 'patientbandits[traces]'."
        ) from error
    named = Resource.create({"service.name": "patientbandits"})
    provider = TracerProvider(resource=named)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return RequestSpans(provider)
