"""As many requests as a server can answer, from clients that cost little.

A client of a server on the same machine takes its time from it: so this one waits for all of its
connections at once (epoll), sends bytes made beforehand, and looks at no more than the status.
"""

from __future__ import annotations

import os
import select
import socket
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

Request = Callable[[], bytes]

STATUS = slice(9, 12)
CREATED = (b"200", b"201")
LARGEST_ANSWER = 65536


class Throughput(NamedTuple):
    rate: float
    """answers a second"""
    server: float
    """microseconds of the server's processor time for each"""


def processor_seconds(processes: Sequence[int]) -> float:
    """What these have used so far, in the kernel too."""
    ticks = 0
    for pid in processes:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def as_fast_as_possible(
    port: int, clients: int, seconds: float, request: Request, processes: Sequence[int] = ()
) -> Throughput:
    """Answers to ``clients`` that each send the next request when the last is answered; a tenth of
    the time to warm up. ``processes``: the server's, for its processor time."""
    connections = [socket.create_connection(("127.0.0.1", port)) for _ in range(clients)]
    waiting = select.epoll()
    by_number = {one.fileno(): one for one in connections}
    for number, connection in by_number.items():
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        waiting.register(number, select.EPOLLIN)
        connection.sendall(request())
    answer_for(waiting, by_number, seconds / 10, request)
    before = processor_seconds(processes)
    began = time.perf_counter()
    answered = answer_for(waiting, by_number, seconds, request)
    elapsed = time.perf_counter() - began
    used = processor_seconds(processes) - before
    for connection in connections:
        check(connection.recv(LARGEST_ANSWER))
        connection.close()
    waiting.close()
    return Throughput(rate=answered / elapsed, server=1e6 * used / answered)


def answer_for(
    waiting: select.epoll, by_number: dict[int, socket.socket], seconds: float, request: Request
) -> int:
    """Go on for so long; how many answers there were."""
    answered = 0
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for number, _ in waiting.poll():
            connection = by_number[number]
            check(connection.recv(LARGEST_ANSWER))
            connection.send(request())
            answered += 1
    return answered


def check(answer: bytes) -> None:
    """Short answers come in one piece."""
    if answer[STATUS] not in CREATED or not answer.endswith(b"}"):
        raise RuntimeError(f"the server refused: {answer!r}")
