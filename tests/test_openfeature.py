"""The provider by the name of the library."""

from __future__ import annotations

import patientbandits.openfeature
import patientbandits_client.openfeature


def test_the_class_is_that_of_the_client():
    assert patientbandits.openfeature.Provider is patientbandits_client.openfeature.Provider
