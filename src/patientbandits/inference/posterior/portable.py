"""Arithmetic on arrays, to the same bits on every machine, interpreted and compiled.

NumPy's exponentials differ in the last bits between processors, and the order of a sum between
NumPy and compiled code. These functions use nothing but + - * / and square roots, which IEEE 754
fixes to the last bit, in a fixed order. Each is written twice: with NumPy's operations on whole
arrays, which run without a compiler, and, as its ``loops``, element by element, which the engine
compiles in its place. They write into arrays that they are given.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

LOWEST = -64.0
"""Below this an exponential counts as that of this: 1.6e-28."""

SQUARINGS = 10
TERMS = 7
ROOTS = 12
SCALE = 2.0 * 4096.0


def compiled_as(loops: Callable[..., Any]) -> Callable[[Callable[..., Any]], Any]:
    """The engine compiles ``loops`` in place of the function."""

    def mark(function: Any) -> Any:
        function.loops = loops
        return function

    return mark


def apart(function: Any) -> Any:
    """Compiled once, not into each kernel that calls it: for what is large and called rarely."""
    function.compile_standalone = True
    return function


def add_scaled_loops(total: Any, values: Any, factor: float) -> None:
    """As `add_scaled`."""
    for j in range(len(total)):
        total[j] += values[j] * factor


@compiled_as(add_scaled_loops)
def add_scaled(total: Any, values: Any, factor: float) -> None:
    """total += values * factor"""
    total += values * factor


def exponentials_loops(x: Any, largest: float, out: Any) -> None:
    """As `exponentials`."""
    for j in range(len(x)):
        y = max(x[j] - largest, LOWEST) * (1.0 / 1024.0)
        power = 1.0
        for term in range(TERMS, 0, -1):
            power = power * y * (1.0 / term) + 1.0
        for _ in range(SQUARINGS):
            power = power * power
        out[j] = power


@compiled_as(exponentials_loops)
def exponentials(x: Any, largest: float, out: Any) -> None:
    """out = e^y for y = x - largest <= 0, within 1e-9 of its value: e^y = (e^(y/1024))^1024.

    e^(y/1024) is its Taylor polynomial, of degree TERMS; then it is squared 10 times.
    """
    y = np.maximum(x - largest, LOWEST) * (1.0 / 1024.0)
    out[:] = 1.0
    for term in range(TERMS, 0, -1):
        out *= y
        out *= 1.0 / term
        out += 1.0
    for _ in range(SQUARINGS):
        out *= out


def logarithm(x: float) -> float:
    """log x for x > 0, within 1e-11: 4096 log(x^(1/4096)),
    and log y = 2 artanh((y - 1)/(y + 1)).
    """
    y = x
    for _ in range(ROOTS):
        y = math.sqrt(y)
    z = (y - 1.0) / (y + 1.0)
    square = z * z
    series = 1.0 / 11.0
    for odd in range(9, 0, -2):
        series = series * square + 1.0 / odd
    return z * series * SCALE


def logarithms_loops(x: Any, out: Any) -> None:
    """As `logarithms`."""
    for j in range(len(x)):
        out[j] = logarithm(x[j])


@compiled_as(logarithms_loops)
def logarithms(x: Any, out: Any) -> None:
    """out = log x, as `logarithm`."""
    y = np.sqrt(x)
    for _ in range(ROOTS - 1):
        np.sqrt(y, out=y)
    z = (y - 1.0) / (y + 1.0)
    square = z * z
    out[:] = 1.0 / 11.0
    for odd in range(9, 0, -2):
        out *= square
        out += 1.0 / odd
    out *= z
    out *= SCALE


def fold_loops(values: Any) -> float:
    """As `fold`."""
    left = len(values)
    while left > 1:
        half = (left + 1) // 2
        for j in range(left - half):
            values[j] += values[half + j]
        left = half
    return values[0]


@compiled_as(fold_loops)
def fold(values: Any) -> float:
    """The sum of ``values``, halving them again and again; they are overwritten."""
    left = len(values)
    while left > 1:
        half = (left + 1) // 2
        values[: left - half] += values[half:left]
        left = half
    return float(values[0])


def fold_copy_loops(values: Any, room: Any) -> float:
    """As `fold_copy`."""
    for j in range(len(values)):
        room[j] = values[j]
    return fold(room[: len(values)])


@compiled_as(fold_copy_loops)
def fold_copy(values: Any, room: Any) -> float:
    """The `fold` of ``values``, which stay; ``room`` is overwritten."""
    room[: len(values)] = values
    return fold(room[: len(values)])


def largest_loops(values: Any) -> float:
    """As `largest`."""
    found = values[0]
    for j in range(1, len(values)):
        found = max(found, values[j])
    return found


@compiled_as(largest_loops)
def largest(values: Any) -> float:
    """The largest of ``values``."""
    return float(values.max())


def row_sums_loops(table: Any, factors: Any, out: Any) -> None:
    """As `row_sums`."""
    for row in range(len(table)):
        total = 0.0
        for column in range(len(factors)):
            total += table[row, column] * factors[column]
        out[row] = total


@compiled_as(row_sums_loops)
def row_sums(table: Any, factors: Any, out: Any) -> None:
    """Of each row the sum over columns, one after the other, of table times factors."""
    out[:] = 0.0
    for products in (table * factors).T:
        out += products


def add_ratios_loops(values: Any, others: Any, factor: float, start: float) -> None:
    """As `add_ratios`."""
    for j in range(len(values)):
        values[j] = values[j] / others[j] * factor + start


@compiled_as(add_ratios_loops)
def add_ratios(values: Any, others: Any, factor: float, start: float) -> None:
    """values = values / others * factor + start"""
    values /= others
    values *= factor
    values += start


def column_sums_loops(table: Any, out: Any) -> None:
    """As `column_sums`."""
    for row in range(len(table)):
        for column in range(len(out)):
            out[column] += table[row, column]


@compiled_as(column_sums_loops)
def column_sums(table: Any, out: Any) -> None:
    """out += each row, one after the other."""
    out[:] = np.add.accumulate(np.vstack([out, table]))[-1]


def scale_table_loops(table: Any, rows: Any, columns: Any) -> None:
    """As `scale_table`."""
    for row in range(len(table)):
        for column in range(len(columns)):
            table[row, column] = table[row, column] * rows[row] * columns[column]


@compiled_as(scale_table_loops)
def scale_table(table: Any, rows: Any, columns: Any) -> None:
    """table *= a factor of the row, then one of the column"""
    table *= rows[:, None]
    table *= columns


def outer_sum_loops(table: Any, rows: Any, columns: Any) -> None:
    """As `outer_sum`."""
    for row in range(len(table)):
        for column in range(len(columns)):
            table[row, column] = rows[row] + columns[column]


@compiled_as(outer_sum_loops)
def outer_sum(table: Any, rows: Any, columns: Any) -> None:
    """table = a term of the row + one of the column"""
    table[:] = rows[:, None] + columns


def add_outer_loops(table: Any, rows: Any, columns: Any, factor: float) -> None:
    """As `add_outer`."""
    for row in range(len(table)):
        for column in range(len(columns)):
            table[row, column] += rows[row] + columns[column] * factor


@compiled_as(add_outer_loops)
def add_outer(table: Any, rows: Any, columns: Any, factor: float) -> None:
    """table += a term of the row + factor times one of the column"""
    table += rows[:, None] + columns * factor


def weighted_squares_loops(values: Any, later: Any, earlier: Any, room: Any) -> float:
    """As `weighted_squares`."""
    for j in range(len(values)):
        gap = later[j] - earlier[j]
        room[j] = values[j] * gap * gap
    return fold(room[: len(values)])


@compiled_as(weighted_squares_loops)
def weighted_squares(values: Any, later: Any, earlier: Any, room: Any) -> float:
    """The fold of values (later - earlier)^2; ``room`` is overwritten."""
    gap = later - earlier
    room[: len(values)] = values * gap * gap
    return fold(room[: len(values)])


def products_loops(values: Any, table: Any, starts: Any, room: Any, out: Any) -> None:
    """As `products`."""
    size = len(values)
    for place in range(len(starts)):
        for j in range(size):
            room[j] = values[j] * table[starts[place] + j]
        out[place] += fold(room[:size])


@compiled_as(products_loops)
def products(values: Any, table: Any, starts: Any, room: Any, out: Any) -> None:
    """Add to out, for each start, the fold of values times the stretch of ``table`` from there."""
    found = table[starts[:, None] + np.arange(len(values))] * values
    left = len(values)
    while left > 1:
        half = (left + 1) // 2
        found[:, : left - half] += found[:, half:left]
        left = half
    out += found[:, 0]
