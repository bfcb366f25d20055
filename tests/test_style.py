"""The figures of tools/style.py, on sources small enough to count by eye."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from tools import style


def counted(source: str) -> style.Counts:
    counts = style.Counts()
    style.count_module(counts, "module.py", source)
    return counts


def write(folder: Path, **sources: str) -> Path:
    """A folder of modules."""
    for name, source in sources.items():
        (folder / f"{name}.py").write_text(source)
    return folder


def test_blank_lines_do_not_count() -> None:
    assert counted("a = 1\n\n   \nb = 2\n").lines == 2


def test_conditional_expressions() -> None:
    assert counted("a = 1 if b else 2 if c else 3\nif a:\n    b = 1\n").conditionals == 2


@pytest.mark.parametrize(
    ("source", "comprehensions", "nested"),
    [
        ("a = [x for x in b]", 1, 0),
        ("a = sum(x for x in b) + max(y for y in c)", 2, 0),
        ("a = {x: y for x in b for y in x}", 1, 1),
        ("a = [[y for y in x] for x in b]", 2, 1),
        ("a = {x for x in [y for y in b]}", 2, 1),
        ("a = [x for x in b if any(y for y in x)]", 2, 1),
        ("for x in b:\n    a = [y for y in x]", 1, 0),
    ],
)
def test_comprehensions(source: str, comprehensions: int, nested: int) -> None:
    counts = counted(source)
    assert (counts.comprehensions, counts.nested) == (comprehensions, nested)


@pytest.mark.parametrize(
    ("source", "is_one"),
    [
        ("a, b = 1, 2", True),
        ("a, b = f()", False),
        ("a = 1, 2", False),
        ("a = b = 1", False),
        ("a.x, b[0] = 1, 2", True),
    ],
)
def test_tuple_assignments(source: str, is_one: bool) -> None:
    counts = counted(source)
    assert (counts.assignments, counts.tuple_assignments) == (1, int(is_one))


def test_a_skip_is_a_comment_and_no_string() -> None:
    assert counted("a = [1,2]  # fmt: skip\nb = '# fmt: skip'\n").skips == 1


def test_lines_of_a_hundred_characters_are_not_long() -> None:
    assert counted(f"# {'x' * 98}\n# {'x' * 99}\n").long_lines == 1


def test_public_names_are_those_of_the_top_level() -> None:
    source = """
import os
A, _b = 1, 2
table = {}
table["key"] = 3
number: int = 4
def function(): inner = 5
class Thing: part = 6
def _hidden(): pass
"""
    module = ast.parse(source)
    assert style.public_names(module) == {"A", "table", "number", "function", "Thing"}


def test_names_defined_twice(tmp_path: Path) -> None:
    write(tmp_path, one="def f(): pass\na = 1", two="f = 2\na_ = 1", three="from one import a")
    counts = style.count_folder(tmp_path)
    assert style.names_defined_twice(counts) == {"f": ["one.py", "two.py"]}


def test_lengths_and_docstrings() -> None:
    source = (
        'def f():\n    """It."""\n    return 1\n\n\ndef g(): return 2\n\n\ndef _h(): return 3\n'
    )
    counts = counted(source)
    assert counts.file_lengths == {"module.py": 9}
    assert list(counts.function_lengths.values()) == [3, 1, 1]
    assert (counts.public_functions, counts.documented) == (2, 1)
    lines = style.length_lines(counts)
    assert lines[1] == "function: median 1, 90 % 3, longest 3 (module.py:1 f)"
    assert lines[2] == "public functions with a docstring: 50 %"


def test_rates_are_per_thousand_lines() -> None:
    source = "a = [x for x in b]\n" * 20 + "c = 1\n" * 980
    found = {figure.what: figure.value for figure in style.figures(counted(source))}
    assert found["comprehensions per 1000 lines"] == 20
    assert found["conditional expressions per 1000 lines"] == 0


def test_check_fails_only_out_of_range(tmp_path: Path) -> None:
    folder = write(tmp_path, good="a = 1\n")
    assert style.main([str(folder), "--check"]) == 0
    write(folder, bad="a = 1 if b else 2\n")
    assert style.main([str(folder)]) == 0
    assert style.main([str(folder), "--check"]) == 1


def test_plain_comprehensions_are_not_held(tmp_path: Path) -> None:
    folder = write(tmp_path, plain="a = [x for x in b]\n")
    assert style.main([str(folder), "--check"]) == 0
    write(folder, nested="a = [x for y in b for x in y]\n")
    assert style.main([str(folder), "--check"]) == 1


def test_two_modules_may_define_one_name(tmp_path: Path) -> None:
    folder = write(tmp_path, one="a = 1\n", two="a = 2\n")
    assert style.main([str(folder), "--check"]) == 0


def test_what_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write(tmp_path, one="def f(): pass\n", two="f = 1 if 2 else 3\n")
    style.main([str(folder), "--names"])
    printed = capsys.readouterr().out.splitlines()
    assert printed[1].split() == [
        *["conditional", "expressions", "per", "1000", "lines"],
        *["500.0", "0-7.5", "out", "of", "range"],
    ]
    assert printed[-2:] == [
        "public names defined in several modules: 1",
        "  f                        one.py, two.py",
    ]


def test_an_unknown_folder_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        style.main(["nowhere"])
    assert stop.value.code == 2
    assert "folder must be a folder; got nowhere." in capsys.readouterr().err
