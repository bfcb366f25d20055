"""Old names of modules: importing one warns, and gives the module under its new name."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

ROOT = "patientbandits."

MOVED = {
    "anytime": "inference.anytime",
    "events": "analysis.events",
    "gym": "integrations.gym",
    "posteriors": "inference.posterior",
    "random_problems": "problems.random_problems",
}
"""the modules that the documentation named; all else was to be imported from the package"""


class MovedModules:
    """Finder and loader of the modules of `MOVED`, and of what is inside those that are packages.

    It derives from nothing: `importlib.abc` takes longer to import than all of this package.
    """

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        head, _, rest = name.removeprefix(ROOT).partition(".")
        if not name.startswith(ROOT) or head not in MOVED:
            return None
        new = ROOT + MOVED[head] + (f".{rest}" if rest else "")
        loader: Any = self
        return ModuleSpec(name, loader, origin=new)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        new = str(spec.origin)
        warnings.warn(f"{spec.name} is now {new}", DeprecationWarning, stacklevel=2)
        module = import_module(new)
        self._specs[spec.name] = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Give the module its own specification back: the import system has replaced it."""
        assert module.__spec__ is not None
        module.__spec__ = self._specs.pop(module.__spec__.name)

    def __init__(self) -> None:
        self._specs: dict[str, ModuleSpec | None] = {}


def keep_old_names() -> None:
    """Let the old names be imported for one more version."""
    # First: a package under an old name has the path of the new one, in which Python's own finder
    # would find its modules and load them a second time.
    sys.meta_path.insert(0, MovedModules())
