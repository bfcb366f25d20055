"""Plain Python functions, compiled on demand and found again by the next process.

Policies and laws are plain functions: nothing in them names numba. `compiled` turns one into
machine code together with every plain function it calls, so they run interpreted in a user's loop
and compiled in a simulation. A function may carry numba's ``fastmath`` flags as an attribute of
that name.

Code from outside the package is compiled with checks: a division by zero and an index beyond an
array raise an error. That of the package is not: its tests run it interpreted too.

With the environment variable NUMBA_DISABLE_JIT=1 nothing is compiled at all. The compiler itself
is imported when it is first needed: a process that only interprets is smaller and starts sooner.
"""

from __future__ import annotations

import contextlib
import types
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from patientbandits.simulation.engine.fingerprint import Fingerprint, UndigestibleError, outside

Plain = TypeVar("Plain", bound=Callable[..., Any])

PACKAGE = __name__.partition(".")[0]

OPTIONS: dict[str, Any] = {"nogil": True, "_nrt": False, "forceinline": True}
"""``_nrt=False``: kernels allocate nothing and count no references, which halves their time."""

NEVER_CALLED_FROM_C = {"no_cfunc_wrapper": True}

UNCHECKED = {"error_model": "numpy"}
CHECKED = {"error_model": "python", "boundscheck": True}


ONLY_CALLED_BY_COMPILED = {"no_cpython_wrapper": True}
"""No way in from Python: for functions of many arrays it takes longer to compile than they do."""


def compiler_is_off() -> bool:
    """Whether the user has asked for everything to be interpreted."""
    import numba

    return bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]


def options_of(function: types.FunctionType) -> dict[str, Any]:
    """How ``function`` is compiled."""
    home = str(function.__globals__.get("__name__", ""))
    checks = UNCHECKED if home.partition(".")[0] == PACKAGE else CHECKED
    options = {**OPTIONS, **checks, "fastmath": getattr(function, "fastmath", False)}
    if getattr(function, "apart", False):
        options["forceinline"] = False
    return options


def separate(function: Plain) -> Plain:
    """Say of ``function`` that no two arrays it is given overlap: its loops need not look."""
    function.separate = True  # type: ignore[attr-defined]
    return function


def is_separate(function: types.FunctionType) -> bool:
    """Whether `separate` was said of it."""
    return getattr(function, "separate", False)


def digest(function: Callable[..., Any]) -> str:
    """A hexadecimal name for everything that decides what ``function`` computes."""
    fingerprint = Fingerprint(about=sorted_options)
    fingerprint.add(function)
    return fingerprint.hexdigest()


def digest_or_none(function: Callable[..., Any]) -> str | None:
    """`digest`, or None if it cannot be known."""
    try:
        return digest(function)
    except UndigestibleError:
        return None


def sorted_options(function: types.FunctionType) -> list[tuple[str, Any]]:
    """`options_of` in an order that is always the same."""
    options = {**options_of(function), "separate": is_separate(function)}
    if options["fastmath"]:
        options["fastmath"] = sorted(options["fastmath"])
    return sorted(options.items())


def compiled(function: Callable[..., Any]) -> Any:
    """``function`` compiled, with the plain functions it calls; numba's own are left alone.

    Of a function on whole arrays that has the attribute ``loops``, that form is compiled instead.
    """
    plain = getattr(function, "py_func", function)
    return plain if compiler_is_off() else _compiled(getattr(plain, "loops", plain), "whole")


def called(function: types.FunctionType) -> Any:
    """``function`` compiled for compiled functions that call it."""
    if getattr(function, "apart", False):
        return shared(function)
    return _compiled(getattr(function, "loops", function), "part")


@cache
def shared(function: types.FunctionType) -> Any:
    """``function`` compiled apart from its callers, and kept on disk apart from them."""
    from patientbandits.simulation.engine.kernel_cache import SharedCache

    dispatcher = _compiled(function, "shared")
    dispatcher.py_func.digest = digest(function)
    with contextlib.suppress(RuntimeError):  # numba found no place to write to
        dispatcher._cache = SharedCache(function, dispatcher.py_func)
    return dispatcher


@cache
def _compiled(function: types.FunctionType, kind: str) -> Any:
    """``kind``: how it comes together with others, see `linking`."""
    from numba import njit

    from patientbandits.simulation.engine.linking import COMPILERS

    def swap(value: Any) -> Any:
        if isinstance(value, types.FunctionType) and value is not function:
            return called(value)
        return value

    namespace = dict(function.__globals__)
    for name, value in outside(function).items():
        if name in namespace:
            namespace[name] = swap(value)
    cells = tuple(types.CellType(swap(cell.cell_contents)) for cell in function.__closure__ or ())
    copy = types.FunctionType(
        function.__code__, namespace, function.__name__, function.__defaults__, cells
    )
    copy.separate = is_separate(function)  # type: ignore[attr-defined]
    options = {**options_of(function), **NEVER_CALLED_FROM_C}
    if kind != "whole":
        options.update(ONLY_CALLED_BY_COMPILED)
    return njit(pipeline_class=COMPILERS[kind], **options)(copy)


def cached(function: Callable[..., Any], name: str) -> Any:
    """``function`` compiled, and kept on disk under ``name`` and the digest of its content."""
    dispatcher = compiled(function)
    try:
        dispatcher.digest = digest(function)
        if not compiler_is_off():
            from patientbandits.simulation.engine.kernel_cache import ContentCache

            dispatcher._cache = ContentCache(dispatcher.py_func, name, dispatcher.digest)
    except (UndigestibleError, RuntimeError):  # RuntimeError: numba found no place to write to
        pass
    return dispatcher


def is_on_disk(kernel: Any) -> bool:
    """Whether code of what `cached` returned was kept before."""
    return bool(getattr(kernel._cache, "has_code", False))


def digest_of(kernel: Any) -> str | None:
    """The digest of what `cached` returned, or None if it cannot be known."""
    return getattr(kernel, "digest", None)
