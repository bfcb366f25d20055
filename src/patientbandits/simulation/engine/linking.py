"""How compiled functions come together: each is optimised once, where it ends up.

numba optimises every function with all that it calls linked in, and makes machine code of it, also
where it is only ever called by the next one: a function seven calls deep is compiled seven times.
Here

    whole    is called from Python: optimised and made machine code, with all its parts
    part     is called by compiled functions only: kept as it is, until it is linked into a whole
    shared   is large and called rarely: machine code of its own, on disk too, that wholes call

Code calls what is shared by its name, so that must be loaded before the code is: see
`kernel_cache.Needed`.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import binding
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.environment import lookup_environment

ENVIRONMENT = "_ZN08NumbaEnv"
"""How the names of numba's environments begin: each linked function brings its own."""


class NoEnvironments:
    """Takes the place of the code generator where a part announces its environment."""

    def set_env(self, name: str, environment: Any) -> None:
        """Not yet: it has no address before it is linked."""


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
        for variable in self._final_module.global_variables:
            if not variable.name.startswith(ENVIRONMENT):
                continue
            environment = lookup_environment(variable.name)
            if environment is not None:
                self._codegen.set_env(variable.name, environment)  # type: ignore[attr-defined]


class SharedLibrary(WholeLibrary):
    """The code of a shared function: of it nothing is linked into its callers."""

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
        state.flags.noalias = state.func_id.func.separate
        return super().define_pipelines()


class PartCompiler(CompilerInto):
    library = PartLibrary


class WholeCompiler(CompilerInto):
    library = WholeLibrary

    def compile_extra(self, function: Any) -> Any:
        with collector_at_rest():
            return super().compile_extra(function)


@contextmanager
def collector_at_rest() -> Iterator[None]:
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
        """Its name in machine code is that of its content: the same in every process."""
        self.state.func_id.unique_id = self.state.func_id.func.digest
        return super().define_pipelines()


COMPILERS = {"whole": WholeCompiler, "part": PartCompiler, "shared": SharedCompiler}
