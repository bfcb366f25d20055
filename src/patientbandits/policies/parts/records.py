"""Named tuples of arrays, one inside the other: what a policy's memory is made of.

A compiled function takes each array of a record as an argument of its own, and so does each
function that passes the record on. Records that belong together are therefore laid flat, in one
of two ways:

    nested_kind, part_of    all fields side by side in one named tuple
    packed, unpackers       all arrays in two, one of floats and one of whole numbers; the fewer
                            arguments there are, the sooner a function is compiled

A record names the axes of its arrays in their annotations, and `zeros` makes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Annotated, Any, NamedTuple, TypeVar, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

from patientbandits._util.codegen import define

ArmFloats = Annotated[NDArray[np.float64], "arm"]
ArmInts = Annotated[NDArray[np.int64], "arm"]
ArmFlags = Annotated[NDArray[np.bool_], "arm"]
PullFloats = Annotated[NDArray[np.float64], "pull"]
PullInts = Annotated[NDArray[np.int64], "pull"]
PullFlags = Annotated[NDArray[np.bool_], "pull"]
PullArms = Annotated[NDArray[np.int32], "pull"]

Record = TypeVar("Record", bound=tuple[Any, ...])

PREFIX = "base_"


def zeros(kind: type[Record], **sizes: int) -> Record:
    """A record of zeros; ``sizes`` of the axes. An array without an axis is a single number."""
    values: list[Any] = []
    for part, axes in layout(kind):
        if hasattr(part, "_fields"):
            values.append(zeros(part, **sizes))
        else:
            values.append(np.zeros([sizes[axis] for axis in axes] or 1, part))
    return kind(*values)


@cache
def layout(kind: type[Any]) -> list[tuple[Any, tuple[str, ...]]]:
    """Of each field of a record: the kind of its numbers and its axes, or the kind of a record."""
    fields = []
    for hint in get_type_hints(kind, include_extras=True).values():
        axes = getattr(hint, "__metadata__", ())
        part = hint
        if axes:
            part = get_args(hint)[0]
        if not hasattr(part, "_fields"):
            _, dtype = get_args(part)
            (part,) = get_args(dtype)
        fields.append((part, axes))
    return fields


@cache
def nested_kind(own_kind: Any, base_kind: Any) -> Any:
    """The named tuple of a policy's own arrays and, behind them, its base's memory."""
    names = [PREFIX + name for name in base_kind._fields]
    return longer_kind(f"{own_kind.__name__}AndBase", own_kind, *names)


def longer_kind(name: str, kind: Any, *fields: str) -> Any:
    """A named tuple of the fields of ``kind``, and these behind them."""
    return NamedTuple(name, [(field, Any) for field in (*kind._fields, *fields)])


@cache
def base_memory(base_kind: Any) -> Callable[..., Any]:
    """A function that takes the base's memory out of the whole."""
    return part_of(base_kind, PREFIX)


@cache
def part_of(kind: Any, prefix: str = "") -> Callable[..., Any]:
    """A function from a record to one of ``kind``, whose fields it has, after ``prefix``."""
    values = ", ".join(f"memory.{prefix}{name}" for name in kind._fields)
    return define("part", f"def part(memory): return kind({values})", kind=kind)


def packed(records: Iterable[Any]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The arrays of the records, one after the other: floats, whole numbers."""
    arrays: tuple[list[Any], list[Any]] = ([], [])
    for record in records:
        for array in record:
            arrays[_place(array)].append(array.ravel())
    return np.concatenate(arrays[0]), np.concatenate(arrays[1])


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
    source = f"def unpack(floats, wholes): return kind({', '.join(views)})"
    return define("unpack", source, kind=type(record))


def _place(array: NDArray[Any]) -> int:
    return int(array.dtype == np.int64)
