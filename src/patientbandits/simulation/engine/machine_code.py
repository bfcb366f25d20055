"""numba's private parts: where machine code is kept, and how compiled functions come together.

All that the package uses of numba beyond its documentation stands here, and nobody imports this
module before something is compiled.

On disk code lies under a digest of its content (`ContentCache`). numba's own cache knows a function
by its file's time stamp, which says nothing about the policy that a kernel calls.

numba optimises every function with all that it calls linked in, and makes machine code of it, also
where it is only ever called by the next one: a function seven calls deep is compiled seven times.
Here

    whole    is called from Python: optimised and made machine code, with all its parts
    part     is called by compiled functions only: kept as it is, until it is linked into a whole
    shared   is large and called rarely: machine code of its own, on disk too, that wholes call

so that each function is optimised once, where it ends up. It saves a quarter of the time of a small
kernel's compilation, and more than half of PatientThompson's (12 s instead of 31).
"""

from __future__ import annotations

import contextlib
import gc
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from llvmlite import binding
from numba import njit
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.environment import lookup_environment

ENVIRONMENT = "_ZN08NumbaEnv"
"""The beginning of the names of numba's environments: each linked function brings its own."""


class ContentCache(FunctionCache):
    """numba's function cache, whose files are named by a digest instead of a time stamp."""

    def __init__(self, function: Any, name: str, digest: str) -> None:
        super().__init__(function)
        self._cache_file = IndexDataCacheFile(self._cache_path, f"{name}-{digest}", digest)

    @property
    def has_code(self) -> bool:
        """True if there is any code on the disk, for whatever machine."""
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


class SharedCache(ContentCache):
    """The cache of a shared function.

    Wholes call shared code by its name, so that must be loaded before theirs is. numba runs the
    ``_reload_init`` of a library before it loads its code, and libraries pass them on to whoever
    links them: the ``dependency`` put there travels into the files of all callers.
    """

    def __init__(
        self, function: types.FunctionType, digest: str, dependency: Callable[..., Any]
    ) -> None:
        super().__init__(function, f"shared-{function.__name__}", digest)
        self._dependency = dependency

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        data = super().load_overload(sig, target_context)
        if data is not None:
            self._announce(data)
        return data

    def save_overload(self, sig: Any, data: Any) -> None:
        super().save_overload(sig, data)
        self._announce(data)

    def _announce(self, data: Any) -> None:
        data.library._reload_init.add(self._dependency(tuple(data.signature.args)))


class NoEnvironments:
    """Stand-in for the code generator where a part announces its environment."""

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing yet: the environment has no address before it is linked."""


class PartLibrary(JITCodeLibrary):
    """The code of a part."""

    @property
    def codegen(self) -> NoEnvironments:
        return NoEnvironments()

    def finalize(self) -> None:
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0


class WholeLibrary(JITCodeLibrary):
    """The code of a whole."""

    def finalize(self) -> None:
        super().finalize()
        # The parts' environments have an address only now: see `NoEnvironments`.
        for variable in self._final_module.global_variables:
            if not variable.name.startswith(ENVIRONMENT):
                continue
            environment = lookup_environment(variable.name)
            if environment is not None:
                self._codegen.set_env(variable.name, environment)  # type: ignore[attr-defined]


class SharedLibrary(WholeLibrary):
    """The code of a shared function: nothing of it is linked into its callers."""

    def _get_module_for_linking(self) -> Any:
        self._ensure_finalized()
        return binding.parse_assembly(str(self._codegen._create_empty_module(self.name)))


class CompilerInto(Compiler):
    """numba's compiler, into a library of another kind."""

    library: type[JITCodeLibrary]

    def define_pipelines(self) -> Any:
        state = self.state
        state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        state.flags.noalias = state.func_id.func.no_alias
        return super().define_pipelines()


class PartCompiler(CompilerInto):
    library = PartLibrary


class WholeCompiler(CompilerInto):
    library = WholeLibrary

    def compile_extra(self, function: Any) -> Any:
        with garbage_collector_off():
            return super().compile_extra(function)


@contextmanager
def garbage_collector_off() -> Iterator[None]:
    """No search for garbage among the compiler's many small objects: a tenth of its time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class SharedCompiler(CompilerInto):
    library = SharedLibrary

    def define_pipelines(self) -> Any:
        """Name the machine code by its content: the name is the same in every process."""
        self.state.func_id.unique_id = self.state.func_id.func.digest
        return super().define_pipelines()


COMPILERS = {"whole": WholeCompiler, "part": PartCompiler, "shared": SharedCompiler}


def dispatcher_of(function: types.FunctionType, kind: str, options: dict[str, Any]) -> Any:
    """numba's dispatcher of ``function``, whose ``kind`` is one of `COMPILERS`."""
    return njit(pipeline_class=COMPILERS[kind], **options)(function)
