"""Errors of the service, under the classes of the library or of the client alone."""

from __future__ import annotations

import importlib
import pickle
import sys

import pytest

import patientbandits.client
from patientbandits import live
from patientbandits.errors import InputError
from patientbandits.live import outcomes
from patientbandits_client import Client, errors, records
from patientbandits_client.errors import (
    ConflictError,
    MismatchError,
    NoAccessError,
    NotFoundError,
    RefusedError,
)

ARMS = ["control", "blue"]
LIBRARY_NAMES = {
    "RefusedError": live.RefusedError,
    "NotFoundError": live.NotFoundError,
    "ConflictError": live.ConflictError,
    "MismatchError": live.MismatchError,
    "UnavailableError": live.UnavailableError,
    "InputError": InputError,
}
RECORDS = ("Decision", "Conversion", "Credited", "Retraction", "Exposed", "Evaluated", "Joined")


@pytest.fixture
def alone(monkeypatch):
    """alone(module): the module as it is where the library is not installed."""
    monkeypatch.setitem(sys.modules, "patientbandits.live", None)

    def load(module):
        spec = importlib.util.spec_from_file_location("alone", module.__file__)
        copy = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(copy)
        return copy

    return load


def test_with_the_library_the_classes_are_its_own():
    for name, library in LIBRARY_NAMES.items():
        assert getattr(errors, name) is library, name
    for name in RECORDS:
        assert getattr(records, name) is getattr(outcomes, name), name
    assert issubclass(errors.ServiceUnavailable, live.UnavailableError)
    assert issubclass(errors.NoAccessError, live.RefusedError)


def test_without_it_they_say_the_same(alone):
    for name, library in LIBRARY_NAMES.items():
        own = getattr(alone(errors), name)
        assert own is not library
        for field in ("status", "kind"):
            assert getattr(own, field, None) == getattr(library, field, None), name
        ancestors = [one.__name__ for one in library.__mro__]
        assert [one.__name__ for one in own.__mro__] == ancestors
    for name in RECORDS:
        own = getattr(alone(records), name)
        library = getattr(outcomes, name)
        assert own is not library
        assert own._fields == library._fields
        assert own._field_defaults == library._field_defaults


def test_fields_of_a_newer_service_are_dropped():
    read = records.reader(records.Decision)
    assert read({"id": "d", "arm": "blue", "weather": "rain"}) == records.Decision("d", "blue")


def test_what_was_answered_and_raised_can_be_pickled():
    for one in (records.Decision("d", "blue"), records.Joined(True)):
        assert pickle.loads(pickle.dumps(one)) == one
    assert pickle.loads(pickle.dumps(patientbandits.client.Client)) is Client
    error = pickle.loads(pickle.dumps(errors.ServiceUnavailable("gone")))
    assert isinstance(error, live.UnavailableError)


@pytest.mark.slow
def test_errors(running, shop):
    shop.experiment("errors", ARMS)
    button = shop.open("errors")
    with pytest.raises(NotFoundError, match="no experiment has this name"):
        shop.open("none").decide()
    with pytest.raises(ConflictError):
        shop.experiment("errors", ["other", "arms"])
    with pytest.raises(RefusedError, match="value"):
        button.convert(button.decide().id, value=7)
    button.convert(unit="w", order="A", value=1)
    with pytest.raises(MismatchError):
        button.convert(unit="w", order="A", value=0.5)
    with Client(running.url, "pb_d_wrong") as other, pytest.raises(NoAccessError):
        other.open("errors").decide()
    with pytest.raises(InputError, match="client: url"):
        Client("localhost")
