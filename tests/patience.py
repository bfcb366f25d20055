"""Waiting for what must come, on a machine of any speed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

PATIENCE = 120.0
"""Seconds after which nothing is awaited any more: the limit of a failure, never of a success."""


def eventually(condition: Callable[[], Any]) -> Any:
    """Ask again and again until something true comes, and give it; never coming is a failure."""
    end = time.monotonic() + PATIENCE
    while not (answer := condition()):
        assert time.monotonic() < end, "it did not come to be so"
        time.sleep(0.01)
    return answer


async def eventually_async(condition: Callable[[], Any]) -> Any:
    """Wait as `eventually` does, and let the loop go on meanwhile."""
    end = time.monotonic() + PATIENCE
    while not (answer := condition()):
        assert time.monotonic() < end, "it did not come to be so"
        await asyncio.sleep(0.001)
    return answer
