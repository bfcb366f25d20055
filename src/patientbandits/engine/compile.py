"""Plain Python functions, compiled on demand and found again by the next process.

Policies and laws are plain functions: nothing in them names numba. `compiled` turns one into machine code
together with every plain function it calls, so they run interpreted in a user's loop and compiled in a
simulation. A function may carry numba's ``fastmath`` flags as an attribute of that name.

numba's own disk cache knows a function by its file's time stamp, which says nothing about the policy that a
kernel calls. Here the cache is addressed by content: `digest` covers the byte code, the constants and the
values of all that a function reaches, in whatever file it stands, and names the cache file. A changed policy
therefore has another address and is never served from an old one. What cannot be digested is not cached.
"""

from __future__ import annotations

import contextlib
import dis
import enum
import hashlib
import types
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
from numba import njit
from numba.core.caching import FunctionCache, IndexDataCacheFile

OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "_nrt": False,
    "forceinline": True,
}
"""``_nrt=False``: kernels allocate nothing and count no references, which halves their time."""

LIBRARIES = {"math", "numpy", "builtins"}


class UndigestibleError(Exception):
    """A function depends on a value whose content cannot be known."""


def code_objects(code: types.CodeType) -> Iterator[types.CodeType]:
    """``code`` and the code of all that is defined inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from code_objects(constant)


def outside(function: types.FunctionType) -> dict[str, Any]:
    """The values that ``function`` takes from outside: globals and closed-over variables, by name."""
    codes = list(code_objects(function.__code__))
    names = {name for code in codes for name in code.co_names}  # of attributes as well
    loaded = {
        step.argval
        for code in codes
        for step in dis.get_instructions(code)
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")
    }
    found = {
        name: function.__globals__[name] for name in sorted(loaded) if name in function.__globals__
    }
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        found[name] = cell.cell_contents
    seen, queue = set(), list(found.items())
    for name, module in queue:  # grows: modules inside modules
        if (
            isinstance(module, types.ModuleType)
            and module.__name__.partition(".")[0] not in LIBRARIES
            and module not in seen
        ):
            seen.add(module)
            inner = {
                f"{name}.{attr}": getattr(module, attr)
                for attr in sorted(names)
                if hasattr(module, attr)
            }
            found.update(inner)
            queue.extend(inner.items())
    return found


def digest(function: Callable[..., Any]) -> str:
    """A hexadecimal name for everything that decides what ``function`` computes."""
    seen: dict[int, int] = {}
    sha = hashlib.sha256(repr(sorted(OPTIONS.items())).encode())

    def add(value: Any) -> None:
        value = getattr(value, "py_func", value)
        if isinstance(value, types.FunctionType):
            if id(value) in seen:
                sha.update(b"again %d" % seen[id(value)])
                return
            seen[id(value)] = len(seen)
            for code in code_objects(value.__code__):
                constants = [c for c in code.co_consts if not isinstance(c, types.CodeType)]
                sha.update(
                    repr((code.co_code, constants, code.co_names, code.co_varnames)).encode()
                )
            add(value.__defaults__)
            add(sorted(getattr(value, "fastmath", ())))
            add(getattr(value, "loops", None))
            for name, item in outside(value).items():
                sha.update(name.encode())
                add(item)
        elif isinstance(value, (list, tuple)):
            sha.update(b"%d items" % len(value))
            for item in value:
                add(item)
        elif isinstance(value, np.ndarray):
            sha.update(repr((value.dtype.str, value.shape)).encode() + value.tobytes())
        elif value is None or isinstance(value, (bool, int, float, str, bytes, np.generic)):
            sha.update(repr((type(value).__name__, value)).encode())
        elif isinstance(value, type):
            members = (
                [(member.name, member.value) for member in value]
                if issubclass(value, enum.Enum)
                else None
            )
            sha.update(
                repr(
                    (value.__module__, value.__qualname__, getattr(value, "_fields", None), members)
                ).encode()
            )
        elif isinstance(value, (types.ModuleType, types.BuiltinFunctionType, np.ufunc)):
            sha.update(value.__name__.encode())
        else:
            raise UndigestibleError(f"{value!r}")

    add(function)
    return sha.hexdigest()[:32]


def compiled(function: Callable[..., Any]) -> Any:
    """``function`` compiled by numba, with the plain functions it calls; numba's own are left alone.

    A function written for whole arrays may have a form in loops, its attribute ``loops``: that one is compiled.
    """
    plain = getattr(function, "py_func", function)
    return _compiled(getattr(plain, "loops", plain))


@cache
def _compiled(function: types.FunctionType) -> Any:
    def swap(value: Any) -> Any:
        return (
            compiled(value)
            if isinstance(value, types.FunctionType) and value is not function
            else value
        )

    namespace = dict(function.__globals__)
    namespace.update(
        {name: swap(value) for name, value in outside(function).items() if name in namespace}
    )
    cells = tuple(types.CellType(swap(cell.cell_contents)) for cell in function.__closure__ or ())
    copy = types.FunctionType(
        function.__code__, namespace, function.__name__, function.__defaults__, cells
    )
    return njit(**OPTIONS, fastmath=getattr(function, "fastmath", False))(copy)


class ContentCache(FunctionCache):
    """numba's function cache, addressed by a digest instead of by a file's time stamp."""

    def __init__(self, function: Any, name: str, address: str) -> None:
        super().__init__(function)
        self._cache_file = IndexDataCacheFile(self._cache_path, f"{name}-{address}", address)

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return str(sig), codegen.magic_tuple()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # a damaged or foreign file is no reason to fail: compile again
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except Exception:  # nor is one that cannot be written: begin a new index, or do without
            with contextlib.suppress(OSError):
                self.flush()
                super().save_overload(sig, data)


def cached(function: Callable[..., Any], name: str) -> Any:
    """``function`` compiled, and kept on disk under ``name`` and the digest of its content, its ``address``."""
    dispatcher = compiled(function)
    try:
        dispatcher.address = digest(function)
        dispatcher._cache = ContentCache(dispatcher.py_func, name, dispatcher.address)
    except (UndigestibleError, RuntimeError):  # RuntimeError: numba found no place to write to
        pass
    return dispatcher
