"""How the source reads, in figures, beside those of eight well-read packages of this field.

    python tools/style.py [--check] [--names] [FOLDER]      FOLDER is src if none is given

Shares and rates are taken over lines that are not blank. A comprehension is nested if another
one stands inside it or if it runs over more than one ``for``. A public name is one that a
module defines at its top level (function, class, variable) and that does not begin with an
underscore; a name defined by several modules has several meanings. ``--names`` lists every name
that several modules define, and where.

``--check`` ends with exit code 1 if a figure that is held is out of range. All are held but plain
comprehensions: most here turn a list of arms, rows or curves into another in one thought, and as
loops they would read worse. What makes one hard to read, another inside it, is held.
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
from io import StringIO
from pathlib import Path

LONGEST_LINE = 100

Function = ast.FunctionDef | ast.AsyncFunctionDef
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


@dataclass
class Counts:
    """What is counted, over all files."""

    lines: int = 0
    long_lines: int = 0
    conditionals: int = 0
    comprehensions: int = 0
    nested: int = 0
    assignments: int = 0
    tuple_assignments: int = 0
    skips: int = 0
    public_functions: int = 0
    documented: int = 0
    file_lengths: dict[str, int] = field(default_factory=dict)
    function_lengths: dict[str, int] = field(default_factory=dict)
    homes: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """The modules that define each public name."""


@dataclass(frozen=True)
class Figure:
    """A measured number and the range of the eight packages."""

    what: str
    value: float
    low: float
    high: float
    unit: str = ""
    held: bool = True
    """Whether ``--check`` fails when it is out of range."""

    @property
    def within(self) -> bool:
        """Whether it is no worse than the worst of the eight; reading better is no fault."""
        return self.value <= self.high


def is_nested(node: Comprehension) -> bool:
    """Whether a comprehension has more than one ``for``, its own or that of one inside it."""
    inside = (child for child in ast.walk(node) if child is not node)
    return len(node.generators) > 1 or any(isinstance(child, Comprehension) for child in inside)


def is_tuple_assignment(node: ast.Assign) -> bool:
    """Whether it has the form ``a, b = x, y``."""
    return isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple)


def format_skips(source: str) -> int:
    """Comments that tell the formatter to leave a line as it is."""
    tokens = tokenize.generate_tokens(StringIO(source).readline)
    return sum(token.type == tokenize.COMMENT and "fmt: skip" in token.string for token in tokens)


def public_names(module: ast.Module) -> set[str]:
    """The names that a module defines at its top level."""
    names: set[str] = set()
    for statement in module.body:
        if isinstance(statement, Function | ast.ClassDef):
            names.add(statement.name)
        elif isinstance(statement, ast.Assign):
            for target in statement.targets:
                names.update(plain_names(target))
        elif isinstance(statement, ast.AnnAssign):
            names.update(plain_names(statement.target))
    return {name for name in names if not name.startswith("_")}


def plain_names(target: ast.expr) -> Iterator[str]:
    """The variables of an assignment's left side; ``table[key]`` and ``thing.part`` are none."""
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Tuple | ast.List):
        for part in target.elts:
            yield from plain_names(part)


def count_function(counts: Counts, node: Function, module: str) -> None:
    """Its length, and whether it is documented."""
    end = node.end_lineno or node.lineno
    counts.function_lengths[f"{module}:{node.lineno} {node.name}"] = end - node.lineno + 1
    if not node.name.startswith("_"):
        counts.public_functions += 1
        counts.documented += ast.get_docstring(node) is not None


def count_module(counts: Counts, name: str, source: str) -> None:
    """Add one file."""
    lines = source.splitlines()
    counts.file_lengths[name] = len(lines)
    counts.lines += sum(bool(line.strip()) for line in lines)
    counts.long_lines += sum(len(line) > LONGEST_LINE for line in lines)
    counts.skips += format_skips(source)
    module = ast.parse(source, name)
    for public in sorted(public_names(module)):
        counts.homes[public].append(name)
    for node in ast.walk(module):
        if isinstance(node, ast.IfExp):
            counts.conditionals += 1
        elif isinstance(node, Comprehension):
            counts.comprehensions += 1
            counts.nested += is_nested(node)
        elif isinstance(node, ast.Assign):
            counts.assignments += 1
            counts.tuple_assignments += is_tuple_assignment(node)
        elif isinstance(node, Function):
            count_function(counts, node, name)


def count_folder(folder: Path) -> Counts:
    """All Python files below a folder."""
    counts = Counts()
    for path in sorted(folder.rglob("*.py")):
        count_module(counts, path.relative_to(folder).as_posix(), path.read_text("utf-8"))
    return counts


def names_defined_twice(counts: Counts) -> dict[str, list[str]]:
    """Public names that several modules define, and these modules."""
    return {name: homes for name, homes in sorted(counts.homes.items()) if len(homes) > 1}


def figures(counts: Counts) -> list[Figure]:
    """What is held against the eight packages."""
    thousands = max(counts.lines, 1) / 1000
    tuples = 100 * counts.tuple_assignments / max(counts.assignments, 1)
    long_lines = 100 * counts.long_lines / max(counts.lines, 1)
    return [
        Figure("conditional expressions per 1000 lines", counts.conditionals / thousands, 0, 7.5),
        Figure(
            "comprehensions per 1000 lines", counts.comprehensions / thousands, 1, 17, held=False
        ),
        Figure("nested comprehensions per 1000 lines", counts.nested / thousands, 0, 0.7),
        Figure("assignments that are a, b = x, y", tuples, 0, 3.8, " %"),
        Figure(f"lines over {LONGEST_LINE} characters", long_lines, 0, 7.4, " %"),
        Figure("fmt: skip, in all", counts.skips, 0, 0),
    ]


def verdict(figure: Figure) -> str:
    if figure.within:
        return ""
    if not figure.held:
        return "  out of range, not held"
    return "  out of range"


def figure_lines(found: Sequence[Figure]) -> list[str]:
    """The table of the figures."""
    lines = [f"{'':42}{'here':>8}   the eight"]
    for figure in found:
        measured = f"{figure.value:.1f}{figure.unit}"
        span = f"{figure.low:g}-{figure.high:g}{figure.unit}"
        lines.append(f"{figure.what:42}{measured:>8}   {span:10}{verdict(figure)}".rstrip())
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
    files = counts.file_lengths
    functions = counts.function_lengths
    lines = []
    if files:
        median = statistics.median(files.values())
        lines.append(f"file: median {median:g}, longest {longest(files)}")
    if functions:
        median = statistics.median(functions.values())
        high = percentile(functions.values(), 0.9)
        lines.append(f"function: median {median:g}, 90 % {high}, longest {longest(functions)}")
    documented = 100 * counts.documented / max(counts.public_functions, 1)
    lines.append(f"public functions with a docstring: {documented:.0f} %")
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="style.py", description="How the source reads.")
    parser.add_argument("folder", type=Path, nargs="?", default=Path("src"))
    parser.add_argument(
        "--check", action="store_true", help="exit code 1 if a held figure is out of range"
    )
    parser.add_argument(
        "--names", action="store_true", help="list the names defined in several modules"
    )
    options = parser.parse_args(arguments)
    if not options.folder.is_dir():
        parser.error(f"folder must be a folder; got {options.folder}.")
    counts = count_folder(options.folder)
    found = figures(counts)
    twice = names_defined_twice(counts)
    print("\n".join(figure_lines(found)))
    print("\n".join(length_lines(counts)))
    print(f"public names defined in several modules: {len(twice)}")
    if options.names:
        for name, homes in twice.items():
            print(f"  {name:24} {', '.join(homes)}")
    outside = [figure for figure in found if figure.held and not figure.within]
    return int(options.check and bool(outside))


if __name__ == "__main__":
    sys.exit(main())
