"""The process that writes: it alone owns the journal and the policies' memories.

Workers read, check and answer requests; what is to be decided and written they ask of this process,
over a socket that only this machine's processes of the same user can reach. All that gathers from
all of them is one batch, as in a single process. What a worker asked for may be carried out after
the worker has died: then nobody was told, as when an answer is lost on its way.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import time
from functools import partial
from typing import Any

import uvloop

from patientbandits.live import shop as library
from patientbandits.live.commands import Command
from patientbandits.live.errors import RefusedError
from patientbandits.live.http.allocator import settle_allocator
from patientbandits.live.http.logs import log_failure, set_up_logs
from patientbandits.live.http.preparing import made_ready
from patientbandits.live.http.queueing import Waiting
from patientbandits.live.http.supervisor import WRITE_FAILED
from patientbandits.live.http.wire import (
    ASK,
    READY,
    TOLD,
    WARMED,
    Frames,
    frame,
    packed_outcomes,
    unpacked_commands,
)
from patientbandits.live.http.writer import Writer
from patientbandits.live.settings import stored_settings
from patientbandits.live.shop import Shop

COUNTS_EVERY = 0.5
"""seconds between looks at what was counted"""


class WriterProcess:
    """Serves workers until it is told to stop and the last of them has left."""

    def __init__(self, shop: Shop, queue: int) -> None:
        self.links: set[WorkerLink] = set()
        self.ready = False
        self._stopping = False
        self._ended = asyncio.Event()
        self.writer = Writer(shop, queue, self._ended.set, in_thread=False)

    async def run(self, bound: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, self.stop)
        loop.add_signal_handler(signal.SIGINT, self.stop)
        server = await loop.create_unix_server(lambda: WorkerLink(self), sock=bound)
        preparing = loop.create_task(self._prepare())
        await self._ended.wait()
        server.close()
        for link in list(self.links):
            link.close()
        with contextlib.suppress(asyncio.CancelledError):
            preparing.cancel()
            await preparing
        await self.writer.close()

    async def _prepare(self) -> None:
        await self.writer.prepared()
        self.ready = True
        for link in self.links:
            link.send((READY,))

    def stop(self) -> None:
        self._stopping = True
        self.end_if_alone()

    def end_if_alone(self) -> None:
        if self._stopping and not self.links:
            self._ended.set()


class WorkerLink(asyncio.Protocol):
    """The connection to one worker."""

    def __init__(self, process: WriterProcess) -> None:
        self._process = process
        self._frames = Frames()
        self._transport: Any = None
        self._counted = 0.0
        self._loop = asyncio.get_running_loop()
        self._tasks: set[asyncio.Task[None]] = set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._process.links.add(self)
        if self._process.ready:
            self.send((READY,))

    def connection_lost(self, exc: Exception | None) -> None:
        self._process.links.discard(self)
        self._process.end_if_alone()

    def data_received(self, data: bytes) -> None:
        try:
            for message in self._frames.feed(data):
                if message[0] == ASK:
                    self._ask(message[1], message[2])
                else:
                    self._later(self._warm(message[1], message[2]))
        except Exception as error:  # the worker asks again once it is connected anew
            log_failure("a worker sent what cannot be read", error)
            self.close()

    def _ask(self, number: int, packed: list[Any]) -> None:
        commands = unpacked_commands(packed)
        self._process.writer.add(Waiting(partial(self._tell, number, commands), commands))

    def _tell(self, number: int, commands: list[Command]) -> None:
        now = time.monotonic()
        counts = None
        if now - self._counted >= COUNTS_EVERY:
            counts = self._process.writer.counts
            self._counted = now
        self.send((TOLD, number, packed_outcomes(commands), counts))

    def _later(self, work: Any) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _warm(self, number: int, settings: str) -> None:
        wrong: str | None = None
        try:
            await asyncio.to_thread(made_ready, stored_settings(settings))
        except RefusedError as error:
            wrong = str(error)
        except Exception as error:
            log_failure("a policy cannot be made ready", error)
            wrong = f"experiment: its policy cannot be made ready: {type(error).__name__}."
        self.send((WARMED, number, wrong))

    def send(self, message: Any) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(frame(message))

    def close(self) -> None:
        """Send what is to be sent, and close."""
        self._transport.close()


def run_writer(db: str, bound: socket.socket, queue: int, log_level: str) -> int:
    """Write until told to stop; the exit code."""
    set_up_logs(log_level)
    settle_allocator()
    with library.open(db) as shop:

        async def write() -> None:
            await WriterProcess(shop, queue).run(bound)

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(write())
        return WRITE_FAILED if shop.journal.failure is not None else 0
