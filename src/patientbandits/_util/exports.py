"""Public names that are imported when they are first used.

A package lists its public names once, under ``if TYPE_CHECKING:`` in its ``__init__.py``, where
type checkers and editors read them:

    if TYPE_CHECKING:
        from patientbandits.simulation.bandit import Bandit as Bandit

    __all__, __getattr__, __dir__ = lazy_exports(__name__)

`lazy_exports` reads the same list, and imports a name when somebody asks for it: the help of the
command line must wait neither for the compiler nor for NumPy.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

LISTED = re.compile(r"^    from (\S+) import (?:\(\s+)?\w+ as (\w+)", re.MULTILINE)

Exports = tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]


def lazy_exports(package: str, *others: str, renamed: Mapping[str, str] | None = None) -> Exports:
    """``__all__``, ``__getattr__`` and ``__dir__`` of a package, which also has the ``others``.

    renamed   old name -> new name: the old one works for one more version, and warns
    """
    homes = public_names(package)
    public = [*homes, *others]

    def get(name: str) -> Any:
        if renamed and name in renamed:
            warnings.warn(f"{name} is now {renamed[name]}", DeprecationWarning, stacklevel=2)
            return getattr(sys.modules[package], renamed[name])
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
    """name -> the module that it is imported from, as the source of ``package`` lists them.

    The only indented imports of such a source are those under ``if TYPE_CHECKING:``, one name to a
    line. So there is one list, which type checkers read as Python and this reads as text.
    """
    loader: Any = getattr(find_spec(package), "loader", None)
    source = loader.get_source(package) if loader else None
    if source is None:
        raise ImportError(f"{package}: its source must be installed, for the names it exports")
    return {name: module for module, name in LISTED.findall(source)}
