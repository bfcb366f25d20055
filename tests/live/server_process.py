"""`patientbandits serve` as a process of its own, and a client that costs little: raw HTTP/1.1,
one request at a time."""

from __future__ import annotations

import asyncio
import http.client
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

SOURCE = Path(__file__).parents[2] / "src"


class ServerProcess:
    """``ready`` is the number of seconds from the start to the first yes of /readyz."""

    def __init__(
        self,
        db: str,
        *options: str,
        environment: dict[str, str] | None = None,
        command: tuple[str, ...] = (),
    ) -> None:
        began = time.perf_counter()
        paths = os.pathsep.join(
            path for path in (str(SOURCE), os.environ.get("PYTHONPATH", "")) if path
        )
        self.process = subprocess.Popen(
            [
                sys.executable,
                *(command or ("-m", "patientbandits.cli", "serve")),
                "--db",
                db,
                "--port",
                "0",
                "--no-keys",
                *options,
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "PYTHONPATH": paths, **(environment or {})},
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if "listening on" not in line:
            raise RuntimeError(
                f"the server did not start: {line!r}, exit code {self.process.wait()}"
            )
        self.port = int(line.rsplit(":", 1)[1])
        while self.ask("GET", "/readyz")[0] != 200:
            if self.process.poll() is not None:
                raise RuntimeError(f"the server ended at once: {self.process.returncode}")
            time.sleep(0.005)
        self.ready = time.perf_counter() - began

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """(status, answer); (0, None) if there is none."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            connection.request(
                method,
                path,
                None if body is None else msgspec.json.encode(body),
                {"Content-Type": "application/json"},
            )
            answer = connection.getresponse()
            data = answer.read()
            return answer.status, msgspec.json.decode(data) if data else None
        except (OSError, http.client.HTTPException):
            return 0, None
        finally:
            connection.close()

    def status(self, method: str, path: str) -> int:
        """Of the answer, whatever it is made of; 0 if there is none."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            connection.request(method, path)
            answer = connection.getresponse()
            answer.read()
            return answer.status
        except (OSError, http.client.HTTPException):
            return 0
        finally:
            connection.close()

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.end()

    def stop(self) -> int:
        """Ask it to stop; its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.end()

    def end(self) -> int:
        """Wait until it ends; its exit code."""
        code = self.process.wait(120)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code


Answered = Callable[["Connection", int, bytes], None]


class Connection(asyncio.Protocol):
    """``answered(connection, status, body)`` is called for every answer; status 0: the connection
    is lost."""

    def __init__(self, answered: Answered) -> None:
        self.answered = answered
        self.waiting: Any = None
        """what the request on its way is about; None: idle"""
        self._received = b""
        self._transport: Any = None

    @classmethod
    async def open(cls, port: int, answered: Answered) -> Connection:
        return (
            await asyncio.get_running_loop().create_connection(
                lambda: cls(answered), "127.0.0.1", port
            )
        )[1]

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def send(self, request: bytes, about: Any) -> None:
        assert self.waiting is None
        self.waiting = about
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        received = self._received = self._received + data if self._received else data
        end = received.find(b"\r\n\r\n")
        if end < 0:
            return
        at = received.find(b"content-length: ", 0, end) + 16
        length = int(received[at : received.find(b"\r\n", at)])
        if len(received) < end + 4 + length:
            return
        self._received = b""
        self.answered(self, int(received[9:12]), received[end + 4 :])

    def connection_lost(self, error: Exception | None) -> None:
        if self.waiting is not None:
            self.answered(self, 0, b"")

    def close(self) -> None:
        self.waiting = None
        self._transport.close()


def post(path: str, body: bytes) -> bytes:
    """The bytes of a request."""
    head = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body
