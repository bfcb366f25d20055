"""Where handlers hand in their commands, whoever carries them out: a thread or another process."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from patientbandits.live.commands import Command
from patientbandits.live.http.logs import log_failure
from patientbandits.live.http.response import too_busy
from patientbandits.live.http.wire import WriterCounts
from patientbandits.live.settings import Settings


class Waiting(NamedTuple):
    """A request's commands; ``answered`` is called when each has its outcome or its error."""

    answered: Callable[[], object]
    commands: Sequence[Command]

    def tell(self) -> None:
        """One who cannot be told must not hold up the others."""
        try:
            self.answered()
        except Exception as error:
            log_failure("an answer cannot be given", error)


def commands_of(gathered: Iterable[Waiting]) -> list[Command]:
    return list(chain.from_iterable(waiting.commands for waiting in gathered))


class CommandQueue(ABC):
    """``limit``: the most commands that may wait."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._loop = asyncio.get_running_loop()
        self.waiting = 0
        """commands that are not answered yet"""
        self.carried_out = 0

    @property
    @abstractmethod
    def counts(self) -> WriterCounts: ...

    @abstractmethod
    def add(self, waiting: Waiting) -> None:
        """Have the commands carried out; in the loop's thread."""

    @abstractmethod
    def require_ready(self) -> None:
        """Raise unless commands can be carried out now."""

    @abstractmethod
    def warm(self, settings: Settings) -> None:
        """From another thread: have the policy made ready where it will decide."""

    @abstractmethod
    async def close(self) -> None:
        """After the last request was answered."""

    def submit(self, waiting: Waiting) -> None:
        """As `add`, unless too many wait."""
        if self.waiting + len(waiting.commands) > self._limit:
            raise too_busy(f"{self.waiting} requests wait already; try again.")
        self.add(waiting)

    async def outcome(self, command: Command) -> Any:
        """The command's outcome, when it is durable, or its error raised."""
        await self.carry_out([command])
        if command.error is not None:
            raise command.error
        return command.outcome

    async def carry_out(self, commands: Sequence[Command]) -> None:
        """Returns when each command has its outcome or its error."""
        answered = self._loop.create_future()
        self.submit(Waiting(partial(wake, answered), commands))
        await answered


def wake(answered: asyncio.Future[None]) -> None:
    if not answered.done():  # nobody waits any more
        answered.set_result(None)
