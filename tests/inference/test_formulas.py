"""Formulas in index notation: both forms are what they say, and give the same bits."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from patientbandits.inference.elementary import exponential, logarithm, normal_below
from patientbandits.inference.formulas import fold, formula
from patientbandits.inference.posterior import cells, pooling
from patientbandits.policies.parts import best_arm
from patientbandits.simulation.engine.compile import compiled

ROWS, COLUMNS, ROOM = 50, 20, 64
SIZE = 12


def arguments():
    """New ones, always the same."""
    random = np.random.default_rng(3)
    return {
        "table": random.random((ROWS, COLUMNS)),
        "rows": random.random(ROWS),
        "others": random.random(ROWS) + 0.5,
        "columns": random.random(COLUMNS),
        "three": random.random(3),
        "starts": np.array([3, 200, 77]),
        "long": random.random(500),
        "factor": 0.3,
        "room": np.empty(ROOM),
    }


def plain_fold(values):
    """By the definition: the second half is added to the first, until one is left."""
    values = list(values)
    while len(values) > 1:
        half = (len(values) + 1) // 2
        values = [a + b for a, b in zip(values[:half], [*values[half:], 0.0], strict=False)]
    return values[0]


def in_order(values, start=0.0):
    for value in values:
        start += value
    return start


EXPECTED = {
    "rows[i] += others[i] * factor": lambda a: a["rows"] + a["others"] * a["factor"],
    "rows[i] -= others[i]": lambda a: a["rows"] - a["others"],
    "rows[i] = factor": lambda a: np.full(ROWS, a["factor"]),
    "table[i, k] += rows[i] + factor * columns[k]": lambda a: (
        a["table"] + (a["rows"][:, None] + a["factor"] * a["columns"])
    ),
    "table[i, k] = table[i, k] * rows[i] * columns[k]": lambda a: (
        a["table"] * a["rows"][:, None] * a["columns"]
    ),
    "rows[i] = total[k](table[i, k] * columns[k])": lambda a: np.array(
        [in_order(row * a["columns"]) for row in a["table"]]
    ),
    "columns[k] = total[i](table[i, k] * rows[i])": lambda a: np.array(
        [in_order(a["table"][:, k] * a["rows"]) for k in range(COLUMNS)]
    ),
    "columns[k] += total[i](table[i, k])": lambda a: np.array(
        [in_order(a["table"][:, k], a["columns"][k]) for k in range(COLUMNS)]
    ),
    "three[b] += fold[i](rows[i] * long[starts[b] + i])": lambda a: np.array(
        [
            a["three"][b] + plain_fold(a["rows"] * a["long"][start : start + ROWS])
            for b, start in enumerate(a["starts"])
        ]
    ),
    "rows[i] = long[max(3 * i - starts[0], 0)]": lambda a: np.array(
        [a["long"][max(3 * i - 3, 0)] for i in range(ROWS)]
    ),
    "fold[i](rows[i])": lambda a: plain_fold(a["rows"]),
    "fold[i](rows[i] * (others[i] - rows[i]) * (others[i] - rows[i]))": lambda a: plain_fold(
        a["rows"] * (a["others"] - a["rows"]) * (a["others"] - a["rows"])
    ),
    "product[i](0.9 + 0.01 * rows[i])": lambda a: math.prod((0.9 + 0.01 * a["rows"]).tolist()),
    "largest[i](rows[i] - others[i])": lambda a: max((a["rows"] - a["others"]).tolist()),
}


def outcome(function, names):
    """What is returned, and the bytes of the array on the left."""
    chosen = [arguments()[name] for name in names]
    answer = function(*chosen)
    return answer, chosen


@pytest.mark.parametrize("text", EXPECTED)
def test_is_what_it_says_in_every_form(text):
    function = formula(text)
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    expected = EXPECTED[text](arguments())
    for form in (function, function.loops, compiled(function)):
        answer, chosen = outcome(form, names)
        got = answer if answer is not None else chosen[0]
        assert np.asarray(got).tobytes() == np.asarray(expected).tobytes()
        for name, array in zip(names[answer is None :], chosen[answer is None :], strict=True):
            if name != "room":
                assert np.array_equal(array, arguments()[name])


def test_the_folded_sum_is_the_sum():
    for size in (1, 2, 7, 100, 101):
        values = np.random.default_rng(size).random(size)
        assert fold(values.copy()) == pytest.approx(values.sum(), rel=1e-14)
        assert formula("fold[i](x[i])")(values, np.empty(size)) == fold(values.copy())
        assert math.fsum(values) == pytest.approx(fold(values.copy()), rel=1e-14)


def test_functions_and_constants_are_no_arguments():
    function = formula(
        "y[i] = logarithm(exponential(x[i] * scale)) + below(x[i])",
        logarithm=logarithm,
        exponential=exponential,
        below=normal_below,
        scale=0.5,
    )
    x = -np.random.default_rng(1).random(30)
    results = []
    for form in (function, function.loops, compiled(function)):
        y = np.empty(30)
        form(y, x)
        results.append(y.tobytes())
    assert len(set(results)) == 1
    assert np.frombuffer(results[0]) == pytest.approx(
        0.5 * x + [normal_below(number) for number in x.tolist()]
    )


FORMULAS = {
    f"{module.__name__}.{name}": value
    for module in (cells, pooling, best_arm)
    for name, value in vars(module).items()
    if hasattr(value, "loops")
}


@pytest.mark.parametrize("name", FORMULAS)
def test_the_models_formulas_give_the_same_bits(name):
    """Whole arrays, loops interpreted, loops compiled; the room of a fold, the last, may differ."""
    function = FORMULAS[name]
    text = function.__doc__
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    results = []
    for form in (function, function.loops, compiled(function)):
        random = np.random.default_rng(5)
        chosen = [example(argument, text, random) for argument in names]
        answer = form(*chosen)
        kept = chosen[:-1] if names[-1] == "room" else chosen
        results.append((answer, [np.asarray(x).tobytes() for x in kept]))
    assert results[0] == results[1] == results[2]


def example(argument, text, random):
    """A number, or an array with as many axes as the argument has indices in the text."""
    if argument in ("first", "step", "oldest"):
        return 1
    if argument in ("starts", "points"):
        return np.arange(SIZE)
    if argument == "room":
        return np.empty(SIZE)
    indices = re.findall(rf"\b{argument}\[([^\]]*)", text)
    if not indices:
        return 0.7
    if argument in ("shares", "fall", "log_fall"):  # looked up at a computed place
        return 0.1 + random.random(3 * SIZE)
    return 0.1 + random.random((SIZE,) * (indices[0].count(",") + 1))
