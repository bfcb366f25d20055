"""The short way answers as the long way does: a request in one piece, and the same in two."""

from __future__ import annotations

import json
import re
import socket
import time

import pytest
from service import Running

from patientbandits.live.http.known_heads import KnownHeads

pytestmark = pytest.mark.slow

DECISIONS = "/v1/experiments/button/decisions"
CONVERSIONS = "/v1/experiments/button/conversions"
JSON = "Content-Type: application/json"


@pytest.fixture(scope="module", params=[1, 2], ids=["alone", "workers"])
def server(request, tmp_path_factory):
    db = tmp_path_factory.mktemp("express") / "shop.db"
    with Running(db, "--workers", request.param) as running:
        made = running.api.post("/v1/experiments", json={"name": "button", "arms": ["a", "b"]})
        assert made.status_code == 201
        for _ in range(20):  # every worker has heard of it
            with running.client(running.key) as client:
                assert client.post(DECISIONS, json={}).status_code == 201
                assert client.post(CONVERSIONS, json={"id": "?"}).status_code == 404
        yield running


def connect(server):
    host, port = server.url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=60)


def answers(connection, number):
    """The next answers: (head, body) of each, or fewer if the connection ends."""
    found = []
    received = b""
    while len(found) < number:
        head, end, rest = received.partition(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head)
        if end and length and len(rest) >= int(length[1]):
            found.append((head, rest[: int(length[1])]))
            received = rest[int(length[1]) :]
            continue
        more = connection.recv(65536)
        if not more:
            break
        received += more
    return found


def request(server, path, body, *headers, key=True, method="POST", version="1.1"):
    lines = [f"{method} {path} HTTP/{version}", "Host: localhost", *headers]
    if key:
        lines.append(f"Authorization: Bearer {server.key}")
    if not any(line.lower().startswith("transfer-encoding") for line in headers):
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + body


def told(answer):
    """An answer without what differs from one to the next: its date, and the decision's id."""
    head, body = answer
    head = re.sub(rb"date: [^\r]*\r\n", b"", head)
    head = re.sub(rb"content-length: \d+", b"", head)
    found = json.loads(body)
    for name in ("id", "arm", "propensity"):
        found.pop(name, None)
    return sorted(head.split(b"\r\n")), found


def asked(server):
    """Requests that both ways must answer alike."""
    chunks = b"2\r\n{}\r\n0\r\n\r\n"
    return {
        "plain": request(server, DECISIONS, b"{}", JSON),
        "with a key": request(server, DECISIONS, b'{"key": "again"}', JSON),
        "the same key": request(server, DECISIONS, b'{"key": "again"}', JSON),
        "key in a header": request(server, DECISIONS, b"{}", JSON, "Idempotency-Key: again"),
        "two keys": request(server, DECISIONS, b'{"key": "x"}', JSON, "Idempotency-Key: y"),
        "unit": request(server, DECISIONS, b'{"unit": "ann"}', JSON),
        "unit, other key": request(server, DECISIONS, b'{"unit": "u", "key": "again"}', JSON),
        "no JSON": request(server, DECISIONS, b"{", JSON),
        "nothing": request(server, DECISIONS, b"", JSON),
        "unknown field": request(server, DECISIONS, b'{"arm": "a"}', JSON),
        "wrong type": request(server, DECISIONS, b'{"unit": 1}', JSON),
        "unprintable": request(server, DECISIONS, b'{"unit": "\\u0000"}', JSON),
        "another media type": request(server, DECISIONS, b"{}", "Content-Type: text/plain"),
        "a longer media type": request(server, DECISIONS, b"{}", f"{JSON}; charset=utf-8"),
        "no media type": request(server, DECISIONS, b"{}"),
        "no key": request(server, DECISIONS, b"{}", JSON, key=False),
        "wrong key": request(
            server, DECISIONS, b"{}", JSON, "Authorization: Bearer pb_d_no", key=False
        ),
        "closing": request(server, DECISIONS, b"{}", JSON, "Connection: close"),
        "old HTTP": request(server, DECISIONS, b"{}", JSON, version="1.0"),
        "in chunks": request(server, DECISIONS, chunks, JSON, "Transfer-Encoding: chunked"),
        "too large": request(server, DECISIONS, b" " * 65536 + b"{}", JSON),
        "another method": request(server, DECISIONS, b"{}", JSON, method="PUT"),
        "a query": request(server, f"{DECISIONS}?a=b", b"{}", JSON),
        "forged id": request(server, CONVERSIONS, b'{"id": "forged"}', JSON),
        "negative value": request(server, CONVERSIONS, b'{"id": "x", "value": -1}', JSON),
        "an order": request(server, CONVERSIONS, b'{"unit": "ann", "order": "A"}', JSON),
        "an order again": request(server, CONVERSIONS, b'{"unit": "ann", "order": "A"}', JSON),
        "header not UTF-8": request(server, DECISIONS, b"{}", JSON, "Idempotency-Key: X").replace(
            b"Key: X", b"Key: \xff"
        ),
    }


def test_both_ways_answer_alike(server):
    seen = {}
    for apart in (True, False):
        for name, whole in asked(server).items():
            with connect(server) as connection:
                if apart:
                    middle = len(whole) - 1
                    connection.sendall(whole[:middle])
                    time.sleep(0.02)
                    connection.sendall(whole[middle:])
                else:
                    connection.sendall(whole)
                (answer,) = answers(connection, 1)
                seen.setdefault(name, []).append(told(answer))
    for name, (long, short) in seen.items():
        for ways in (long, short):  # those that were first are new, those that came after are not
            ways[1].pop("duplicate", None)
        same_line = [line for line in long[0] if not line.startswith(b"HTTP/1.1 20")]
        other_line = [line for line in short[0] if not line.startswith(b"HTTP/1.1 20")]
        assert (same_line, long[1]) == (other_line, short[1]), name


def test_a_head_that_was_read_before_says_the_same(server):
    """On one connection, so that it is one worker's: the second is known by its bytes."""
    for name, whole in asked(server).items():
        with connect(server) as connection:
            seen = []
            for _ in range(4):
                try:
                    connection.sendall(whole)
                    seen += [told(answer) for answer in answers(connection, 1)]
                except OSError:  # it was closed after the first, as it should be
                    break
        for head, body in seen:
            body.pop("duplicate", None)
            head[:] = [line for line in head if not line.startswith(b"HTTP/1.1 20")]
        assert seen
        assert all(answer == seen[0] for answer in seen), name


def test_only_one_whole_request_is_known_by_its_head():
    class Way:
        def read(self, headers):
            return dict(headers)

    head = b"POST /x HTTP/1.1\r\nContent-Length: 2\r\n\r\n"
    headers = [(b"content-length", b"2")]
    heads = KnownHeads()
    assert heads.find(head + b"{}") is None
    heads.keep(head + b"{}", headers, b"{}", Way())
    known, body = heads.find(head + b"[]")
    assert (known.head, body) == (dict(headers), b"[]")
    for other in (head, head + b"{", head + b"{} ", b" " + head + b"{}", head[:-2] + b"{}"):
        assert heads.find(other) is None, other
    for data, body in ((head + b"{}" + head + b"{}", b"{}"), (b"\r\n\r\n" + head + b"{}", b"{}")):
        heads = KnownHeads()
        heads.keep(data, headers, body, Way())
        assert heads.find(head + b"{}") is None


def test_a_head_with_another_body_behind_it(server):
    """A head that is known, with too little, too much or something else after it."""
    plain = request(server, DECISIONS, b'{"key": "one"}', JSON)
    head = plain.removesuffix(b'{"key": "one"}')
    with connect(server) as connection:
        for _ in range(2):
            connection.sendall(plain)
            ((_, first),) = answers(connection, 1)
        connection.sendall(head + b'{"key": "two"}' + head + b'{"key": "one"}' + head)
        (_, other), (_, again) = answers(connection, 2)
        connection.sendall(b'{"key": ')
        time.sleep(0.02)
        connection.sendall(b'"two"}')
        ((_, last),) = answers(connection, 1)
        connection.sendall(head + b'{"key": "one"')
        time.sleep(0.02)
        connection.sendall(b" ")
        ((line, _),) = answers(connection, 1)
    ids = [json.loads(body)["id"] for body in (first, other, again, last)]
    assert ids[0] == ids[2]
    assert ids[1] == ids[3]
    assert ids[0] != ids[1]
    assert b" 400 " in line


def test_requests_sent_at_once_are_answered_in_their_order(server):
    keys = [f"row-{number}" for number in range(8)]
    plain = [request(server, DECISIONS, json.dumps({"key": key}).encode(), JSON) for key in keys]
    slow = request(server, "/v1/experiments/button", b"", method="GET")
    with connect(server) as connection:
        connection.sendall(b"".join([*plain[:3], slow, *plain[3:]]))
        found = [json.loads(body) for _, body in answers(connection, 9)]
    assert found[3]["name"] == "button"
    del found[3]
    with connect(server) as connection:
        for key, first in zip(keys, found, strict=True):
            body = json.dumps({"key": key}).encode()
            connection.sendall(request(server, DECISIONS, body, JSON))
            ((_, again),) = answers(connection, 1)
            assert json.loads(again)["id"] == first["id"], key
            assert json.loads(again)["duplicate"]


def test_a_client_that_leaves_does_no_harm(server):
    for number in range(20):
        connection = connect(server)
        body = json.dumps({"key": f"gone-{number}"}).encode()
        connection.sendall(request(server, DECISIONS, body, JSON))
        connection.close()
    made = server.api.post(DECISIONS, json={"key": "after"})
    assert made.status_code == 201
    deadline = time.monotonic() + 20
    while b"patientbandits_waiting 0.0" not in server.api.get("/metrics").content:
        assert time.monotonic() < deadline, "somebody waits for ever"
        time.sleep(0.05)


def test_the_short_way_is_counted(server):
    def count():
        text = server.api.get("/metrics").text
        labels = r'method="POST",route="[^"]*decisions",status="201"'
        found = re.search(rf"patientbandits_answers_total\{{{labels}\}} (\S+)", text)
        return float(found[1])

    if server.process.args[-1] != "1":
        pytest.skip("each worker counts for itself")
    before = count()
    with connect(server) as connection:
        connection.sendall(request(server, DECISIONS, b"{}", JSON))
        answers(connection, 1)
    assert count() == before + 1
