"""The experiments of the report, in its order.

A new one is a file in this folder with a class derived from `PaperExperiment`, and its line here.
"""

from __future__ import annotations

from importlib import import_module
from inspect import isabstract
from itertools import chain

from patientbandits.research.paper.experiment import PaperExperiment

FILES = (
    "figure1_alpha",
    "figure2_gap",
    "figures3_4_ducb",
    "section8_adaptive",
    "classical",
    "log_growth",
    "worst_case",
    "many_arms",
    "theorems",
)


def experiments_in(file: str) -> list[PaperExperiment]:
    """One of each class of experiments that the file defines, in its order."""
    module = import_module(f"patientbandits.research.paper.{file}")
    found = []
    for value in vars(module).values():
        if not isinstance(value, type) or value.__module__ != module.__name__:
            continue
        if issubclass(value, PaperExperiment) and not isabstract(value):
            found.append(value())
    return found


EXPERIMENTS = {one.name: one for one in chain.from_iterable(map(experiments_in, FILES))}
"""By the names that the command line takes."""
