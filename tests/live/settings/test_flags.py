"""Flags: arms as booleans, numbers or objects, if all of an experiment's arms are."""

from __future__ import annotations

from typing import Any

import pytest

from patientbandits.live.settings import flag_value


@pytest.mark.parametrize(
    ("arms", "values"),
    [
        (["true", "false"], [True, False]),
        (["1", "2"], [1, 2]),
        (["1", "2.5"], [1.0, 2.5]),
        (['{"a": 1}', "{}"], [{"a": 1}, {}]),
        (["true", "1"], ["true", "1"]),  # of two types
        (["true", "maybe"], ["true", "maybe"]),
        (['"a"', '"b"'], ['"a"', '"b"']),  # text stays as it is written
        (["[1]", "[2]"], ["[1]", "[2]"]),
        (["null", "null "], ["null", "null "]),
        (["[" * 10_000, "1"], ["[" * 10_000, "1"]),
        (["\ud800", "1"], ["\ud800", "1"]),
    ],
    ids=range(11),
)
def test_values(arms: list[str], values: list[Any]) -> None:
    read = [flag_value(arm, arms) for arm in arms]
    assert read == values
    assert list(map(type, read)) == list(map(type, values))
