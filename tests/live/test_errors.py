"""Errors: a status and a short name for each; old names still work, and say the new one."""

from __future__ import annotations

import logging

import pytest

from patientbandits import live
from patientbandits.errors import InputError
from patientbandits.live import errors


def test_statuses_and_kinds() -> None:
    assert {
        error.__name__: (error.status, error.kind)
        for error in (
            errors.RefusedError,
            errors.NotFoundError,
            errors.ConflictError,
            errors.MismatchError,
            errors.UnavailableError,
        )
    } == {
        "RefusedError": (422, "invalid"),
        "NotFoundError": (404, "unknown"),
        "ConflictError": (409, "conflict"),
        "MismatchError": (422, "different"),
        "UnavailableError": (503, "unavailable"),
    }
    assert issubclass(errors.RefusedError, InputError)
    assert not issubclass(errors.UnavailableError, InputError)


@pytest.mark.parametrize("module", [live, errors])
@pytest.mark.parametrize(
    ("old", "new"), [("UnknownError", "NotFoundError"), ("DifferentError", "MismatchError")]
)
def test_old_names_warn(module: object, old: str, new: str) -> None:
    with pytest.warns(DeprecationWarning, match=f"^{old} is now {new}$"):
        assert getattr(module, old) is getattr(errors, new)
    assert old not in dir(live)


def test_a_name_that_never_was() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        _ = errors.Nothing


def test_the_log_goes_nowhere_unless_a_program_sets_it_up() -> None:
    assert errors.LOGGER.name == "patientbandits.live"
    assert any(isinstance(handler, logging.NullHandler) for handler in errors.LOGGER.handlers)
