"""Many arrays in two: one of numbers, one of whole numbers.

A compiled function takes each array of a record as an argument of its own, and each function that
passes the record on takes them again: the fewer there are, the sooner it is compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def packed(records: Sequence[Any]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The arrays of the records, one after the other: floats, whole numbers."""
    found: tuple[list[Any], list[Any]] = ([], [])
    for record in records:
        for array in record:
            found[_place(array)].append(array.ravel())
    return np.concatenate(found[0]), np.concatenate(found[1])


def unpackers(records: Sequence[Any]) -> list[Callable[[Any, Any], Any]]:
    """For each record a function from the two arrays to one like it, whose arrays are views."""
    starts = [0, 0]
    return [_unpacker(record, starts) for record in records]


def _unpacker(record: Any, starts: list[int]) -> Callable[[Any, Any], Any]:
    views = []
    for array in record:
        place = _place(array)
        end = starts[place] + array.size
        source = ("floats", "wholes")[place]
        views.append(f"{source}[{starts[place]}:{end}].reshape({array.shape})")
        starts[place] = end
    scope: dict[str, Any] = {"kind": type(record), "__name__": __name__}
    exec(f"def unpack(floats, wholes): return kind({', '.join(views)})", scope)
    function: Callable[[Any, Any], Any] = scope["unpack"]
    return function


def _place(array: NDArray[Any]) -> int:
    return int(array.dtype == np.int64)
