"""Functions written at run time."""

from __future__ import annotations

from patientbandits._util.codegen import define
from patientbandits.simulation.engine.compile import UNCHECKED, options_of


def test_a_function_sees_the_names_it_is_given() -> None:
    add = define("add", "def add(x): return x + more", more=2)
    assert add(40) == 42
    assert define("add", "def add(x): return x + more", more=3)(40) == 43


def test_it_is_compiled_as_code_of_the_package_unless_it_says_otherwise() -> None:
    ours = define("one", "def one(): return 1")
    theirs = define("one", "def one(): return 1", __name__="mine")
    assert UNCHECKED.items() <= options_of(ours).items()
    assert not UNCHECKED.items() <= options_of(theirs).items()
