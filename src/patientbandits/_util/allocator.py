"""Memory that is given back to the system: how glibc, if it is what allocates, is set to do so.

Left alone it keeps an arena for each thread, as large as the largest report that the thread ever
made, and ever larger arrays in them.
"""

from __future__ import annotations

import contextlib
import ctypes
from typing import Any

MMAP_THRESHOLD = -3
ARENA_MAX = -8
"""numbers of glibc's mallopt"""

LARGE_ARRAY = 256 * 1024
"""bytes: what is larger has pages of its own, which are given back when it is freed"""

ARENAS = 2


def allocator() -> Any:
    """The C library, or None where it cannot be asked."""
    with contextlib.suppress(OSError, TypeError):
        return ctypes.CDLL(None)
    return None  # pragma: no cover - Windows


def tune_malloc() -> bool:
    """Have few arenas, and pages of their own for large arrays; call it before threads begin."""
    mallopt = getattr(allocator(), "mallopt", None)
    if mallopt is None:
        return False
    return bool(mallopt(ARENA_MAX, ARENAS) and mallopt(MMAP_THRESHOLD, LARGE_ARRAY))


def trim_heap() -> None:
    """Give free pages to the system."""
    trim = getattr(allocator(), "malloc_trim", None)
    if trim is not None:
        trim(0)
