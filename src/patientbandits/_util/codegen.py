"""Functions that are written at run time, since their form depends on data.

numba compiles neither ``*arguments`` nor ``getattr``: where a function must name each field of a
record, or each argument of a hook, its source is put together from the names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def define(name: str, source: str, **names: Any) -> Callable[..., Any]:
    """Return the function ``name`` that ``source`` defines, with ``names`` as its globals.

    The engine compiles it as code of this package, unless ``__name__`` names another module.
    """
    scope: dict[str, Any] = {"__name__": __name__, **names}
    exec(source, scope)
    function: Callable[..., Any] = scope[name]
    return function
