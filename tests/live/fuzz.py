"""Requests that were damaged on their way, or never were any: raw bytes for a server.

A good request is cut, doubled, mixed with another or sprinkled with bytes at random, sent, and the
sending side closed. The server may answer what it likes below 500, or hang up; it must not fail,
not be silent, and go on serving everybody else.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter

SECONDS = 120.0
"""till when there must be an answer or an end"""

HEAD = b"Host: localhost\r\nContent-Type: application/json\r\n"
BODIES = (
    b'{"unit": "u1", "key": "k"}',
    b'{"unit": "u1", "order": "A", "value": 0.5}',
    b'{"conversions": [{"unit": "u", "value": 1e-7}, {"id": "x"}]}',
    b'{"name": "a", "arms": ["x", "y"], "window": "30d"}',
    b'{"value": 1e999, "at": 1e308}',
    b"[" * 500,
    b"",
)
PATHS = (
    b"POST /v1/experiments/a/decisions",
    b"POST /v1/experiments/a/conversions",
    b"POST /v1/experiments/a/conversions/batch",
    b"POST /v1/track",
    b"POST /v1/erasures",
    b"POST /v1/experiments",
    b"GET /v1/experiments/a/report",
    b"GET /v1/experiments/a/export?format=csv",
    b"GET /dashboard/",
    b"PATCH /v1/experiments/a",
    b"DELETE /v1/keys/none",
    b"OPTIONS *",
)
WORDS = (
    b"\r\n",
    b"\r\n\r\n",
    b"\x00",
    b"\xff\xfe",
    b"Transfer-Encoding: chunked\r\n",
    b"Content-Length: 99999999999999999999\r\n",
    b"Content-Length: -1\r\n",
    b"Expect: 100-continue\r\n",
    b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n",
    b"HTTP/0.9",
    b"HTTP/2.0",
    b"0\r\nX: y\r\n\r\n",
    b"%00%ff/../",
    b"\\ud800",
    b"Idempotency-Key: \x80\r\n",
    b"Authorization: Bearer x\r\n",
)
"""what servers stumble over"""


def good_request(chance: random.Random) -> bytes:
    path = chance.choice(PATHS)
    body = chance.choice(BODIES)
    if chance.random() < 0.3:
        chunk = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body) if body else b"0\r\n\r\n"
        return b"%b HTTP/1.1\r\n%bTransfer-Encoding: chunked\r\n\r\n%b" % (path, HEAD, chunk)
    return b"%b HTTP/1.1\r\n%bContent-Length: %d\r\n\r\n%b" % (path, HEAD, len(body), body)


def damaged(request: bytes, chance: random.Random) -> bytes:
    """The request after one to four accidents."""
    data = bytearray(request)
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(data) + 1)
        accident = chance.randrange(6)
        if accident == 0 and place < len(data):
            data[place] ^= 1 << chance.randrange(8)
        elif accident == 1:
            data[place:place] = chance.choice(WORDS)
        elif accident == 2:
            del data[place : place + chance.randint(1, 40)]
        elif accident == 3:
            data[place:place] = chance.randbytes(chance.randint(1, 20))
        elif accident == 4:
            data += good_request(chance)
        else:
            del data[place:]
    return bytes(data)


async def fate_of(port: int, request: bytes) -> str:
    """The first status, or how else it ended."""
    try:
        async with asyncio.timeout(SECONDS):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                writer.write(request)
                writer.write_eof()
                answer = await reader.read()
            finally:
                writer.close()
    except TimeoutError:
        return "silence"
    except OSError:
        return "hung up"
    statuses = [part[:3] for part in answer.split(b"HTTP/1.1 ")[1:]]
    failed = [status for status in statuses if status >= b"500"]
    if failed:
        return failed[0].decode()
    return statuses[0].decode() if statuses else "hung up"


async def fuzzed(port: int, requests: int, seed: int, at_once: int = 16) -> Counter[str]:
    """What became of each of so many damaged requests; bad ones are counted under their text."""
    chance = random.Random(seed)
    fates: Counter[str] = Counter()
    left = iter(range(requests))

    async def client() -> None:
        for _ in left:
            request = damaged(good_request(chance), chance)
            fate = await fate_of(port, request)
            bad = fate == "silence" or (fate >= "500" and fate.isdecimal())
            fates[f"{fate}: {request!r:.500}" if bad else fate] += 1

    await asyncio.gather(*[client() for _ in range(at_once)])
    return fates


def wrong_fates(fates: Counter[str]) -> list[str]:
    """Those that must not be."""
    return [fate for fate in fates if ": " in fate]
