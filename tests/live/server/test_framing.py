"""The protocol against a twin that has all bytes at once, and against clients of every kind of
slowness. Nothing here waits for a clock: time is what the test says."""

from __future__ import annotations

import asyncio
import json
import random
import re

import pytest

from patientbandits.live.http.messages import (
    CLOSE,
    ProblemError,
    Response,
    Stream,
    encode,
    problem_response,
)
from patientbandits.live.server import protocol
from patientbandits.live.server.protocol import HTTPProtocol, ServerState

LIMIT = 300
"""bytes that a body may have here"""

HIGH = 2000
"""bytes of answers that wait to be fetched before the transport asks for a pause"""


async def aside(work):
    await asyncio.sleep(0)
    return work()


class App:
    """Answers with what it was asked: at once, later, in pieces, or not at all."""

    def __init__(self):
        self.under_way = 0
        self.waiting = []
        self.pieces_closed = self.streams_ended = 0

    def admit(self, request):
        if request.head.path.startswith("/refused"):
            request.refusal = ProblemError(401, "key missing", "no")
            return 0
        request.authorised = True
        return LIMIT

    async def handle(self, request):
        self.under_way += 1
        assert self.under_way == 1, "one request of a connection at a time"
        try:
            return await self.answer(request)
        finally:
            self.under_way -= 1

    async def answer(self, request):
        path = request.head.path
        error = request.refusal or request.body_error
        if error is not None:
            return problem_response(error.status, error.kind, str(error), error.headers)
        if path.startswith("/later"):
            for _ in range(2):
                future = asyncio.get_running_loop().create_future()
                self.waiting.append(future)
                await future
        if path.startswith("/turn"):
            await asyncio.sleep(0)
        if path.startswith("/stream"):
            stream = Stream(self.pieces(request), "text/csv", "a.csv", aside)
            stream.on_end = self.count_end
            return await stream.begin()
        if path.startswith("/large"):
            return Response(200, b"y" * 5000, media=b"text/plain")
        if path.startswith("/closing"):
            return Response(200, b"{}", CLOSE)
        if path.startswith("/nothing"):
            return Response(204, b"")
        told = {"method": request.head.method, "path": path, "body": request.body.decode()}
        return Response(200, encode(told))

    def pieces(self, request):
        try:
            yield from (request.head.method.encode(), b"", request.body, b"x" * 3000)
        finally:
            self.pieces_closed += 1

    def count_end(self):
        self.streams_ended += 1


class Transport:
    """A socket whose client fetches when the test says so."""

    def __init__(self):
        self.protocol = None
        self.written = bytearray()
        self.unfetched = 0
        self.closed = self.aborted = self.ended = self.paused = False
        self.eager = True
        """the client fetches everything at once"""
        self.told_to_pause = False

    def write(self, data):
        assert not self.closed
        self.written += data
        if not self.eager:
            self.unfetched += len(data)
            if self.unfetched > HIGH and not self.told_to_pause:
                self.told_to_pause = True
                self.protocol.pause_writing()

    def fetch(self, size):
        self.unfetched = max(self.unfetched - size, 0)
        if self.told_to_pause and self.unfetched <= HIGH // 4 and not self.closed:
            self.told_to_pause = False
            self.protocol.resume_writing()

    def set_write_buffer_limits(self, high):
        pass

    def get_extra_info(self, name):
        return None

    def get_write_buffer_size(self):
        return self.unfetched

    def can_write_eof(self):
        return True

    def write_eof(self):
        self.ended = True

    def close(self):
        self.closed = True

    def abort(self):
        self.closed = self.aborted = True

    def is_closing(self):
        return self.closed

    def pause_reading(self):
        assert not self.paused
        self.paused = True

    def resume_reading(self):
        assert self.paused
        self.paused = False


def connected(app, state=None):
    """(the protocol, its transport)"""
    transport = Transport()
    made = HTTPProtocol(state or ServerState(app))
    transport.protocol = made
    made.connection_made(transport)
    return made, transport


# the twin


class EndedError(Exception):
    """More would have to come."""


def split(data, end):
    part, found, rest = data.partition(end)
    if not found:
        raise EndedError
    return part, rest


def unchunked(data):
    """(the body, what follows; None if the body is too large)"""
    body = b""
    while True:
        size, data = split(data, b"\r\n")
        length = int(size.split(b";")[0], 16)
        if length == 0:
            break
        body += data[:length]
        if len(body) > LIMIT:
            return body, None
        data = data[length + 2 :]
    line = b"trailer"
    while line:
        line, data = split(data, b"\r\n")
    return body, data


def body_of(method, path, body):
    """What the application answers."""
    if path == b"/stream":
        return method + body + b"x" * 3000
    if path in FIXED:
        return FIXED[path]
    told = {"method": method.decode(), "path": path.decode(), "body": body.decode()}
    return encode(told)


FIXED = {b"/large": b"y" * 5000, b"/closing": b"{}", b"/nothing": b""}


def answer_one(data):
    """(status, body, whether the connection ends, what follows) for the first request, from RFC
    9112 and the limits of the server."""
    head, rest = split(data.lstrip(b"\r\n"), b"\r\n\r\n")
    (method, path, version), *fields = [line.split(b" ", 2) for line in head.split(b"\r\n")]
    headers = {name.lower(): value for name, value, *_ in fields}
    ends = version == b"HTTP/1.0" or headers.get(b"connection:") == b"close"
    length = int(headers.get(b"content-length:", b"0"))
    chunked = b"transfer-encoding:" in headers
    if path == b"/refused":
        waits = length > 0 and b"expect:" in headers  # and does not hear that it may send
        return 401, None, ends or chunked or waits, rest[length:]
    if chunked:
        body, rest = unchunked(rest)
        if rest is None:
            return 413, None, True, b""
    elif length > LIMIT:
        return 413, None, True, b""
    elif len(rest) < length:
        raise EndedError
    else:
        body, rest = rest[:length], rest[length:]
    text = b"" if method == b"HEAD" else body_of(method, path, body)
    return 204 if path == b"/nothing" else 200, text, ends or path == b"/closing", rest


def expected(data):
    """What must be answered to all of ``data``: (status, body) of each answer, and whether the
    connection ends."""
    answers = []
    ends = False
    try:
        while not ends:
            status, body, ends, data = answer_one(data)
            answers.append((status, body))
    except EndedError:
        pass
    return answers, ends


def answered(written, methods):
    """The answers in ``written``: (status, body; None for an error), to requests by ``methods``."""
    answers = []
    data = bytes(written)
    for method in methods:
        while data.startswith(b"HTTP/1.1 100 "):
            data = data.partition(b"\r\n\r\n")[2]
        if not data:
            break
        head, blank, data = data.partition(b"\r\n\r\n")
        assert blank, head
        status = int(head[9:12])
        assert re.search(rb"\r\ndate: [^\r]+ GMT\r\n", head + b"\r\n")
        length = re.search(rb"\r\ncontent-length: (\d+)", head)
        if method == b"HEAD" or status == 204:
            body = b""
        elif length:
            body, data = data[: int(length[1])], data[int(length[1]) :]
            assert len(body) == int(length[1])
        elif b"transfer-encoding: chunked" in head:
            body = b""
            while True:
                size, _, data = data.partition(b"\r\n")
                piece, data = data[: int(size, 16)], data[int(size, 16) + 2 :]
                body += piece
                if not piece:
                    break
        else:
            body, data = data, b""
        if status >= 400:
            problem = json.loads(body) if body else {"status": status}
            assert problem["status"] == status
            body = None
        answers.append((status, body))
    assert data == b""
    return answers


PATHS = (b"/now", b"/later", b"/turn", b"/stream", b"/large", b"/nothing", b"/refused", b"/closing")
WEIGHTS = (8, 6, 3, 2, 1, 1, 2, 0.3)
BODIES = (b"", b"{}", b"\r\n\r\n", b"a\r\n\r\nGET /now HTTP/1.1\r\n\r\n", b"0\r\n\r\n", b"x" * 299)


def request_of(chance):
    """(the method, the bytes)"""
    method = chance.choice([b"GET", b"POST", b"HEAD", b"DELETE"])
    (path,) = chance.choices(PATHS, WEIGHTS)
    version = b"1.0" if chance.random() < 0.03 else b"1.1"
    lines = [b"%s %s HTTP/%s" % (method, path, version), b"Host: x"]
    if chance.random() < 0.04:
        lines.append(b"Connection: close")
    elif chance.random() < 0.1:
        lines += [b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: h2c"]
    if chance.random() < 0.1:
        lines.append(b"Expect: 100-continue")
    body = chance.choice(BODIES)
    if chance.random() < 0.04:
        body = b"z" * (LIMIT + 1)
    if body and chance.random() < 0.4 and version == b"1.1":
        lines.append(b"Transfer-Encoding: chunked")
        framed = b""
        at = 0
        while at < len(body):
            size = chance.randint(1, max(len(body) // 2, 1))
            piece = body[at : at + size]
            extension = b";a=b" if chance.random() < 0.2 else b""
            framed += b"%x%s\r\n%s\r\n" % (len(piece), extension, piece)
            at += size
        trailer = b"X-Sum: 1\r\n" if chance.random() < 0.3 else b""
        body = framed + b"0\r\n" + trailer + b"\r\n"
    elif body or chance.random() < 0.5:
        lines.append(b"Content-Length: %d" % len(body))
    empty = b"\r\n" * chance.choice([0, 0, 0, 1, 2])
    return method, empty + b"\r\n".join(lines) + b"\r\n\r\n" + body


def pieces_of(data, chance):
    """The bytes as a network might bring them."""
    longest = chance.choice([1, 3, 17, 200, 100_000])
    while data:
        size = chance.randint(1, longest)
        yield data[:size]
        data = data[size:]


async def settle():
    for _ in range(6):
        await asyncio.sleep(0)


async def deliver(data, chance, lazy, half_closed):
    """Send ``data`` in pieces to a new connection, as its transport lets us."""
    app = App()
    made, transport = connected(app)
    transport.eager = not lazy
    pieces = list(pieces_of(data, chance))
    idle = 0
    while idle < 60:
        idle += 1
        await settle()
        if chance.random() < 0.5:
            while app.waiting:
                app.waiting.pop().set_result(None)
                idle = 0
        if lazy and transport.unfetched and chance.random() < 0.5:
            transport.fetch(chance.randint(1, 4000))
            idle = 0
        if pieces and not transport.paused and not transport.closed:
            made.data_received(pieces.pop(0))
            idle = 0
            if not pieces and half_closed and not transport.closed and not made.eof_received():
                transport.close()
        assert len(made._unread) <= len(data)
        assert transport.unfetched <= HIGH + 6000, "no answer is made while others wait"
    connection_ends = transport.closed or transport.ended
    made.connection_lost(None)
    return transport, connection_ends


@pytest.mark.parametrize("seed", range(12))
def test_requests_in_any_pieces_are_answered_as_by_the_twin(seed):
    chance = random.Random(seed)

    async def play():
        kinds = set()
        for _ in range(40):
            requests = [request_of(chance) for _ in range(chance.randint(1, 9))]
            methods = [method for method, _ in requests]
            data = b"".join(data for _, data in requests)
            if chance.random() < 0.15:
                data = data[: chance.randrange(1, len(data))]
            must, ends = expected(data)
            lazy, half = chance.random() < 0.4, chance.random() < 0.3
            transport, ended = await deliver(data, chance, lazy, half)
            if b"content-length" in transport.written[-400:] or must:
                kinds.update(status for status, _ in must)
            assert not transport.aborted
            assert answered(transport.written, methods) == must, data
            if ends or half:
                assert ended, data
            else:
                assert not ended, data
        return kinds

    assert asyncio.run(play()) >= {200, 401}


def test_the_twin_is_no_echo():
    """A control: a request more, or a byte less, is seen."""
    data = b"GET /now HTTP/1.1\r\nHost: x\r\n\r\n"
    assert expected(data * 2) != expected(data)
    assert expected(data[:-1]) == ([], False)
    long = b"POST /now HTTP/1.1\r\nContent-Length: 301\r\n\r\n" + b"x" * 301
    assert expected(long) == ([(413, None)], True)


@pytest.mark.parametrize(
    "data",
    [
        b"nonsense\r\n\r\n",
        b"GET /now HTTP/1.1\nHost: x\n\n",
        b"GET /now HTTP/1.1\r\nHost: x\n\nGET /now HTTP/1.1\r\n\r\n",
        b"GET /now HTTP/1.1\r\nHost : x\r\n\r\n",
        b"GET /now HTTP/1.1\r\nA: b\r\n c: d\r\n\r\n",
        b"POST /now HTTP/1.1\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /now HTTP/1.1\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        b"POST /now HTTP/1.1\r\nContent-Length: +2\r\n\r\n{}",
        b"POST /now HTTP/1.1\r\nContent-Length: 0x2\r\n\r\n{}",
        b"POST /now HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n{}",
        b"POST /now HTTP/1.1\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        b"POST /now HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n\r\n",
        b"POST /now HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff1\r\n\r\n",
        b"POST /now HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}0\r\n\r\n",
        b"GET http://[/ HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ],
)
@pytest.mark.parametrize("apart", [False, True], ids=["at once", "byte by byte"])
def test_what_is_no_http_is_refused_at_once(data, apart):
    async def play():
        made, transport = connected(App())
        for piece in [data[at : at + 1] for at in range(len(data))] if apart else [data]:
            if not transport.closed:
                made.data_received(piece)
        await settle()
        return transport

    transport = asyncio.run(play())
    assert transport.written.startswith(b"HTTP/1.1 400 "), transport.written
    assert transport.written.count(b"HTTP/1.1 ") == 1
    assert b"connection: close\r\n" in transport.written
    assert transport.closed or transport.ended


def test_a_body_is_asked_for_only_if_it_is_wanted():
    """A refused client that waits for leave to send is told at once, and may not go on."""

    async def play(path):
        made, transport = connected(App())
        head = b"POST %b HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"
        made.data_received(head % path)
        first = bytes(transport.written)
        made.data_received(b"{}")
        return first, transport.written[len(first) :], transport.ended

    first, then, ended = asyncio.run(play(b"/now"))
    assert first == b"HTTP/1.1 100 Continue\r\n\r\n"
    assert then.startswith(b"HTTP/1.1 200 ")
    assert not ended
    first, then, ended = asyncio.run(play(b"/refused"))
    assert first.startswith(b"HTTP/1.1 401 ")
    assert (then, ended) == (b"", True)


def play_at(seconds, *pieces, app=None, lazy=False):
    """A connection, given ``pieces``, looked at after so many seconds."""

    async def play():
        made, transport = connected(app or App())
        transport.eager = not lazy
        for piece in pieces:
            made.data_received(piece)
        await settle()
        began = asyncio.get_running_loop().time()
        made.check(began + seconds - 1)
        early = transport.closed or transport.ended
        made.check(began + seconds + 1)
        await settle()
        return early, transport

    return asyncio.run(play())


WHOLE = b"GET /now HTTP/1.1\r\nHost: x\r\n\r\n"


def test_a_head_may_not_be_slow():
    early, transport = play_at(protocol.HEAD_SECONDS, b"GET /now HTT")
    assert not early
    assert transport.written.startswith(b"HTTP/1.1 408 ")
    assert transport.ended
    early, transport = play_at(protocol.HEAD_SECONDS, WHOLE, b"GET /now HTT")
    assert not early
    assert b"HTTP/1.1 408 " in transport.written, "nor may a later one"
    early, transport = play_at(protocol.HEAD_SECONDS, b"\r\n\r\n")
    assert (early, transport.closed, transport.written) == (False, True, b""), "nothing was asked"


def test_an_idle_connection_is_closed():
    early, transport = play_at(protocol.KEEP_ALIVE, WHOLE, b"\r\n")
    assert not early
    assert transport.closed
    assert transport.written.count(b"HTTP/1.1 200 ") == 1


def test_a_request_that_is_being_answered_is_not_idle():
    early, transport = play_at(10_000.0, b"GET /later HTTP/1.1\r\nHost: x\r\n\r\n")
    assert not early
    assert not transport.closed


@pytest.mark.parametrize(
    "framing", [b"Content-Length: 9\r\n\r\n{", b"Transfer-Encoding: chunked\r\n\r\n9\r\n{"]
)
def test_a_slow_body_is_refused(framing):
    early, transport = play_at(
        protocol.BODY_SECONDS, b"POST /now HTTP/1.1\r\nHost: x\r\n" + framing
    )
    assert not early
    assert transport.written.startswith(b"HTTP/1.1 408 ")
    assert transport.ended


def test_a_body_that_nobody_wants_keeps_no_connection_open():
    """The answer was sent before the body had come."""
    head = b"POST /refused HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n{"
    early, transport = play_at(protocol.KEEP_ALIVE, head, b" ", b" ")
    assert not early
    assert transport.written.startswith(b"HTTP/1.1 401 ")
    assert transport.closed


def test_answers_that_nobody_fetches_end_the_connection():
    early, transport = play_at(
        protocol.FETCH_SECONDS, b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n" * 5, lazy=True
    )
    assert not early
    assert transport.aborted
    assert transport.written.count(b"HTTP/1.1 ") == 1, "others are not even made"


def test_answers_that_are_fetched_slowly_do_not():
    async def play():
        made, transport = connected(App())
        transport.eager = False
        made.data_received(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        now = asyncio.get_running_loop().time()
        for _ in range(5):
            transport.unfetched -= 100
            now += protocol.FETCH_SECONDS + 1
            made.check(now)
            assert not transport.closed
        made.check(now + protocol.FETCH_SECONDS + 1)
        return transport.aborted

    assert asyncio.run(play())


def test_a_stream_that_nobody_fetches_is_given_up():
    app = App()

    async def play():
        made, transport = connected(app)
        transport.eager = False
        made.data_received(b"GET /stream HTTP/1.1\r\nHost: x\r\n\r\n" * 2)
        await settle()
        await settle()
        assert made._streaming is not None
        made.check(asyncio.get_running_loop().time() + protocol.FETCH_SECONDS + 1)
        assert transport.aborted
        made.connection_lost(None)
        await settle()
        return made, transport.written

    made, written = asyncio.run(play())
    assert made._streaming is None
    assert not written.endswith(b"0\r\n\r\n"), "it must not seem whole"
    assert written.count(b"HTTP/1.1 ") == 1
    assert (app.pieces_closed, app.streams_ended) == (1, 1)


LATER = b"GET /later HTTP/1.1\r\nHost: x\r\n\r\n"


def test_where_all_connections_are_being_served_there_is_no_room():
    async def play():
        state = ServerState(App(), most=1)
        made, served = connected(state.app, state)
        made.data_received(LATER)
        _, late = connected(state.app, state)
        return served.closed, late.closed, bytes(late.written)

    served, late, written = asyncio.run(play())
    assert not served
    assert late
    assert written.startswith(b"HTTP/1.1 503 ")
    assert b"retry-after" in written


def test_the_connection_longest_without_an_authorised_request_makes_room():
    async def play():
        state = ServerState(App(), most=4)
        served, used, refused, idle = (connected(state.app, state) for _ in range(4))
        refused[0].data_received(b"GET /refused HTTP/1.1\r\nHost: x\r\n\r\n")
        used[0].data_received(WHOLE)
        served[0].data_received(LATER)
        orders = []
        for _ in range(3):
            connected(state.app, state)
            orders.append([made[1].aborted for made in (served, used, refused, idle)])
        return orders

    assert asyncio.run(play()) == [
        [False, False, True, False],
        [False, False, True, True],
        [False, True, True, True],
    ]


def test_unfinished_requests_have_a_limit_together(monkeypatch):
    monkeypatch.setattr(protocol, "MOST_UNFINISHED", 500)
    half = b"POST /now HTTP/1.1\r\nHost: x\r\nContent-Length: 300\r\n\r\n"

    async def play():
        state = ServerState(App())
        made = [connected(state.app, state) for _ in range(3)]
        for one, _ in made:
            one.data_received(half + b"x")
            one.data_received(b"x" * 199)
        made[0][0].data_received(b"x" * 100)
        assert bytes(made[0][1].written).startswith(b"HTTP/1.1 200 ")
        statuses = [bytes(transport.written)[9:12] for _, transport in made]
        unfinished = state.unfinished
        for one, _ in made:
            one.connection_lost(None)
        return statuses, unfinished, state.unfinished

    assert asyncio.run(play()) == ([b"200", b"", b"503"], 200, 0)


def test_who_never_fetches_the_last_answer_is_cut_off():
    async def play():
        made, transport = connected(App())
        transport.eager = False
        made.data_received(b"GET /large HTTP/1.0\r\nHost: x\r\n\r\n")
        assert transport.closed
        loop = asyncio.get_running_loop()
        made.check(loop.time() + 1)
        assert not transport.aborted
        transport.unfetched -= 1
        made.check(loop.time() + 2 * protocol.FETCH_SECONDS)
        assert not transport.aborted, "it goes on"
        made.check(loop.time() + 4 * protocol.FETCH_SECONDS)
        return transport.aborted

    assert asyncio.run(play())


def test_what_is_read_is_not_kept():
    async def play():
        made, _ = connected(App())
        made.data_received(WHOLE * 3 + WHOLE[:20])
        for _ in range(4):
            await asyncio.sleep(0)
        return made._unread

    assert asyncio.run(play()) == b""


def test_when_the_server_stops_every_answer_says_so():
    async def play():
        state = ServerState(App())
        idle, busy, half = (connected(state.app, state) for _ in range(3))
        busy[0].data_received(b"GET /later HTTP/1.1\r\nHost: x\r\n\r\n")
        half[0].data_received(b"GET /la")
        state.draining = True
        for made, _ in (idle, busy, half):
            made.close_if_idle()
        assert idle[1].closed
        assert half[1].closed
        assert not busy[1].closed
        for _ in range(4):
            while state.app.waiting:
                state.app.waiting.pop().set_result(None)
            await settle()
        return busy[1]

    transport = asyncio.run(play())
    assert b"connection: close" in transport.written
    assert transport.closed


def test_many_requests_in_one_piece_let_others_have_their_turn():
    async def play():
        state = ServerState(App())
        greedy, modest = connected(state.app, state), connected(state.app, state)
        greedy[0].data_received(WHOLE * 1000)
        first = greedy[1].written.count(b"HTTP/1.1 200 ")
        modest[0].data_received(WHOLE)
        assert modest[1].written.count(b"HTTP/1.1 200 ") == 1
        while greedy[1].written.count(b"HTTP/1.1 200 ") < 1000:
            await asyncio.sleep(0)
        return first

    assert asyncio.run(play()) == protocol.TURN


def test_who_has_no_key_does_not_fill_the_cache_of_heads():
    async def play():
        state = ServerState(App())
        made, _ = connected(state.app, state)
        for number in range(10):
            made.data_received(b"GET /refused/%d HTTP/1.1\r\nHost: x\r\n\r\n" % number)
        assert len(state.heads) == 0
        made.data_received(WHOLE)
        return len(state.heads)

    assert asyncio.run(play()) == 1
