"""A name for all that decides what a function computes.

numba's own disk cache knows a function by its file's time stamp, which says nothing about the
policy that a kernel calls. `fingerprint` covers the byte code, the constants and the values of all
that a function reaches, in whatever file it stands. A changed policy therefore has another
fingerprint and is never served from an old file. What cannot be known has none.
"""

from __future__ import annotations

import dis
import enum
import hashlib
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

LIBRARIES = {"math", "numpy", "builtins"}
"""Modules that a version number stands for."""

PLAIN = (bool, int, float, str, bytes, np.generic)


class UndigestibleError(Exception):
    """A function depends on a value whose content cannot be known."""


def code_objects(code: types.CodeType) -> Iterator[types.CodeType]:
    """``code`` and the code of all that is defined inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from code_objects(constant)


def loaded_names(code: types.CodeType) -> set[str]:
    """The names of globals that ``code`` itself loads."""
    steps = dis.get_instructions(code)
    return {step.argval for step in steps if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}


def is_own_module(value: Any) -> bool:
    """Whether ``value`` is a module whose content counts."""
    if not isinstance(value, types.ModuleType):
        return False
    return value.__name__.partition(".")[0] not in LIBRARIES


def outside(function: types.FunctionType) -> dict[str, Any]:
    """The values that ``function`` takes from outside: globals and closed-over variables, by name.

    What it takes from a module, as in ``helpers.f``, is there under that name.
    """
    attributes: set[str] = set()
    loaded: set[str] = set()
    for code in code_objects(function.__code__):
        attributes.update(code.co_names)
        loaded.update(loaded_names(code))
    namespace = function.__globals__
    found = {name: namespace[name] for name in sorted(loaded) if name in namespace}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        found[name] = cell.cell_contents
    seen = set()
    queue = list(found.items())
    for name, value in queue:  # grows: modules inside modules
        if is_own_module(value) and value not in seen:
            seen.add(value)
            inner = {
                f"{name}.{attribute}": getattr(value, attribute)
                for attribute in sorted(attributes)
                if hasattr(value, attribute)
            }
            found.update(inner)
            queue.extend(inner.items())
    return found


class Fingerprint:
    """A hash in the making."""

    def __init__(self, about: Callable[[types.FunctionType], Any]) -> None:
        self._sha = hashlib.sha256()
        self._about = about
        self._seen: dict[int, int] = {}

    def hexdigest(self) -> str:
        return self._sha.hexdigest()[:32]

    def add(self, value: Any) -> None:
        """Take in ``value`` and all that it reaches."""
        value = getattr(value, "py_func", value)
        if isinstance(value, types.FunctionType):
            self._add_function(value)
        elif isinstance(value, (list, tuple)):
            self._write(f"{len(value)} items")
            for item in value:
                self.add(item)
        elif isinstance(value, np.ndarray):
            self._write((value.dtype.str, value.shape))
            self._sha.update(value.tobytes())
        elif value is None or isinstance(value, PLAIN):
            self._write((type(value).__name__, value))
        elif isinstance(value, type):
            self._add_class(value)
        elif isinstance(value, (types.ModuleType, types.BuiltinFunctionType, np.ufunc)):
            self._write(value.__name__)
        else:
            raise UndigestibleError(f"{value!r}")

    def _write(self, value: Any) -> None:
        self._sha.update(repr(value).encode())

    def _add_function(self, function: types.FunctionType) -> None:
        if id(function) in self._seen:
            self._write(f"again {self._seen[id(function)]}")
            return
        self._seen[id(function)] = len(self._seen)
        self.add(getattr(function, "loops", None))
        for code in code_objects(function.__code__):
            constants = [c for c in code.co_consts if not isinstance(c, types.CodeType)]
            self._write((code.co_code, constants, code.co_names, code.co_varnames))
        self.add(function.__defaults__)
        self._write(self._about(function))
        for name, value in outside(function).items():
            self._write(name)
            self.add(value)

    def _add_class(self, kind: type) -> None:
        members = None
        if issubclass(kind, enum.Enum):
            members = [(member.name, member.value) for member in kind]
        fields = getattr(kind, "_fields", None)
        self._write((kind.__module__, kind.__qualname__, fields, members))
