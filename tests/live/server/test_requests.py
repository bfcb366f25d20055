"""A request is answered alike however it comes: in one piece or two, alone or with others, with a
head that was read before or a new one."""

from __future__ import annotations

import json
import re
import socket
import time

import pytest
from service import Running

from patientbandits.live.http.messages import Head
from patientbandits.live.server import protocol
from patientbandits.live.server.protocol import HeadCache

pytestmark = pytest.mark.slow

DECISIONS = "/v1/experiments/button/decisions"
CONVERSIONS = "/v1/experiments/button/conversions"
JSON = "Content-Type: application/json"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    db = tmp_path_factory.mktemp("requests") / "shop.db"
    with Running(db) as running:
        made = running.api.post("/v1/experiments", json={"name": "button", "arms": ["a", "b"]})
        assert made.status_code == 201
        yield running


def connect(server):
    host, port = server.url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=120)


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


def test_in_one_piece_and_in_two_a_request_is_answered_alike(server):
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
    """The second is known by its bytes."""
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


def test_a_head_is_known_by_all_of_its_bytes():
    data = b"POST /x HTTP/1.1\r\nContent-Length: 2\r\n\r\n"
    head = Head("POST", "/x", b"", {b"content-length": b"2"}, 2, True, "1.1")
    heads = HeadCache()
    assert heads.find(data + b"{}", 0) == (None, len(data))
    heads.keep(data, head)
    assert heads.find(data + b"[]", 0) == (head, len(data))
    assert heads.find(b"ab" + data, 2) == (head, len(data) + 2)
    for other in (data[:-1], data[:-2] + b"{}", b" " + data, b"\r\n" + data, data.lower(), b""):
        assert heads.find(other, 0)[0] is None, other


def test_the_cache_of_heads_is_bounded():
    heads = HeadCache()
    head = Head("GET", "/", b"", {}, 0, True, "1.1")
    for number in range(3 * protocol.KEPT_HEADS):
        heads.keep(b"GET /%d HTTP/1.1\r\n\r\n" % number, head)
        assert len(heads) <= protocol.KEPT_HEADS
    before = len(heads)
    heads.keep(b"GET /%s HTTP/1.1\r\n\r\n" % (b"x" * protocol.LARGEST_KEPT_HEAD), head)
    many = {b"h%d" % number: b"" for number in range(protocol.MOST_KEPT_HEADERS + 1)}
    heads.keep(b"GET / HTTP/1.1\r\nmany\r\n\r\n", head._replace(headers=many))
    assert len(heads) == before


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
    deadline = time.monotonic() + 120
    while b"patientbandits_waiting 0.0" not in server.api.get("/metrics").content:
        assert time.monotonic() < deadline, "somebody waits for ever"
        time.sleep(0.05)


def test_a_decision_is_counted(server):
    def count():
        text = server.api.get("/metrics").text
        labels = r'method="POST",route="[^"]*decisions",status="201"'
        found = re.search(rf"patientbandits_answers_total\{{{labels}\}} (\S+)", text)
        return float(found[1])

    before = count()
    with connect(server) as connection:
        connection.sendall(request(server, DECISIONS, b"{}", JSON))
        answers(connection, 1)
    assert count() == before + 1
