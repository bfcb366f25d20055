"""Settings as users write them, and what is refused in words that name the setting."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

import patientbandits as pb
from patientbandits.live.errors import RefusedError
from patientbandits.live.settings import (
    changed_settings,
    default_policy,
    new_settings,
    one_largest_value,
    settings_text,
    stored_settings,
)


@pytest.mark.parametrize("window", ["12h", "720min", 43200, 43200.0, timedelta(hours=12)])
def test_lengths_in_all_their_forms(window: Any) -> None:
    settings = new_settings(["a", "b"], window=window, retention=window)
    assert settings.window == settings.retention == 43200.0
    assert settings.window_text == "12h"


@pytest.mark.parametrize(
    "policy", [None, "CalendarThompson", {"policy": "CalendarThompson"}, pb.CalendarThompson()]
)
def test_the_default_policy_in_all_its_forms(policy: Any) -> None:
    settings = new_settings(["a", "b"], policy)
    assert settings.description == default_policy().describe()
    assert stored_settings(settings_text(settings)) == settings


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"window": "soon"}, "window must be a length of time"),
        ({"window": True}, "window must be a length of time"),
        ({"retention": "1d", "window": "2d"}, "retention must be seconds, at least the window"),
        ({"policy": 7}, "policy must be a policy, its name or its description"),
        ({"scale": "1"}, "the largest value must be a finite number"),
        ({"scale": True}, "the largest value must be a finite number"),
        ({"goals": "buy"}, "goals must be a list of names"),
        ({"shares": 0.1}, "shares must be named numbers"),
        ({"shares": {"least": 0.1}}, "shares: "),
        ({"colour": "red"}, "unknown settings"),
        ({"control": "c"}, "control must be one of the arms"),
        ({"currency": "\n"}, "currency must be 1 to 200 printable characters"),
    ],
)
def test_what_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(RefusedError, match=rf"^experiment: {words}"):
        new_settings(["a", "b"], **options)


def test_two_names_of_the_largest_value() -> None:
    assert one_largest_value(None, 5.0) == one_largest_value(5.0, None) == 5.0
    assert one_largest_value(5.0, 5.0) == 5.0
    with pytest.raises(RefusedError, match="must agree"):
        one_largest_value(5.0, 6.0)


def test_arms_can_be_added_but_keep_their_places() -> None:
    settings = new_settings(["a", "b"])
    assert changed_settings(settings, arms=("a", "b", "c")).active == (0, 1, 2)
    assert changed_settings(settings, retired=("a",)).active == (1,)
