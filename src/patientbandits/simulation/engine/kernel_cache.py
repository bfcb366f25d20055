"""Compiled code on disk, under a digest of its content."""

from __future__ import annotations

import contextlib
import importlib
import types
from pathlib import Path
from typing import Any, NamedTuple

from numba.core.caching import FunctionCache, IndexDataCacheFile

from patientbandits.simulation.engine.compile import shared


class ContentCache(FunctionCache):
    """numba's function cache, whose files are named by a digest instead of a time stamp."""

    def __init__(self, function: Any, name: str, digest: str) -> None:
        super().__init__(function)
        self._cache_file = IndexDataCacheFile(self._cache_path, f"{name}-{digest}", digest)

    @property
    def has_code(self) -> bool:
        """Whether there is any on the disk, for whatever machine."""
        return Path(self._cache_file._index_path).exists()

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


class Needed(NamedTuple):
    """That a shared function be there: called before code that calls it is loaded."""

    module: str
    name: str
    arguments: tuple[Any, ...]

    def __call__(self) -> None:
        function = getattr(importlib.import_module(self.module), self.name)
        shared(function).compile(self.arguments)


class SharedCache(ContentCache):
    """Of a shared function; who links it learns what is needed."""

    def __init__(self, function: types.FunctionType, copy: Any) -> None:
        super().__init__(copy, f"shared-{function.__name__}", copy.digest)
        self._module = function.__module__
        self._function = function.__qualname__

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = super().load_overload(sig, target_context)
        if found is not None:
            self._tell(found)
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        super().save_overload(sig, data)
        self._tell(data)

    def _tell(self, found: Any) -> None:
        needed = Needed(self._module, self._function, tuple(found.signature.args))
        found.library._reload_init.add(needed)
