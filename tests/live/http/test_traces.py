"""Traces for OpenTelemetry: a span for each request, in the trace of whoever asked."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import httpx
import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode
from service import Running, environment

from patientbandits import live
from patientbandits.live.http.routes import PAGES, ROUTES
from patientbandits.live.http.service import App, Options, Service
from patientbandits.live.http.traces import RequestSpans
from patientbandits.live.server import HTTPProtocol, ServerState, Writer

pytestmark = pytest.mark.slow

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"
WITHOUT = (str(Path(__file__).parents[1] / "without_extras.py"),)


def test_spans(tmp_path):
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))

    async def play(shop):
        service = Service(shop, Options(keys=False), lambda: None)
        service.traces = RequestSpans(provider)
        await service.start(Writer(shop, 100, lambda: None))
        state = ServerState(App(service, (*ROUTES, *PAGES)))
        server = await asyncio.get_running_loop().create_server(
            lambda: HTTPProtocol(state), "127.0.0.1", 0
        )
        address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with httpx.AsyncClient(base_url=address, trust_env=False) as client:
            carried = {"traceparent": f"00-{TRACE}-{PARENT}-01"}
            path = "/v1/experiments/button/decisions"
            for _ in range(3):
                made = await client.post(path, json={"unit": "v"}, headers=carried)
                assert made.is_success
            assert (await client.get("/v1/experiments/none")).status_code == 404
            assert (await client.get("/nowhere")).status_code == 404

            async def broken(*_):
                raise RuntimeError

            service.aside = broken
            assert (await client.get("/v1/experiments")).status_code == 500
            del service.aside
        server.close()
        await service.stop()

    with live.open(str(tmp_path / "shop.db")) as shop:
        shop.experiment("button", ["a", "b"])
        asyncio.run(play(shop))
    decisions = [span for span in exporter.get_finished_spans() if "decisions" in span.name]
    assert len(decisions) == 3
    for span in decisions:
        assert span.name == "POST /v1/experiments/{name}/decisions"
        assert f"{span.context.trace_id:032x}" == TRACE
        assert f"{span.parent.span_id:016x}" == PARENT
        assert span.kind == SpanKind.SERVER
        assert span.attributes["http.route"] == "/v1/experiments/{name}/decisions"
        assert span.attributes["http.response.status_code"] in (200, 201)
        assert span.end_time > span.start_time
        assert "button" not in str(span.to_json()), "names stay out of traces"
    missing, failed = exporter.get_finished_spans()[3:]
    assert missing.attributes["http.response.status_code"] == 404
    assert missing.parent is None
    assert missing.status.status_code == StatusCode.UNSET
    assert failed.status.status_code == StatusCode.ERROR


@pytest.fixture
def collector():
    """Takes what exporters send."""
    received = []

    class Receive(BaseHTTPRequestHandler):
        def do_POST(self):
            received.append((self.path, self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Receive) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", received
        server.shutdown()


def test_a_server_sends_its_spans(tmp_path, collector, monkeypatch):
    address, received = collector
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
    with Running(tmp_path / "shop.db", "--traces") as server:
        server.api.post("/v1/experiments", json={"name": "button", "arms": ["a", "b"]})
        assert server.api.post("/v1/experiments/button/decisions", json={}).status_code == 201
        assert server.stop() == 0
    assert {path for path, _ in received} == {"/v1/traces"}
    assert any(b"POST /v1/experiments/{name}/decisions" in body for _, body in received)


def test_the_service_needs_no_extras(tmp_path):
    """It starts and decides where client, OpenFeature and OpenTelemetry are not installed."""
    with Running(tmp_path / "shop.db", program=WITHOUT) as server:
        server.api.post("/v1/experiments", json={"name": "button", "arms": ["a", "b"]})
        asked = {"context": {"targetingKey": "v"}}
        found = server.api.post("/ofrep/v1/evaluate/flags/button", json=asked)
        assert found.json()["reason"] == "SPLIT"
        assert server.api.get("/metrics").status_code == 200
        assert server.stop() == 0


def test_what_is_missing_is_said(tmp_path):
    asked = ["serve", "--db", str(tmp_path / "shop.db"), "--port", "0", "--traces"]
    done = subprocess.run(
        [sys.executable, *WITHOUT, *asked],
        capture_output=True,
        text=True,
        timeout=120,
        env=environment(),
    )
    assert done.returncode == 2
    assert "patientbandits[traces]" in done.stderr
    assert "Traceback" not in done.stderr
