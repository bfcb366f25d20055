"""Public names that are imported when they are first used.

A package lists its public names once, under ``if TYPE_CHECKING:`` in its ``__init__.py``, where
type checkers and editors read them:

    if TYPE_CHECKING:
        from patientbandits.simulation.bandit import Bandit as Bandit

    __all__, __getattr__, __dir__ = lazy_exports(__name__)

`lazy_exports` reads the same list, and imports a name when somebody asks for it: the command line's
help must wait neither for the compiler nor for NumPy.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

Exports = tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]


def lazy_exports(package: str, *others: str) -> Exports:
    """``__all__``, ``__getattr__`` and ``__dir__`` of a package, which also has the ``others``."""
    homes = public_names(package)
    public = [*homes, *others]

    def get(name: str) -> Any:
        if name not in homes:
            rule = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(rule, name=name, obj=sys.modules[package])  # Did you mean ...?
        if homes[name] == package:  # the name is that of a module
            value: Any = import_module(f"{package}.{name}")
        else:
            value = getattr(import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return public, get, lambda: sorted(public)


def public_names(package: str) -> dict[str, str]:
    """name -> the module that it is imported from, as the source of ``package`` lists them."""
    homes = {}
    for statement in _typed_imports(package):
        for alias in statement.names:
            homes[alias.asname or alias.name] = str(statement.module)
    return homes


def _typed_imports(package: str) -> Iterator[ast.ImportFrom]:
    """The statements ``from module import name`` under ``if TYPE_CHECKING:``."""
    for statement in ast.parse(_source(package)).body:
        if not isinstance(statement, ast.If):
            continue
        if ast.unparse(statement.test) != "TYPE_CHECKING":
            continue
        for inner in statement.body:
            if isinstance(inner, ast.ImportFrom):
                yield inner


def _source(package: str) -> str:
    spec = find_spec(package)
    source = None
    if spec and spec.loader:
        loader: Any = spec.loader
        source = loader.get_source(package)
    if source is None:
        raise ImportError(f"{package}: its source must be installed, for the names it exports")
    return str(source)
