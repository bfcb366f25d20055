"""Formulas on arrays, written once in index notation, with the same bits interpreted and compiled.

    add_rates = formula("cells[law, level] += weight[law] + count * log_mu[level]")
    add_rates(cells, weight, count, log_mu)

A formula is an assignment, or a reduction whose value is returned. It becomes a function of the
names in it, in the order in which they appear, with two bodies: operations on whole arrays, which
NumPy carries out without a compiler, and as its ``loops``, element by element, what the engine
compiles in its place. A reduction over an index k is the whole right side, and one of

    total[k](...)     the terms added in the order of k; with ``+=``, to what is there
    fold[k](...)      the terms added in halves: k to k + n/2, then k to k + n/4, ...
    largest[k](...)   the largest term
    product[k](...)   the terms multiplied in the order of k

A function that folds needs room for the terms, an array that comes last and is overwritten.

The bits agree because nothing is used but + - * / and square roots, which IEEE 754 fixes to the
last bit, in an order that the formula fixes. NumPy's own sums and exponentials differ from compiled
code, and between processors: `patientbandits.inference.elementary` has those that do not.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits._util.codegen import define
from patientbandits.inference.elementary import ON_ARRAYS, on_arrays

Array = NDArray[np.float64]

BUILT_IN = {"max", "min"}


def formula(text: str, **names: Any) -> Callable[..., Any]:
    """Return the function that ``text`` describes.

    names   functions and constants in it; every other name is an argument
    """
    parsed = parse(text, names)
    arguments = [*parsed.arguments, *(["room"] if parsed.reduction == "fold" else [])]
    head = f"def formula({', '.join(arguments)}):\n    "
    arrays = {name: on_arrays(value) for name, value in names.items()}
    function: Any = define(
        "formula", head + "\n    ".join(array_lines(parsed)), **ON_ARRAYS, **arrays, **HELPERS
    )
    loops = head + "\n    ".join(loop_lines(parsed))
    function.loops = define("formula", loops, fold=fold, infinity=np.inf, **names)
    function.__doc__ = text
    return function


class Parsed(NamedTuple):
    """A formula taken apart."""

    target: str
    """the left side, or empty"""
    operator: str
    reduction: str
    """its name, or empty"""
    terms: ast.expr
    """the right side, or what is reduced"""
    axes: list[str]
    """the indices, from the outermost loop to the innermost"""
    reduced: str
    """the index of the reduction"""
    sizes: dict[str, str]
    """index: the length that it runs over"""
    arguments: list[str]


def parse(text: str, names: Any) -> Parsed:
    """Take a formula apart."""
    left, operator, right = split(text)
    terms = ast.parse(right, mode="eval").body
    reduction = reduced = ""
    if isinstance(terms, ast.Call) and isinstance(terms.func, ast.Subscript):
        reduction = ast.unparse(terms.func.value)
        reduced = ast.unparse(terms.func.slice)
        terms = terms.args[0]
    parts = [terms]
    axes: list[str] = []
    if left:
        target = ast.parse(left, mode="eval").body
        assert isinstance(target, ast.Subscript), text
        parts = [target, terms]
        axes = [ast.unparse(index) for index in indices_of(target)]
    if reduced and reduction == "total" and operator == "+=":
        axes = [reduced, *axes]  # whole rows are added, which lie side by side in memory
    elif reduced:
        axes = [*axes, reduced]
    sizes: dict[str, str] = {}
    for node in subscripts(parts):
        for axis, index in enumerate(indices_of(node)):
            if isinstance(index, ast.Name):
                sizes.setdefault(index.id, f"{ast.unparse(node.value)}.shape[{axis}]")
    inside = [node.id for part in parts for node in nodes_in_order(part, ast.Name)]
    own = BUILT_IN | set(axes) | set(names)
    arguments = [name for name in dict.fromkeys(inside) if name not in own]
    return Parsed(left, operator, reduction, terms, axes, reduced, sizes, arguments)


def split(text: str) -> tuple[str, str, str]:
    """The left side, the operator and the right side; the first two are empty without ``=``."""
    for operator in ("+=", "-=", "="):
        left, middle, right = text.partition(f" {operator} ")
        if middle:
            return left, operator, right
    return "", "", text


def indices_of(node: ast.Subscript) -> Sequence[ast.expr]:
    """The indices between the brackets."""
    return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]


def nodes_in_order(tree: ast.AST, kind: Any) -> Iterator[Any]:
    """The nodes of this kind, in the order of the text."""
    if isinstance(tree, kind):
        yield tree
    for child in ast.iter_child_nodes(tree):
        yield from nodes_in_order(child, kind)


def subscripts(parts: Sequence[ast.AST]) -> Iterator[ast.Subscript]:
    """The subscripts of all parts."""
    for part in parts:
        yield from nodes_in_order(part, ast.Subscript)


def loop_lines(parsed: Parsed) -> list[str]:
    """The formula element by element."""
    terms = ast.unparse(parsed.terms)
    loops = [f"for {index} in range({parsed.sizes[index]}):" for index in parsed.axes]
    by_element = [f"{parsed.target} {parsed.operator} {terms}"]
    if not parsed.reduction or parsed.axes[0] == parsed.reduced != parsed.axes[-1]:
        return nested(loops, by_element)
    if parsed.reduction == "fold":
        size = parsed.sizes[parsed.reduced]
        inner = nested(loops[-1:], [f"room[{parsed.reduced}] = {terms}"])
        inner.append(f"value = fold(room[:{size}])")
    elif parsed.reduction == "largest":
        inner = ["value = -infinity", *nested(loops[-1:], [f"value = max(value, {terms})"])]
    elif parsed.reduction == "product":
        inner = ["value = 1.0", *nested(loops[-1:], [f"value *= {terms}"])]
    else:
        inner = ["value = 0.0", *nested(loops[-1:], [f"value += {terms}"])]
    outcome = f"{parsed.target} {parsed.operator} value" if parsed.target else "return value"
    return nested(loops[:-1], [*inner, outcome])


def nested(loops: Sequence[str], body: Sequence[str]) -> list[str]:
    """The body within the loops."""
    lines = [" " * 4 * depth + loop for depth, loop in enumerate(loops)]
    return lines + [" " * 4 * len(loops) + line for line in body]


def array_lines(parsed: Parsed) -> list[str]:
    """The formula on whole arrays: each index is an axis."""
    terms = ast.unparse(Broadcast(parsed).visit(ast.parse(ast.unparse(parsed.terms), mode="eval")))
    whole = parsed.target.partition("[")[0] + "[...]"
    if not parsed.reduction:
        return [f"{whole} {parsed.operator} {terms}"]
    if parsed.axes[0] == parsed.reduced != parsed.axes[-1]:
        return [f"{whole} = add_rows({whole}, {terms})"]
    value = f"{parsed.reduction}_of({terms})"
    return [f"{whole} {parsed.operator} {value}" if parsed.target else f"return float({value})"]


class Broadcast(ast.NodeTransformer):
    """Replaces ``name[i, j]`` by an array whose axes are those of the formula."""

    def __init__(self, parsed: Parsed) -> None:
        self.axes = parsed.axes
        self.sizes = parsed.sizes

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        indices = [ast.unparse(index) for index in indices_of(node)]
        if not set(indices) <= set(self.axes):  # computed, as in table[start[i] + j]
            self.generic_visit(node)
            return node
        return self.spread(node.value, indices)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id not in self.axes:
            return node
        return self.spread(ast.parse(f"arange({self.sizes[node.id]})", mode="eval").body, [node.id])

    def spread(self, array: ast.expr, indices: list[str]) -> ast.expr:
        """``array``, with an axis of length 1 for each index that it does not have."""
        text = ast.unparse(array)
        in_order = sorted(indices, key=self.axes.index)
        if in_order != indices:
            assert in_order == indices[::-1], text
            text += ".T"
        axes = [":" if index in indices else "None" for index in self.axes]
        while axes[0] == "None":  # NumPy adds leading axes by itself
            axes.pop(0)
        if "None" in axes:
            text += f"[{', '.join(axes)}]"
        return ast.parse(text, mode="eval").body


def fold(values: Any) -> float:
    """The sum of ``values``, halving them again and again; they are overwritten."""
    left = len(values)
    while left > 1:
        half = (left + 1) // 2
        for j in range(left - half):
            values[j] += values[half + j]
        left = half
    return values[0]


def fold_of(terms: Array) -> Any:
    """`fold` along the last axis."""
    terms = terms.copy()
    left = terms.shape[-1]
    while left > 1:
        half = (left + 1) // 2
        terms[..., : left - half] += terms[..., half:left]
        left = half
    return terms[..., 0]


def total_of(terms: Array) -> Any:
    """The sums along the last axis, term by term; `numpy.sum` adds in another order."""
    return np.add.accumulate(terms, axis=-1)[..., -1]


def product_of(terms: Array) -> Any:
    """The products along the last axis, term by term."""
    return np.multiply.accumulate(terms, axis=-1)[..., -1]


def largest_of(terms: Array) -> Any:
    """The largest along the last axis."""
    return terms.max(axis=-1)


def add_rows(start: Array, rows: Array) -> Array:
    """``start`` plus each row, one after the other."""
    return np.add.accumulate(np.vstack([start, rows]))[-1]


HELPERS = {
    "fold_of": fold_of,
    "total_of": total_of,
    "largest_of": largest_of,
    "product_of": product_of,
    "add_rows": add_rows,
    "arange": np.arange,
}
