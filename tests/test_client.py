"""The client by the names of the library."""

from __future__ import annotations

from importlib.metadata import requires

import pytest
from packaging.requirements import Requirement

import patientbandits.client
import patientbandits_client


def test_the_classes_are_those_of_the_client():
    for name in patientbandits.client.__all__:
        assert getattr(patientbandits.client, name) is getattr(patientbandits_client, name)


def test_an_older_name_warns():
    with pytest.warns(DeprecationWarning, match="now ServiceUnavailable"):
        old = patientbandits.client.AwayError
    assert old is patientbandits_client.ServiceUnavailable
    with pytest.raises(AttributeError, match="no attribute 'Nobody'"):
        _ = patientbandits.client.Nobody


@pytest.mark.parametrize("extra", ["client", "openfeature"])
def test_the_extra_asks_for_the_client_that_is_here(extra: str):
    lines = [Requirement(line) for line in requires("patientbandits") or ()]
    (one,) = [line for line in lines if line.marker and line.marker.evaluate({"extra": extra})]
    assert one.name == "patientbandits-client"
    assert patientbandits_client.__version__ in one.specifier
