"""The same question asked by many at once is worked on once, and once more for those who came late.

At most one piece of work per question is under way and one waits for its turn. Whoever asks
meanwhile shares the one that waits: it begins after they asked, so its answer knows all that was
acknowledged before. However many ask, they take no more than two places among those who read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Any
from weakref import WeakValueDictionary


class SharedWork:
    def __init__(self) -> None:
        self._waiting: dict[Hashable, asyncio.Task[Any]] = {}
        """question -> the work that has not begun"""
        self._turns: WeakValueDictionary[Hashable, asyncio.Lock] = WeakValueDictionary()

    async def of(self, question: Hashable, work: Callable[[], Awaitable[Any]]) -> Any:
        """What ``work`` gives, begun after this was called."""
        task = self._waiting.get(question)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._take_turn(question, work))
            task.add_done_callback(retrieve)
            self._waiting[question] = task
        return await asyncio.shield(task)  # who leaves does not take it from the others

    async def _take_turn(self, question: Hashable, work: Callable[[], Awaitable[Any]]) -> Any:
        turn = self._turns.setdefault(question, asyncio.Lock())
        async with turn:
            del self._waiting[question]
            return await work()


def retrieve(task: asyncio.Task[Any]) -> None:
    """A failure that nobody is left to hear of is no one's fault."""
    if not task.cancelled():
        task.exception()
