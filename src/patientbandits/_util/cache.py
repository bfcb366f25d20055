"""Answers that are used more than once: for a while, or by all who ask at the same time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable
from threading import Lock
from typing import Any, Generic, TypeVar
from weakref import WeakValueDictionary

Value = TypeVar("Value")


class TTLCache(Generic[Value]):
    """Values that hold for a time of their own; at most ``size`` of them. For any thread."""

    def __init__(self, size: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._size = size
        self._clock = clock
        self._entries: dict[Hashable, tuple[float, Value]] = {}
        """(until when it holds, the value)"""
        self._lock = Lock()

    def get(self, key: Hashable) -> Value | None:
        entry = self._entries.get(key)
        if entry is None or self._clock() >= entry[0]:
            return None
        return entry[1]

    def put(self, key: Hashable, value: Value, seconds: float) -> None:
        """Keep the value so long from now, unless too many others are kept."""
        now = self._clock()
        with self._lock:
            entries = {name: entry for name, entry in self._entries.items() if entry[0] > now}
            if key in entries or len(entries) < self._size:
                entries[key] = (now + seconds, value)
            self._entries = entries  # replaced, not changed: readers take no lock

    def __len__(self) -> int:
        return len(self._entries)


class SingleFlight:
    """Concurrent identical requests share one computation, which begins after they asked.

    At most one computation per question is under way and one waits for its turn. Whoever asks
    meanwhile shares the one that waits, so its answer knows all that was acknowledged before.
    However many ask, they take no more than two places among those who compute.
    """

    def __init__(self) -> None:
        self._waiting: dict[Hashable, asyncio.Task[Any]] = {}
        """question -> the computation that has not begun"""
        self._turns: WeakValueDictionary[Hashable, asyncio.Lock] = WeakValueDictionary()

    async def run(self, question: Hashable, compute: Callable[[], Awaitable[Value]]) -> Value:
        """The value of ``compute``, begun after this was called."""
        task = self._waiting.get(question)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._take_turn(question, compute))
            task.add_done_callback(_retrieve)
            self._waiting[question] = task
        value: Value = await asyncio.shield(task)  # who leaves does not take it from the others
        return value

    async def _take_turn(self, question: Hashable, compute: Callable[[], Awaitable[Value]]) -> Any:
        turn = self._turns.setdefault(question, asyncio.Lock())
        async with turn:
            del self._waiting[question]
            return await compute()


def _retrieve(task: asyncio.Task[Any]) -> None:
    """Take note of a failure that nobody is left to hear of: it is no one's fault."""
    if not task.cancelled():
        task.exception()
