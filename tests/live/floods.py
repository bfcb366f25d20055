"""One client without a key that wants the server's memory: what it sends, and what that does."""

from __future__ import annotations

import contextlib
import http.client
import math
import multiprocessing
import os
import resource
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

END = b"Host: x\r\n\r\n"
MANY_HEADERS = b"GET /x HTTP/1.1\r\nHost: x\r\n" + b"".join(b"a%d:b\r\n" % n for n in range(3500))
MEGABYTES = 100
"""that a flood may take beside what the server has at rest"""

HEALTH_SECONDS = 1.0
GIVEN_BACK_SECONDS = 10.0


class Flood(NamedTuple):
    name: str
    connections: int
    piece: bytes
    """sent by each connection, again and again"""
    fetched: bool
    """whether the answers are read"""
    repeated: bool = True


class Damage(NamedTuple):
    grown: float
    """megabytes at the worst moment, beside those before"""
    kept: float
    """megabytes some seconds after the flood"""
    slowest: float
    """processor seconds of the server until /healthz was answered, at worst; infinite if it was
    not. On a machine that does nothing else they are seconds."""


def floods(connections: int) -> Iterator[Flood]:
    unknown = b"GET /x HTTP/1.1\r\n" + END
    page = b"GET /dashboard/app.js HTTP/1.1\r\n" + END
    for number in (1, connections):
        for fetched in (False, True):
            yield Flood("unknown paths", number, unknown * 1000, fetched)
            yield Flood("files", number, page * 500, fetched)
        yield Flood("many headers, no end", number, MANY_HEADERS, False, repeated=False)
        yield Flood("heads torn", number, unknown * 9000 + MANY_HEADERS[:9000], True, False)
        yield Flood("last answers left", number, page * 100 + unknown[:-2], False)
        last = page.replace(b"Host", b"Connection: close\r\nHost")
        yield Flood("closed, answers left", number, page * 60 + last, False, repeated=False)
        body = b"POST /v1/keys HTTP/1.1\r\nContent-Length: 60000\r\n" + END + b"x" * 60000
        yield Flood("bodies", number, body, False)
        yield Flood("nothing", number, b"", False)


class Attacker:
    """Connections that send without waiting."""

    def __init__(self, port: int, flood: Flood) -> None:
        self._port = port
        self._flood = flood
        self._places: dict[socket.socket, int] = {}
        """bytes that each has sent"""

    def connect(self, end: float) -> None:
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        while len(self._places) < self._flood.connections and time.monotonic() < end:
            connection = socket.socket()
            if not self._flood.fetched:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.setblocking(False)
            connection.connect_ex(("127.0.0.1", self._port))
            self._places[connection] = 0

    def run(self, end: float) -> None:
        while time.monotonic() < end:
            self.connect(end)
            self.turn()
        self.close()

    def turn(self) -> None:
        """Let each connection send, and fetch, what it can."""
        piece = memoryview(self._flood.piece)
        for connection, place in list(self._places.items()):
            try:
                if piece and (self._flood.repeated or place < len(piece)):
                    self._places[connection] += connection.send(piece[place % len(piece) :])
            except BlockingIOError:
                pass
            except OSError:
                self._lose(connection)
                continue
            with contextlib.suppress(BlockingIOError):
                try:
                    if self._flood.fetched and not connection.recv(1 << 18):
                        self._lose(connection)
                except ConnectionError:
                    self._lose(connection)

    def _lose(self, connection: socket.socket) -> None:
        connection.close()
        del self._places[connection]

    def close(self) -> None:
        for connection in self._places:
            connection.close()
        self._places.clear()


def megabytes(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def processor_seconds(pid: int) -> float:
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def health(url: str, pid: int) -> float:
    """The server's work until a new connection has its answer."""
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=30)
    began = processor_seconds(pid)
    try:
        connection.request("GET", "/healthz")
        if connection.getresponse().status != 200:
            return math.inf
    except (OSError, http.client.HTTPException):
        return math.inf
    finally:
        connection.close()
    return processor_seconds(pid) - began


def attack(url: str, pid: int, flood: Flood, seconds: float) -> Damage:
    before = most = megabytes(pid)
    slowest = 0.0
    attacker = Attacker(int(url.rsplit(":", 1)[1]), flood)
    end = time.monotonic() + seconds
    attacking = multiprocessing.get_context("spawn").Process(target=attacker.run, args=(end,))
    attacking.start()
    while attacking.is_alive():
        time.sleep(seconds / 50)
        slowest = max(slowest, health(url, pid))
        most = max(most, megabytes(pid))
    attacking.join()
    end = time.monotonic() + GIVEN_BACK_SECONDS
    while (kept := megabytes(pid) - before) > MEGABYTES / 4 and time.monotonic() < end:
        time.sleep(0.1)
    return Damage(most - before, kept, slowest)
