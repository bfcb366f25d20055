"""Plain Python functions, compiled on demand and found again by the next process.

Policies and laws are plain functions: nothing in them names numba. `compiled` turns one into
machine code together with every plain function it calls, so they run interpreted in a user's loop
and compiled in a simulation. A function may carry these attributes:

    fastmath            numba's flags of that name
    no_alias            no two arrays it is given overlap, so its loops need not look
    compile_standalone  it is compiled once, apart from its callers, instead of into each of them
    loops               the form of it that is compiled, where its own works on whole arrays

Code from outside the package is compiled with checks: a division by zero and an index beyond an
array raise an error. That of the package is not: its tests run it interpreted too.

Machine code is kept on disk under a digest of all that decides what the function computes: the byte
code, the constants and the values of all that it reaches, in whatever file it stands. A changed
policy therefore has another digest and is never served from an old file; what cannot be digested is
compiled anew by every process.

With the environment variable NUMBA_DISABLE_JIT=1 nothing is compiled at all. The compiler itself
is imported when it is first needed: a process that only interprets is smaller and starts sooner.
"""

from __future__ import annotations

import contextlib
import dis
import enum
import hashlib
import importlib
import types
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

Plain = TypeVar("Plain", bound=Callable[..., Any])

PACKAGE = __name__.partition(".")[0]

LIBRARIES = {"math", "numpy", "builtins"}
"""Modules that a version number stands for."""

PLAIN = (bool, int, float, str, bytes, np.generic)

OPTIONS: dict[str, Any] = {"nogil": True, "_nrt": False, "forceinline": True}
"""``_nrt=False``: kernels allocate nothing and count no references, which halves their time."""

NEVER_CALLED_FROM_C = {"no_cfunc_wrapper": True}

UNCHECKED = {"error_model": "numpy"}
CHECKED = {"error_model": "python", "boundscheck": True}

ONLY_CALLED_BY_COMPILED = {"no_cpython_wrapper": True}
"""No way in from Python: for functions of many arrays it takes longer to compile than they do."""


def compiler_is_off() -> bool:
    """True if the user has asked for everything to be interpreted."""
    import numba

    return bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]


def options_of(function: types.FunctionType) -> dict[str, Any]:
    """numba's options for ``function``."""
    home = str(function.__globals__.get("__name__", ""))
    checks = UNCHECKED if home.partition(".")[0] == PACKAGE else CHECKED
    options = {**OPTIONS, **checks, "fastmath": getattr(function, "fastmath", False)}
    if getattr(function, "compile_standalone", False):
        options["forceinline"] = False
    return options


def no_alias(function: Plain) -> Plain:
    """Say of ``function`` that no two arrays it is given overlap: its loops need not look."""
    function.no_alias = True  # type: ignore[attr-defined]
    return function


def has_no_alias(function: types.FunctionType) -> bool:
    """True if `no_alias` was said of it."""
    return getattr(function, "no_alias", False)


def compiled(function: Callable[..., Any]) -> Any:
    """Return ``function`` compiled, with the plain functions it calls; numba's own are left alone.

    Of a function on whole arrays that has the attribute ``loops``, that form is compiled instead.
    """
    plain = getattr(function, "py_func", function)
    return plain if compiler_is_off() else _compiled(getattr(plain, "loops", plain), "whole")


def compile_callee(function: types.FunctionType) -> Any:
    """Return ``function`` compiled for compiled functions that call it."""
    if getattr(function, "compile_standalone", False):
        return shared(function)
    return _compiled(getattr(function, "loops", function), "part")


class SharedDependency(NamedTuple):
    """A shared function that must be loaded before code that calls it is.

    Pickled into the files of its callers: a module and a name, since another process must find the
    function again.
    """

    module: str
    name: str
    arguments: tuple[Any, ...]

    def __call__(self) -> None:
        function = getattr(importlib.import_module(self.module), self.name)
        shared(function).compile(self.arguments)


@cache
def shared(function: types.FunctionType) -> Any:
    """Return ``function`` compiled apart from its callers, and kept on disk apart from them."""
    from patientbandits.simulation.engine.machine_code import SharedCache

    dispatcher = _compiled(function, "shared")
    dispatcher.py_func.digest = digest(function)
    dependency = partial(SharedDependency, function.__module__, function.__qualname__)
    with contextlib.suppress(RuntimeError):  # numba found no place to write to
        dispatcher._cache = SharedCache(dispatcher.py_func, dispatcher.py_func.digest, dependency)
    return dispatcher


@cache
def _compiled(function: types.FunctionType, kind: str) -> Any:
    """A dispatcher for a copy of ``function`` whose callees are dispatchers.

    numba compiles what it is given, but the originals must stay plain functions, which a user's
    loop interprets: so globals and closed-over variables are replaced in a copy. ``kind`` says how
    the machine code comes together with that of others, see `machine_code`.
    """
    from patientbandits.simulation.engine.machine_code import dispatcher_of

    def swap(value: Any) -> Any:
        if isinstance(value, types.FunctionType) and value is not function:
            return compile_callee(value)
        return value

    namespace = dict(function.__globals__)
    for name, value in outside(function).items():
        if name in namespace:
            namespace[name] = swap(value)
    cells = tuple(types.CellType(swap(cell.cell_contents)) for cell in function.__closure__ or ())
    copy = types.FunctionType(
        function.__code__, namespace, function.__name__, function.__defaults__, cells
    )
    copy.no_alias = has_no_alias(function)  # type: ignore[attr-defined]
    options = {**options_of(function), **NEVER_CALLED_FROM_C}
    if kind != "whole":
        options.update(ONLY_CALLED_BY_COMPILED)
    return dispatcher_of(copy, kind, options)


def cached(function: Callable[..., Any], name: str) -> Any:
    """Return ``function`` compiled, and kept on disk under ``name`` and its digest."""
    dispatcher = compiled(function)
    try:
        dispatcher.digest = digest(function)
        if not compiler_is_off():
            from patientbandits.simulation.engine.machine_code import ContentCache

            dispatcher._cache = ContentCache(dispatcher.py_func, name, dispatcher.digest)
    except (UndigestibleError, RuntimeError):  # RuntimeError: numba found no place to write to
        pass
    return dispatcher


def is_on_disk(kernel: Any) -> bool:
    """True if code of what `cached` returned was kept before."""
    return bool(getattr(kernel._cache, "has_code", False))


def digest_of(kernel: Any) -> str | None:
    """The digest of what `cached` returned, or None if it cannot be known."""
    return getattr(kernel, "digest", None)


def digest(function: Callable[..., Any]) -> str:
    """A hexadecimal name for everything that decides what ``function`` computes."""
    fingerprint = Fingerprint()
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
    options = {**options_of(function), "no_alias": has_no_alias(function)}
    if options["fastmath"]:
        options["fastmath"] = sorted(options["fastmath"])
    return sorted(options.items())


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
    """True for a module whose content counts."""
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
    values = {name: namespace[name] for name in sorted(loaded) if name in namespace}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        values[name] = cell.cell_contents
    seen = set()
    queue = list(values.items())
    for name, value in queue:  # grows: modules inside modules
        if is_own_module(value) and value not in seen:
            seen.add(value)
            inner = {
                f"{name}.{attribute}": getattr(value, attribute)
                for attribute in sorted(attributes)
                if hasattr(value, attribute)
            }
            values.update(inner)
            queue.extend(inner.items())
    return values


class Fingerprint:
    """A hash in the making, of values and of all that they reach."""

    def __init__(self) -> None:
        self._sha = hashlib.sha256()
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
        # Functions may call each other: one that was met before is named by its place among them.
        if id(function) in self._seen:
            self._write(f"again {self._seen[id(function)]}")
            return
        self._seen[id(function)] = len(self._seen)
        self.add(getattr(function, "loops", None))
        for code in code_objects(function.__code__):
            constants = [c for c in code.co_consts if not isinstance(c, types.CodeType)]
            self._write((code.co_code, constants, code.co_names, code.co_varnames))
        self.add(function.__defaults__)
        self._write(sorted_options(function))
        for name, value in outside(function).items():
            self._write(name)
            self.add(value)

    def _add_class(self, kind: type) -> None:
        members = None
        if issubclass(kind, enum.Enum):
            members = [(member.name, member.value) for member in kind]
        fields = getattr(kind, "_fields", None)
        self._write((kind.__module__, kind.__qualname__, fields, members))
