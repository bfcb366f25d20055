"""A worker's way to the process that writes; it is used like a `Writer`.

All that is asked for in one turn of the loop goes in one piece. If the connection breaks, what is
under way fails: it may have been carried out or not, as after any lost answer. Until there is a
connection again, what is asked for fails at once.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from itertools import chain, count
from typing import Any

from patientbandits.live.errors import RefusedError, UnavailableError
from patientbandits.live.http.queueing import CommandQueue, Waiting, commands_of
from patientbandits.live.http.wire import (
    ASK,
    READY,
    TOLD,
    WARM,
    Frames,
    WriterCounts,
    frame,
    packed_commands,
    take_outcomes,
)
from patientbandits.live.settings import Settings, settings_text

CONNECT_EVERY = 0.05
"""seconds between attempts"""

AWAY = "the process that writes is being started; try again"
LOST = "the process that writes has ended: it may have been carried out or not"


class RemoteWriter(CommandQueue, asyncio.Protocol):
    """``address``: the path of the socket."""

    def __init__(self, address: str, limit: int) -> None:
        super().__init__(limit)
        self._address = address
        self._numbers = count(1)
        self._asked: dict[int, list[Waiting]] = {}
        self._warming: dict[int, asyncio.Future[str | None]] = {}
        self._unsent: list[Waiting] = []
        self._frames = Frames()
        self._transport: Any = None
        self._lost = asyncio.Event()
        self._ready = False
        self._counts = WriterCounts()
        self._task = self._loop.create_task(self._stay_connected())

    @property
    def counts(self) -> WriterCounts:
        """As they were told last."""
        return self._counts

    async def _stay_connected(self) -> None:
        while True:
            self._lost.clear()
            try:
                await self._loop.create_unix_connection(lambda: self, self._address)
                await self._lost.wait()
            except OSError:
                pass
            await asyncio.sleep(CONNECT_EVERY)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._frames = Frames()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._ready = False
        asked = [*chain.from_iterable(self._asked.values()), *self._unsent]
        self._asked.clear()
        self._unsent.clear()
        for waiting in asked:
            for command in waiting.commands:
                command.error = UnavailableError(LOST)
        self._done(asked)
        for warming in self._warming.values():
            if not warming.done():
                warming.set_exception(UnavailableError(LOST))
        self._warming.clear()
        self._lost.set()

    def data_received(self, data: bytes) -> None:
        for message in self._frames.feed(data):
            if message[0] == TOLD:
                self._told(*message[1:])
            elif message[0] == READY:
                self._ready = True
            else:
                warming = self._warming.pop(message[1])
                if not warming.done():
                    warming.set_result(message[2])

    def _told(self, number: int, outcomes: list[Any], counts: list[Any] | None) -> None:
        asked = self._asked.pop(number)
        commands = commands_of(asked)
        take_outcomes(commands, outcomes)
        self.carried_out += len(commands)
        self._done(asked)
        if counts is not None:
            self._counts = WriterCounts(*counts)

    def _done(self, asked: Sequence[Waiting]) -> None:
        for waiting in asked:
            self.waiting -= len(waiting.commands)
            waiting.tell()

    def add(self, waiting: Waiting) -> None:
        if self._transport is None:
            raise UnavailableError(AWAY)
        self.waiting += len(waiting.commands)
        if not self._unsent:
            self._loop.call_soon(self._send)
        self._unsent.append(waiting)

    def _send(self) -> None:
        unsent = self._unsent
        if unsent and self._transport is not None:
            self._unsent = []
            number = next(self._numbers)
            self._asked[number] = unsent
            self._transport.write(frame((ASK, number, packed_commands(commands_of(unsent)))))

    def require_ready(self) -> None:
        if not self._ready:
            raise UnavailableError(AWAY)

    async def _warm(self, settings: str) -> str | None:
        if self._transport is None:
            raise UnavailableError(AWAY)
        number = next(self._numbers)
        warming = self._warming[number] = self._loop.create_future()
        self._transport.write(frame((WARM, number, settings)))
        return await warming

    def warm(self, settings: Settings) -> None:
        asked = asyncio.run_coroutine_threadsafe(self._warm(settings_text(settings)), self._loop)
        wrong = asked.result()
        if wrong is not None:
            raise RefusedError(wrong)

    async def close(self) -> None:
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task
        if self._transport is not None:
            self._transport.close()
