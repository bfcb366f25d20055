"""Bytes that are no decent HTTP: they are refused or ignored, and cost little."""

from __future__ import annotations

import asyncio
import json
import socket
import time

import pytest
import uvicorn
from service import Running
from uvicorn.server import ServerState

from patientbandits.live.http import protocol, request, timed_protocol
from patientbandits.live.http.request import Request
from patientbandits.live.http.response import ProblemError

pytestmark = pytest.mark.slow

DECIDE = b"POST /v1/experiments/button/decisions HTTP/1.1\r\nHost: localhost\r\n"
JSON = b"Content-Type: application/json\r\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Running(tmp_path_factory.mktemp("protocol") / "shop.db") as running:
        made = running.api.post("/v1/experiments", json={"name": "button", "arms": ["a", "b"]})
        assert made.status_code == 201
        yield running


def connect(server):
    host, port = server.url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=60)


def key(server):
    return b"Authorization: Bearer " + server.key.encode() + b"\r\n"


def status(connection):
    """Of the next answer, or None if there is none."""
    found = connection.recv(65536)
    return int(found.split()[1]) if found else None


def flood(connection, piece, most):
    """Send ``piece`` again and again: how much was taken before the other side closed."""
    sent = 0
    try:
        while sent < most:
            connection.sendall(piece)
            sent += len(piece)
            time.sleep(0.001)  # so that the refusal is noticed
    except OSError:
        pass
    return sent


def test_a_key_in_a_trailer_is_no_key(server):
    with connect(server) as connection:
        chunks = b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n"
        connection.sendall(DECIDE + JSON + chunks + key(server) + b"\r\n")
        assert status(connection) == 401


def test_a_trailer_is_ignored(server):
    with connect(server) as connection:
        chunks = b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n"
        connection.sendall(DECIDE + JSON + key(server) + chunks + b"X-Checksum: 9\r\n\r\n")
        assert status(connection) == 201


@pytest.mark.parametrize(
    ("start", "piece"),
    [
        (b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX: ", b"a" * 10_000),
        (b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n", b"A: b\r\n" * 2000),
        (b"Transfer-Encoding: chunked\r\n\r\n2;x=", b"a" * 10_000),
        (b"X: ", b"a" * 10_000),
        (b"", b"A: b\r\n" * 2000),
    ],
    ids=["one trailer", "many trailers", "extension", "one header", "many headers"],
)
def test_what_is_no_body_has_a_limit(server, start, piece):
    with connect(server) as connection:
        connection.sendall(DECIDE + JSON + key(server) + start)
        assert flood(connection, piece, 20_000_000) < 5_000_000


def test_a_body_in_small_chunks_is_read(server):
    body = json.dumps({"unit": "u" * 200}).encode()
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in body)
    with connect(server) as connection:
        connection.sendall(DECIDE + JSON + key(server) + b"Transfer-Encoding: chunked\r\n\r\n")
        connection.sendall(chunks + b"0\r\n\r\n")
        assert status(connection) == 201


@pytest.mark.parametrize("apart", [False, True], ids=["at once", "body later"])
def test_a_wish_for_another_protocol_is_ignored(server, apart):
    """`curl --http2` and the client of Java ask for HTTP/2 with their first request."""
    body = b'{"unit": "later"}' if apart else b'{"unit": "at once"}'
    wish = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"
    head = DECIDE + JSON + key(server) + wish + b"Content-Length: %d\r\n\r\n" % len(body)
    with connect(server) as connection:
        connection.sendall(head if apart else head + body)
        if apart:
            time.sleep(0.2)
            connection.sendall(body)
        assert status(connection) == 201
        connection.sendall(DECIDE + JSON + key(server) + b"Content-Length: 2\r\n\r\n{}")
        assert status(connection) == 201, "the connection goes on"


class Transport:
    """What a protocol writes to."""

    def __init__(self):
        self.written = b""
        self.closed = False

    def write(self, data):
        self.written += data

    def close(self):
        self.closed = True

    def is_closing(self):
        return self.closed

    def get_extra_info(self, name):
        return None


async def never_answers(scope, receive, send):
    await asyncio.sleep(60)


async def answers_at_once(scope, receive, send):
    empty = [(b"content-length", b"0")]
    await send({"type": "http.response.start", "status": 200, "headers": empty})
    await send({"type": "http.response.body", "body": b""})


def made_protocol(loop, connections=(), app=never_answers, **settings):
    state = ServerState()
    state.connections.update(connections)
    config = uvicorn.Config(app, log_config=None, ws="none", **settings)
    return protocol.OurProtocol(config, state, {}, loop)


def test_a_slow_head_is_refused(monkeypatch):
    async def slow(first):
        transport = Transport()
        made = made_protocol(asyncio.get_running_loop())
        made.connection_made(transport)
        if first:
            made.data_received(first)
        await asyncio.sleep(0.2)
        return transport.closed, transport.written

    monkeypatch.setattr(timed_protocol, "HEAD_SECONDS", 0.05)
    closed, written = asyncio.run(slow(b"GET /healthz HTT"))
    assert closed
    assert written.startswith(b"HTTP/1.1 408 ")
    assert asyncio.run(slow(b"")) == (True, b""), "nothing was asked"
    whole = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
    assert asyncio.run(slow(whole)) == (False, b""), "it is being answered"


async def after_an_answer(more, seconds):
    """What was written after the first answer, and whether the connection is closed."""
    transport = Transport()
    loop = asyncio.get_running_loop()
    made = made_protocol(loop, app=answers_at_once, timeout_keep_alive=1)
    made.connection_made(transport)
    made.data_received(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
    await asyncio.sleep(0.05)
    assert transport.written.startswith(b"HTTP/1.1 200 ")
    transport.written = b""
    if more:
        made.data_received(more)
    await asyncio.sleep(seconds)
    return transport.written[:13], transport.closed


def test_a_later_head_may_not_be_slow_either(monkeypatch):
    monkeypatch.setattr(timed_protocol, "HEAD_SECONDS", 0.05)
    refused = asyncio.run(after_an_answer(b"GET /healthz HTT", 0.2))
    assert refused == (b"HTTP/1.1 408 ", True)


def test_an_idle_connection_is_closed():
    assert asyncio.run(after_an_answer(b"", 0.2)) == (b"", False)
    assert asyncio.run(after_an_answer(b"", 1.5)) == (b"", True)


def test_a_body_that_nobody_wants_keeps_no_connection_open():
    """The answer was sent before the body had come."""

    async def play():
        transport = Transport()
        loop = asyncio.get_running_loop()
        made = made_protocol(loop, app=answers_at_once, timeout_keep_alive=1)
        made.connection_made(transport)
        made.data_received(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n{")
        await asyncio.sleep(0.1)
        assert transport.written.startswith(b"HTTP/1.1 200 ")
        made.data_received(b" ")
        await asyncio.sleep(3)
        return transport.closed

    assert asyncio.run(play())


def test_a_slow_body_is_refused(monkeypatch):
    pieces = iter([{"type": "http.request", "body": b"{", "more_body": True}])

    async def receive():
        for piece in pieces:
            return piece
        await asyncio.sleep(60)

    monkeypatch.setattr(request, "BODY_SECONDS", 0.05)
    asked = Request({"headers": [(b"content-type", b"application/json")]}, receive, "")
    with pytest.raises(ProblemError) as refusal:
        asyncio.run(asyncio.wait_for(asked.read(dict, 100), 10))
    assert refusal.value.status == 408


def test_there_is_a_limit_of_connections(monkeypatch):
    async def connect_one_more():
        transport = Transport()
        made = made_protocol(asyncio.get_running_loop(), connections=("one", "two"))
        made.connection_made(transport)
        return transport

    monkeypatch.setattr(protocol, "MOST_CONNECTIONS", 2)
    transport = asyncio.run(connect_one_more())
    assert transport.closed
    assert transport.written.startswith(b"HTTP/1.1 503 ")
    assert b"retry-after" in transport.written
