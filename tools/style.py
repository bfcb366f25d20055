"""How the source reads, in figures, beside those of well-read packages.

    python tools/style.py [--check] [--list] [--tests TESTS] [FOLDER]

FOLDER is src and TESTS is tests if none is given. What is counted:

- A room is a folder of modules; ``__init__`` and ``__main__`` are no modules of it. A loose module
  lies at the top of the package, in no room.
- Code lines are those that are not blank, no comment and no docstring.
- A docstring without a head begins with a word such as "Whether" or "What" instead of a verb or a
  noun. A participle used as a noun is a local variable or a parameter called ``found``, ``told``
  or the like.
- A public name is a function or class that a module defines at its top level and that does not
  begin with an underscore.
- Modules import each other at their top level or inside functions; what only type checkers read is
  no import. ``from room import name`` leads to the module from which the room's ``__init__`` has
  the name. The longest chain counts modules; a cycle counts as one.
- Import lines are those of the imports at the top level, of all lines.
- A module ``a/b/c.py`` has a test of its name if there is ``TESTS/a/b/test_c.py``.
- A comprehension is nested if another one stands inside it or if it runs over more than one
  ``for``.

``--list`` tells the places of every figure that is out of range. ``--check`` ends with exit code 1
if one that is held is out of range. Two are for people only. Plain comprehensions are many here
because most turn a list of arms, rows or curves into another in one thought; what makes one hard
to read, another inside it, is held.
Public names are many because functions are short; what a reader must know are the rooms' faces.
"""

from __future__ import annotations

import argparse
import ast
import statistics
import sys
import tokenize
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from io import StringIO
from pathlib import Path

LONGEST_LINE = 100
PARTICIPLES = {"found", "told", "made", "known", "wanted", "given", "shown", "asked"}
HEADLESS = {"what", "whether", "of", "as", "how", "those", "who", "where", "which", "that"}
NOT_LOOSE = {"__init__", "__main__", "_version"}

Function = ast.FunctionDef | ast.AsyncFunctionDef
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
Import = ast.Import | ast.ImportFrom
Documented = ast.Module | ast.ClassDef | Function
Graph = dict[str, set[str]]
"""Module -> the modules that it imports."""


@dataclass
class Counts:
    """What is counted, over all files."""

    lines: int = 0
    all_lines: int = 0
    code_lines: int = 0
    import_lines: int = 0
    comment_lines: int = 0
    docstrings: int = 0
    conditionals: int = 0
    comprehensions: int = 0
    assignments: int = 0
    public_names: int = 0
    public_functions: int = 0
    documented: int = 0
    rooms: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """Folder -> its modules, without ``__init__`` and ``__main__``."""
    file_lengths: dict[str, int] = field(default_factory=dict)
    function_lengths: dict[str, int] = field(default_factory=dict)
    places: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """Figure -> where something stands that makes it worse."""

    def note(self, figure: str, path: str, line: int, text: str = "") -> None:
        self.places[figure].append(f"{path}:{line} {text}".rstrip())


@dataclass(frozen=True)
class Figure:
    """A measured number, its target and the range of the anchors."""

    title: str
    value: float
    target: float
    anchors: str = ""
    unit: str = ""
    at_least: bool = False
    held: bool = True
    """``--check`` fails when it is out of range."""

    @property
    def within(self) -> bool:
        return self.value >= self.target if self.at_least else self.value <= self.target

    @property
    def verdict(self) -> str:
        if self.within:
            return ""
        return "out of range" if self.held else "out of range, not held"


# Lines


def comments(source: str) -> Iterator[tokenize.TokenInfo]:
    tokens = tokenize.generate_tokens(StringIO(source).readline)
    return (token for token in tokens if token.type == tokenize.COMMENT)


def lines_of(node: ast.stmt) -> set[int]:
    """The numbers of the lines from the statement's first to its last."""
    return set(range(node.lineno, (node.end_lineno or node.lineno) + 1))


def is_string(node: ast.AST) -> bool:
    """Tell whether a statement is a docstring, be it of a module, a class or an attribute."""
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Constant):
        return False
    return isinstance(node.value.value, str)


def count_lines(counts: Counts, path: str, source: str, module: ast.Module) -> None:
    lines = source.splitlines()
    filled = {number for number, line in enumerate(lines, 1) if line.strip()}
    own_lines = set()
    for comment in comments(source):
        number, column = comment.start
        if not comment.line[:column].strip():
            own_lines.add(number)
        if "fmt: skip" in comment.string:
            counts.note("skips", path, number)
    strings: set[int] = set()
    for node in ast.walk(module):
        if is_string(node):
            strings |= lines_of(node)
    for statement in module.body:
        if isinstance(statement, Import):
            counts.import_lines += len(lines_of(statement))
    counts.file_lengths[path] = len(lines)
    counts.all_lines += len(lines)
    counts.lines += len(filled)
    counts.comment_lines += len(own_lines)
    counts.code_lines += len(filled - own_lines - strings)
    for number, line in enumerate(lines, 1):
        if len(line) > LONGEST_LINE:
            counts.note("long lines", path, number)


# Names and docstrings


def public_names(module: ast.Module) -> set[str]:
    """The functions and classes that a module defines at its top level."""
    definitions = (node for node in module.body if isinstance(node, Function | ast.ClassDef))
    return {node.name for node in definitions if not node.name.startswith("_")}


def local_names(function: ast.AST) -> dict[str, int]:
    """Parameters and variables of a function, with their lines; not those of functions inside."""
    names: list[tuple[str, int]] = []
    waiting = list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        if isinstance(node, Function | ast.ClassDef):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.append((node.id, node.lineno))
        elif isinstance(node, ast.arg):
            names.append((node.arg, node.lineno))
        waiting.extend(ast.iter_child_nodes(node))
    return dict(sorted(names, reverse=True))  # the first line of each


def is_headless(docstring: str) -> bool:
    """Tell whether a docstring begins with neither a verb nor a noun."""
    words = docstring.split(maxsplit=1)
    return bool(words) and words[0].strip(",.:;").lower() in HEADLESS


def count_words(counts: Counts, path: str, module: ast.Module) -> None:
    counts.public_names += len(public_names(module))
    for node in ast.walk(module):
        if isinstance(node, Documented):
            docstring = ast.get_docstring(node) or ""
            counts.docstrings += bool(docstring)
            if is_headless(docstring):
                line = node.body[0].lineno
                counts.note("headless", path, line, docstring.splitlines()[0])
        if isinstance(node, Function):
            names = local_names(node)
            for name in sorted(PARTICIPLES & names.keys()):
                counts.note("participles", path, names[name], name)


# Expressions and functions


def is_nested(node: Comprehension) -> bool:
    """Tell whether a comprehension has more than one ``for``, its own or one inside it."""
    inside = (child for child in ast.walk(node) if child is not node)
    return len(node.generators) > 1 or any(isinstance(child, Comprehension) for child in inside)


def is_tuple_assignment(node: ast.Assign) -> bool:
    """Tell whether it has the form ``a, b = x, y``."""
    return isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple)


def count_function(counts: Counts, path: str, node: Function) -> None:
    """Add its length, and whether it is documented."""
    end = node.end_lineno or node.lineno
    counts.function_lengths[f"{path}:{node.lineno} {node.name}"] = end - node.lineno + 1
    if not node.name.startswith("_"):
        counts.public_functions += 1
        counts.documented += ast.get_docstring(node) is not None


def count_nodes(counts: Counts, path: str, module: ast.Module) -> None:
    for node in ast.walk(module):
        if isinstance(node, ast.IfExp):
            counts.conditionals += 1
        elif isinstance(node, Comprehension):
            counts.comprehensions += 1
            if is_nested(node):
                counts.note("nested", path, node.lineno)
        elif isinstance(node, ast.Assign):
            counts.assignments += 1
            if is_tuple_assignment(node):
                counts.note("tuples", path, node.lineno)
        elif isinstance(node, Function):
            count_function(counts, path, node)


def count_module(counts: Counts, path: str, source: str) -> None:
    """Add one file."""
    module = ast.parse(source, path)
    count_lines(counts, path, source, module)
    count_words(counts, path, module)
    count_nodes(counts, path, module)


# Rooms and tests


def count_rooms(counts: Counts, paths: Iterable[Path], tests: Path) -> None:
    """Add modules to their rooms, and note those that lie loose or have no test of their name."""
    for path in paths:
        if path.stem in {"__init__", "__main__"}:
            continue
        counts.rooms[path.parent.as_posix()].append(path.stem)
        if len(path.parts) <= 2 and path.stem not in NOT_LOOSE:
            counts.note("loose", path.as_posix(), 1)
        if path.stem in NOT_LOOSE:
            continue
        # The package's own folder has no counterpart in the tests.
        test = tests.joinpath(*path.parent.parts[1:], f"test_{path.stem}.py")
        if not test.is_file():
            counts.note("untested", path.as_posix(), 1)


def largest_room(counts: Counts) -> int:
    return max((len(modules) for modules in counts.rooms.values()), default=0)


def tested_share(counts: Counts) -> float:
    """Modules with a test file of their name, in per cent."""
    modules = [path for path in counts.file_lengths if Path(path).stem not in NOT_LOOSE]
    if not modules:
        return 100
    return 100 * (len(modules) - len(counts.places["untested"])) / len(modules)


# Imports


def module_name(path: Path) -> str:
    """The dotted name of the module in a file, with ``__init__`` for that of a package itself."""
    return ".".join(path.with_suffix("").parts)


def imports_of(module: ast.Module) -> tuple[list[Import], list[Import]]:
    """The imports that are run, now or when a function is called, and those for types only."""
    for_types = []
    for node in ast.walk(module):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for_types += [child for child in node.body if isinstance(child, Import)]
    every = [node for node in ast.walk(module) if isinstance(node, Import)]
    return [node for node in every if node not in for_types], for_types


def faces(modules: dict[str, ast.Module]) -> dict[tuple[str, str], str]:
    """(room, public name) -> the module that the room's ``__init__`` imports it from."""
    homes = {}
    for name, module in modules.items():
        room, _, last = name.rpartition(".")
        if last != "__init__":
            continue
        run, for_types = imports_of(module)
        for node in run + for_types:
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    homes[room, alias.asname or alias.name] = str(node.module)
    return homes


def resolve(
    modules: Iterable[str], homes: dict[tuple[str, str], str], source: str, name: str
) -> str:
    """The module that ``from source import name`` needs; empty if it is none of ``modules``."""
    while True:
        if f"{source}.{name}" in modules:
            return f"{source}.{name}"
        if source in modules:
            return source
        if homes.get((source, name), source) == source:  # what the room itself holds
            break
        source = homes[source, name]
    init = f"{source}.__init__"
    return init if init in modules else ""


def import_graph(modules: dict[str, ast.Module]) -> Graph:
    """The imports among the modules, through the faces of rooms to where a name is defined."""
    homes = faces(modules)
    graph: Graph = {name: set() for name in modules}
    for importer, module in modules.items():
        for node in imports_of(module)[0]:
            for alias in node.names:
                if isinstance(node, ast.ImportFrom):
                    graph[importer].add(resolve(modules, homes, str(node.module), alias.name))
                else:
                    graph[importer].add(resolve(modules, homes, alias.name, "__init__"))
    return {name: targets - {name, ""} for name, targets in graph.items()}


def reachable(graph: Graph, start: str) -> set[str]:
    """The modules that ``start`` imports, directly or through others."""
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        for name in graph[waiting.pop()]:
            if name not in reached:
                reached.add(name)
                waiting.append(name)
    return reached


def cycles(graph: Graph) -> list[list[str]]:
    """Groups of modules that import each other."""
    reach = {name: reachable(graph, name) for name in graph}
    groups = set()
    for name in graph:
        if name in reach[name]:
            groups.add(tuple(sorted(other for other in reach[name] if name in reach[other])))
    return [list(group) for group in sorted(groups)]


def longest_chain(graph: Graph) -> list[str]:
    """Modules of which each imports the next; a cycle is passed only once."""
    group_of = {name: name for name in graph}
    for group in cycles(graph):
        group_of.update(dict.fromkeys(group, group[0]))
    links: Graph = {group: set() for group in group_of.values()}
    for name, targets in graph.items():
        links[group_of[name]] |= {group_of[target] for target in targets}
    for name, targets in links.items():
        targets.discard(name)
    chains: dict[str, list[str]] = {}
    for name in TopologicalSorter(links).static_order():
        chains[name] = [name, *max((chains[target] for target in links[name]), key=len, default=[])]
    return max(chains.values(), key=len, default=[])


# The figures


def read_folder(folder: Path) -> dict[Path, str]:
    """All Python files below a folder."""
    paths = sorted(folder.rglob("*.py"))
    return {path.relative_to(folder): path.read_text("utf-8") for path in paths}


def count_folder(folder: Path, tests: Path) -> Counts:
    """Count all Python files below a folder, and how they import each other."""
    counts = Counts()
    sources = read_folder(folder)
    for path, source in sources.items():
        count_module(counts, path.as_posix(), source)
    count_rooms(counts, sources, tests)
    modules = {module_name(path): ast.parse(source) for path, source in sources.items()}
    graph = import_graph(modules)
    for group in cycles(graph):
        counts.places["cycles"].append(", ".join(group))
    counts.places["chain"] = longest_chain(graph)
    for room, names in counts.rooms.items():
        counts.places["rooms"].append(f"{len(names):4} {room}")
    return counts


def figures(counts: Counts) -> dict[str, Figure]:
    """What is held against targets and the anchors."""
    filled = max(counts.lines, 1)
    code = max(counts.code_lines, 1)

    def places(figure: str) -> int:
        return len(counts.places[figure])

    def share(number: int, whole: int) -> float:
        return 100 * number / max(whole, 1)

    return {
        "rooms": Figure("modules in the largest room", largest_room(counts), 26, "4-39"),
        "loose": Figure("loose modules at the top", places("loose"), 10),
        "untested": Figure(
            "modules with a test of their name",
            *(tested_share(counts), 45, "23-78 %", " %"),
            at_least=True,
        ),
        "cycles": Figure("import cycles", places("cycles"), 0, "0-2", held=False),
        "chain": Figure("longest import chain", places("chain"), 38, "7-73"),
        "imports": Figure(
            "import lines, of all lines",
            *(share(counts.import_lines, counts.all_lines), 5.8, "1.4-5.8 %", " %"),
            held=False,
        ),
        "code": Figure("code lines", counts.code_lines, 31_000, "5200-28 500", held=False),
        "public": Figure(
            "public names per 1000 code lines",
            *(1000 * counts.public_names / code, 28, "10-28"),
            held=False,
        ),
        "participles": Figure("locals such as found, told, made", places("participles"), 0, "0-1"),
        "headless": Figure(
            "docstrings without a head",
            *(share(places("headless"), counts.docstrings), 4, "0-2 %", " %"),
        ),
        "comments": Figure(
            "own-line comments per 1000 code lines",
            *(1000 * counts.comment_lines / code, 6, "20-109"),
            at_least=True,
        ),
        "conditionals": Figure(
            "conditional expressions per 1000 lines", 1000 * counts.conditionals / filled, 7.5
        ),
        "comprehensions": Figure(
            "comprehensions per 1000 lines", 1000 * counts.comprehensions / filled, 17, held=False
        ),
        "nested": Figure(
            "nested comprehensions per 1000 lines", 1000 * places("nested") / filled, 0.7
        ),
        "tuples": Figure(
            "assignments that are a, b = x, y",
            *(share(places("tuples"), counts.assignments), 3.8, "", " %"),
        ),
        "long lines": Figure(
            f"lines over {LONGEST_LINE} characters",
            *(share(places("long lines"), counts.lines), 7.4, "", " %"),
        ),
        "skips": Figure("fmt: skip, in all", places("skips"), 0),
    }


def figure_lines(measured: Iterable[Figure]) -> list[str]:
    """The table of the figures."""
    lines = [f"{'':40}{'here':>9}  {'target':10}{'anchors':13}"]
    for figure in measured:
        value = f"{figure.value:.1f}".removesuffix(".0") + figure.unit
        target = f"{'>=' if figure.at_least else '<='} {figure.target:g}{figure.unit}"
        cells = f"{figure.title:40}{value:>9}  {target:10}{figure.anchors:13}{figure.verdict}"
        lines.append(cells.rstrip())
    return lines


def percentile(values: Iterable[int], share: float) -> int:
    """The smallest value that is at least as large as ``share`` of all."""
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def longest(lengths: dict[str, int]) -> str:
    """The longest file or function, and which it is."""
    name = max(lengths, key=lambda key: lengths[key])
    return f"{lengths[name]} ({name})"


def length_lines(counts: Counts) -> list[str]:
    """Lengths and docstrings: for people, held against nothing."""
    lines = []
    for title, lengths in (("file", counts.file_lengths), ("function", counts.function_lengths)):
        if lengths:
            median = statistics.median(lengths.values())
            high = percentile(lengths.values(), 0.9)
            lines.append(f"{title}: median {median:g}, 90 % {high}, longest {longest(lengths)}")
    documented = 100 * counts.documented / max(counts.public_functions, 1)
    lines.append(f"public functions with a docstring: {documented:.0f} %")
    return lines


def place_lines(counts: Counts, measured: dict[str, Figure]) -> Iterator[str]:
    """The places behind every figure that is out of range."""
    for name, figure in measured.items():
        if figure.within or not counts.places[name]:
            continue
        yield f"\n{figure.title}:"
        yield from (f"  {place}" for place in counts.places[name])


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="style.py", description="How the source reads.")
    parser.add_argument("folder", type=Path, nargs="?", default=Path("src"))
    parser.add_argument("--tests", type=Path, default=Path("tests"), help="the tests of FOLDER")
    parser.add_argument(
        "--check", action="store_true", help="exit code 1 if a held figure is out of range"
    )
    parser.add_argument(
        "--list", action="store_true", help="list the places of figures that are out of range"
    )
    options = parser.parse_args(arguments)
    if not options.folder.is_dir():
        parser.error(f"folder must be a folder; got {options.folder}.")
    counts = count_folder(options.folder, options.tests)
    measured = figures(counts)
    print("\n".join(figure_lines(measured.values())))
    print("\n".join(length_lines(counts)))
    if options.list:
        print("\n".join(place_lines(counts, measured)))
    outside = [figure for figure in measured.values() if figure.held and not figure.within]
    return int(options.check and bool(outside))


if __name__ == "__main__":
    sys.exit(main())
