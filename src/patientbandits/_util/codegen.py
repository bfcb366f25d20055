"""Functions for the compiler: written at run time, and marks that say how to compile them.

numba compiles neither ``*arguments`` nor ``getattr``: where a function must name each field of a
record, or each argument of a hook, its source is put together from the names.
"""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Callable
from typing import Any

NUMBERS = itertools.count()
FILE = "<patientbandits: "
"""The names of the files of such functions begin so."""


def define(name: str, source: str, **names: Any) -> Callable[..., Any]:
    """Return the function ``name`` that ``source`` defines, with ``names`` as its globals.

    The engine compiles it as code of this package, unless ``__name__`` names another module.
    """
    scope: dict[str, Any] = {"__name__": __name__, **names}
    file = f"{FILE}{name} {next(NUMBERS)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)  # for tracebacks
    exec(compile(source, file, "exec"), scope)
    function: Callable[..., Any] = scope[name]
    return function


def compile_standalone(function: Any) -> Any:
    """Mark a function that is large and called rarely: it is compiled once, not into each kernel
    that calls it.
    """
    function.compile_standalone = True
    return function
