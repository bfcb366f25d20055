"""Public names: one list, which type checkers and the running program read; imported when used."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import patientbandits
from patientbandits._util.exports import public_names

PACKAGES = ("patientbandits", "patientbandits.live")
HEAVY = ("numpy", "numba", "matplotlib", "scipy", "msgspec", "apsw", "httptools")


@pytest.mark.parametrize("package", PACKAGES)
def test_every_name_is_what_its_module_has(package: str) -> None:
    module = import_module(package)
    names = public_names(package)
    assert len(names) > 10
    assert set(names) | {"__version__"} == set(module.__all__) | {"__version__"}
    assert sorted(module.__all__) == dir(module)
    for name, home in names.items():
        expected = getattr(import_module(home), name)
        assert getattr(module, name) is expected, name


@pytest.mark.parametrize("package", PACKAGES)
def test_an_unknown_name_is_refused_as_python_does(package: str) -> None:
    with pytest.raises(AttributeError, match=rf"^module '{package}' has no attribute 'nothing'$"):
        import_module(package).nothing  # noqa: B018


def test_the_list_is_read_as_type_checkers_read_it() -> None:
    """By its text alone, against Python's own parser, in every package that has a list."""
    root = Path(patientbandits.__file__).parent
    lists = 0
    for file in root.rglob("__init__.py"):
        if "lazy_exports(__name__" not in file.read_text():
            continue
        package = ".".join(("patientbandits", *file.parent.relative_to(root).parts))
        parsed = {
            alias.asname or alias.name: statement.module
            for block in ast.parse(file.read_text()).body
            if isinstance(block, ast.If)
            for statement in block.body
            if isinstance(statement, ast.ImportFrom)
            for alias in statement.names
        }
        assert public_names(package) == parsed, package
        lists += 1
    assert lists > 10


def test_star_imports_every_name() -> None:
    found: dict[str, object] = {}
    exec("from patientbandits import *", found)
    assert set(import_module("patientbandits").__all__) <= set(found)


def test_a_package_without_its_source_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    import patientbandits.live as package

    monkeypatch.setattr(package.__spec__.loader, "get_source", lambda name: None)
    with pytest.raises(ImportError, match=r"^patientbandits\.live: its source must be installed"):
        public_names("patientbandits.live")


def test_importing_a_package_imports_nothing_heavy(tmp_path: Path) -> None:
    code = (
        f"import sys, patientbandits, patientbandits.live; print(set(sys.modules) & {set(HEAVY)})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"


def test_a_wrong_name_is_told_with_what_a_suggestion_needs() -> None:
    with pytest.raises(AttributeError, match="no attribute 'PatientBandit'") as caught:
        _ = patientbandits.PatientBandit
    assert (caught.value.name, caught.value.obj) == ("PatientBandit", patientbandits)


def test_an_old_name_warns_and_gives_the_new_one() -> None:
    with pytest.warns(DeprecationWarning, match="ToldThompson is now OracleThompson"):
        old = patientbandits.ToldThompson
    assert old is patientbandits.OracleThompson
    assert "ToldThompson" not in patientbandits.__all__
