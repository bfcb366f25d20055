"""Heads of requests that were read before.

A client sends the same head again and again, and to read it takes longer than to decide. The same
bytes say the same, so what a head led to is kept by its bytes: a short way (see `express`), and
what that way made of the headers. Who may ask is checked with every request.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from patientbandits.live.http.whole_answers import RequestHeaders, ShortWay

HEAD_END = b"\r\n\r\n"
MOST_HEADS = 1000
LARGEST_KNOWN = 2048
"""bytes; longer heads are read every time"""


class KnownHead(NamedTuple):
    way: ShortWay
    head: Any
    """the headers, as the short way wants them"""
    length: int
    """of the body"""


class KnownHeads:
    def __init__(self) -> None:
        self._by_bytes: dict[bytes, KnownHead] = {}

    def find(self, data: bytes) -> tuple[KnownHead, bytes] | None:
        """The head, and the body, if ``data`` is one whole request with a head that is known."""
        end = data.find(HEAD_END) + len(HEAD_END)
        known = self._by_bytes.get(data[:end])
        if known is None or len(data) - end != known.length:
            return None
        return known, data[end:]

    def keep(self, data: bytes, headers: RequestHeaders, body: bytes, way: ShortWay) -> None:
        """``data`` was read, alone and from its first byte, as a request with this body.

        If what precedes the body is one head, its bytes stand for what was read.
        """
        end = data.find(HEAD_END) + len(HEAD_END)
        plain = (b"content-length", b"%d" % len(body)) in headers
        if plain and len(data) - end == len(body) and end <= LARGEST_KNOWN:
            if len(self._by_bytes) >= MOST_HEADS:  # they differ from request to request
                self._by_bytes.clear()
            self._by_bytes[data[:end]] = KnownHead(way, way.read(headers), len(body))
