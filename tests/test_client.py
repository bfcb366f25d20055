"""The client and the provider by the names of the library."""

from __future__ import annotations

import pytest

import patientbandits.client
import patientbandits.openfeature
import patientbandits_client
import patientbandits_client.openfeature


def test_the_classes_are_those_of_the_client():
    for name in patientbandits.client.__all__:
        assert getattr(patientbandits.client, name) is getattr(patientbandits_client, name)
    provider = patientbandits_client.openfeature.Provider
    assert patientbandits.openfeature.Provider is provider


def test_an_older_name_warns():
    with pytest.warns(DeprecationWarning, match="now ServiceUnavailable"):
        old = patientbandits.client.AwayError
    assert old is patientbandits_client.ServiceUnavailable
    with pytest.raises(AttributeError, match="no attribute 'Nobody'"):
        _ = patientbandits.client.Nobody
