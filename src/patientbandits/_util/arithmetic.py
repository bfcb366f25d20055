"""Arithmetic that gives the same bits on every Python."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import add


def plain_sum(terms: Iterable[float]) -> float:
    """((0 + x_1) + x_2) + ... + x_n, rounded after every addition.

    The built-in `sum` of floats does the same up to Python 3.11; from 3.12 on it corrects its
    rounding, and the last bits would depend on the Python.
    """
    return reduce(add, terms, 0.0)
