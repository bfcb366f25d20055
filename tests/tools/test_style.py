"""The figures of tools/style.py, on folders small enough to count by eye."""

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
    """Write modules into a folder; ``a__b`` is ``a/b.py``."""
    for name, source in sources.items():
        path = folder / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    return folder


def measured(folder: Path) -> dict[str, style.Figure]:
    return style.figures(style.count_folder(folder, folder.parent / "tests"))


def with_tests(modules: int, tests: int) -> dict[str, str]:
    """Modules in a room, of which some have a test of their name."""
    paths = {f"package__room__m{number}": "" for number in range(modules)}
    return paths | {f"..__tests__room__test_m{number}": "" for number in range(tests)}


def chain(modules: int) -> dict[str, str]:
    """Modules of which each imports the next."""
    last = modules - 1
    links = {f"package__room__m{n}": f"from package.room import m{n + 1}" for n in range(last)}
    return links | {f"package__room__m{last}": ""}


LOOSE = {f"package__m{number}": "" for number in range(11)}
COMMENTS = "a = 1  # beside code\n# alone\n"
CYCLE = {
    "package__a__one": "from package.b.two import f",
    "package__b__two": "def f():\n    from package.a import one",
}

CASES: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "rooms": (
        {f"package__room__m{n}": "" for n in range(26)} | {"package__room____init__": ""},
        {f"package__room__m{n}": "" for n in range(27)},
    ),
    "loose": (
        dict(list(LOOSE.items())[:10]) | {"package___version": "", "package____main__": ""},
        LOOSE,
    ),
    "untested": (with_tests(20, 9), with_tests(20, 8)),
    "cycles": (
        {"package__a": "from package import b", "package__b": "import os"},
        CYCLE,
    ),
    "chain": (chain(38), chain(39)),
    "imports": ({"m": "import os\n" * 29 + "a = 1\n" * 471}, {"m": "import os\na = 1\n"}),
    "code": (
        {"m": "# why\n\na = 1\n" * 31_000},
        {"m": "a = 1\n" * 31_001},
    ),
    "public": (
        {"m": "def f(): return 1\n" + "a = 1\n" * 40},
        {"m": "def f(): return 1\n" + "a = 1\n" * 30},
    ),
    "participles": (
        {"m": "made = 1\ndef f(row):\n    row.found = 1\n    return row.told"},
        {"m": "def f(row):\n    made = 1"},
    ),
    "headless": (
        {"m": '"""A table of what is known."""\n'},
        {"m": '"""What is known."""\n'},
    ),
    "comments": (
        {"m": COMMENTS + "a = 1\n" * 160},
        {"m": COMMENTS + "a = 1\n" * 170},
    ),
    "conditionals": (
        {"m": "a = 1 if b else 2\n" * 7 + "a = 1\n" * 993},
        {"m": "a = 1 if b else 2\n" * 8 + "a = 1\n" * 992},
    ),
    "comprehensions": (
        {"m": "a = [x for x in b]\n" * 17 + "a = 1\n" * 983},
        {"m": "a = [x for x in b]\n" * 18 + "a = 1\n" * 982},
    ),
    "nested": (
        {"m": "a = [x for x in b]\n"},
        {"m": "a = [x for y in b for x in y]\n"},
    ),
    "tuples": (
        {"m": "a, b = 1, 2\n" + "a = 1\n" * 30},
        {"m": "a, b = 1, 2\n" + "a = 1\n" * 20},
    ),
    "long lines": ({"m": f"# {'x' * 98}\n"}, {"m": f"# {'x' * 99}\n"}),
    "skips": ({"m": "a = '# fmt: skip'\n"}, {"m": "a = [1,2]  # fmt: skip\n"}),
}
"""Figure -> modules with which it is just within its range, and some with which it is not."""


def test_every_figure_has_a_case(tmp_path: Path) -> None:
    assert CASES.keys() == measured(write(tmp_path, empty="")).keys()


@pytest.mark.parametrize("figure", CASES)
def test_a_figure_in_and_out_of_range(
    figure: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = (write(tmp_path / str(n) / "src", **case) for n, case in enumerate(CASES[figure]))
    assert measured(good)[figure].within
    assert not measured(bad)[figure].within

    held = measured(bad)[figure].held
    style.main([str(bad)])
    line = next(
        line
        for line in capsys.readouterr().out.splitlines()
        if line.startswith(measured(bad)[figure].title)
    )
    assert line.endswith("out of range" if held else "out of range, not held")


def check(folder: Path) -> int:
    """Run ``--check`` on modules in a folder, among them a comment, each with a test."""
    write(folder, comment="# why\na = 1\n")
    tests = folder.parent / "tests"
    write(tests, **{f"test_{path.stem}": "" for path in folder.glob("*.py")})
    return style.main([str(folder), "--check", "--tests", str(tests)])


def test_check_fails_if_a_held_figure_is_out_of_range(tmp_path: Path) -> None:
    folder = write(tmp_path / "src", good="a = 1\n")
    assert check(folder) == 0
    write(folder, bad="a = 1 if b else 2\n")
    assert style.main([str(folder)]) == 0
    assert check(folder) == 1


def test_plain_comprehensions_are_not_held(tmp_path: Path) -> None:
    folder = write(tmp_path / "src", plain="a = [x for x in b]\n")
    assert check(folder) == 0
    write(folder, nested="a = [x for y in b for x in y]\n")
    assert check(folder) == 1


def test_two_modules_may_define_one_name(tmp_path: Path) -> None:
    folder = write(tmp_path / "src", one="def a(): return 1\n", two="def a(): return 2\n")
    assert check(folder) == 0


# Lines


def test_blank_lines_do_not_count() -> None:
    assert counted("a = 1\n\n   \nb = 2\n").lines == 2


def test_code_is_neither_comment_nor_docstring() -> None:
    source = """
'''Two lines
of docstring.'''
# alone

def f():
    '''One.'''
    text = '''part
# of the code'''  # beside it
    # alone, indented
    return text
class Thing:
    part = 1
    '''What it is.'''
"""
    counts = counted(source)
    assert (counts.code_lines, counts.comment_lines) == (6, 2)


def test_imports_in_functions_and_for_types_are_no_import_lines() -> None:
    source = """
from a import (
    b,
)
if TYPE_CHECKING:
    import c
def f():
    import d
"""
    assert counted(source).import_lines == 3


# Words


def test_public_names_are_functions_and_classes_of_the_top_level() -> None:
    source = """
A = 1
def function():
    def inner(): pass
class Thing:
    def method(self): pass
async def wait(): pass
def _hidden(): pass
"""
    assert style.public_names(ast.parse(source)) == {"function", "Thing", "wait"}


@pytest.mark.parametrize(
    "source",
    [
        "found = 1",
        "for found in rows: pass",
        "with a as found: pass",
        "b = [found for found in rows]",
        "b, (found, c) = rows",
        "if found := 1: pass",
        "b = lambda found: 1",
    ],
)
def test_participles_as_locals(source: str) -> None:
    assert counted(f"def f():\n    {source}\n").places["participles"] == ["module.py:2 found"]


def test_a_participle_counts_once_for_each_function() -> None:
    source = """
found = 1
def f(told):
    told = 2
    def g(*, told):
        told = 3
    return g(told=4).told
"""
    assert counted(source).places["participles"] == ["module.py:3 told", "module.py:5 told"]


@pytest.mark.parametrize(
    ("docstring", "headless"),
    [
        ("Whether it is.", True),
        ("Of a shop, its orders.", True),
        ("What: a list.", True),
        ("Return what it is.", False),
        ("Offers that end.", False),
        ("", False),
    ],
)
def test_docstrings_without_a_head(docstring: str, headless: bool) -> None:
    assert style.is_headless(docstring) == headless
    for source in (f"'''{docstring}'''", f"class A:\n    '''{docstring}'''"):
        assert len(counted(source).places["headless"]) == headless


# Expressions and functions


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
    assert (counts.comprehensions, len(counts.places["nested"])) == (comprehensions, nested)


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
    assert (counts.assignments, len(counts.places["tuples"])) == (1, int(is_one))


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
    figures = style.figures(counted(source))
    assert figures["comprehensions"].value == 20
    assert figures["conditionals"].value == 0


# Imports


def test_a_face_leads_to_where_the_name_is_defined() -> None:
    face = "if TYPE_CHECKING:\n    from p.room.inner import f as f"
    modules = {"p.room.__init__": face, "p.room.inner": "", "p.user": "from p.room import f"}
    parsed = {name: ast.parse(source) for name, source in modules.items()}
    assert style.import_graph(parsed) == {
        "p.room.__init__": set(),
        "p.room.inner": set(),
        "p.user": {"p.room.inner"},
    }


def test_a_name_that_the_room_itself_defines_leads_to_the_room() -> None:
    modules = {"p.room.__init__": "def f(): pass", "p.user": "from p.room import f\nimport p.room"}
    parsed = {name: ast.parse(source) for name, source in modules.items()}
    assert style.import_graph(parsed)["p.user"] == {"p.room.__init__"}


def test_imports_for_types_are_none() -> None:
    parsed = {"a": ast.parse("if TYPE_CHECKING:\n    import b\nelse:\n    import c")}
    parsed |= {"b": ast.parse("import a"), "c": ast.parse("import numpy")}
    assert style.import_graph(parsed) == {"a": {"c"}, "b": {"a"}, "c": set()}


def test_cycles_and_chains() -> None:
    ring = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set(), "e": {"d"}}
    assert style.cycles(ring) == [["b", "c"]]
    assert style.longest_chain(ring) == ["a", "b", "d"]


# The command


def test_what_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write(tmp_path, one="def f():\n    made = 1\n", two="a = 1 if 2 else 3\n")
    style.main([str(folder), "--list"])
    printed = capsys.readouterr().out
    assert "conditional expressions per 1000 lines      333.3  <= 7.5" in printed
    assert "\nlocals such as found, told, made:\n  one.py:2 made\n" in printed
    assert "skip, in all:" not in printed


def test_an_unknown_folder_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        style.main(["nowhere"])
    assert stop.value.code == 2
    assert "folder must be a folder; got nowhere." in capsys.readouterr().err
