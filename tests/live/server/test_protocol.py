"""A real server and bytes that are no decent HTTP: they are refused or ignored, and cost little."""

from __future__ import annotations

import json
import socket
import time

import pytest
from service import Running

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
    return socket.create_connection((host, int(port)), timeout=120)


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


def memory(server):
    """Megabytes that the server has."""
    with open(f"/proc/{server.process.pid}/status") as file:
        (line,) = [line for line in file if line.startswith("VmRSS")]
    return int(line.split()[1]) / 1024


@pytest.mark.parametrize("fetched", [False, True], ids=["answers left", "answers fetched"])
@pytest.mark.parametrize(
    "piece",
    [
        b"GET /x HTTP/1.1\r\nHost: x\r\n\r\n" * 1000,
        b"GET /dashboard/app.js HTTP/1.1\r\nHost: x\r\n\r\n" * 100,
        b"POST /v1/keys HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n" + b"x" * 60000,
        b"POST /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 9000,
        b"\r\n" * 10000,
        b"".join(b"GET /x?%d HTTP/1.1\r\nHost: x\r\n\r\n" % number for number in range(1000)),
    ],
    ids=["unknown paths", "files", "bodies", "chunks", "empty lines", "other heads"],
)
def test_a_connection_without_a_key_takes_no_memory(server, piece, fetched):
    """With 15 MB of the first, and its answers left, a server once grew to a gigabyte."""
    before = memory(server)
    sent = 0
    with connect(server) as connection:
        connection.setblocking(False)
        stuck = 0
        while sent < 15_000_000 and stuck < 500:
            stuck += 1
            try:
                sent += connection.send(piece[sent % len(piece) :])
                stuck = 0
            except BlockingIOError:
                time.sleep(0.001)
            except OSError:
                break  # the server has had enough
            try:
                if fetched and connection.recv(1 << 20):
                    stuck = 0
            except OSError:
                pass
        assert memory(server) - before < 100
        assert server.api.get("/healthz").status_code == 200
