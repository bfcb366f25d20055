"""The provider for OpenFeature's Python SDK, with tracking: over HTTP, and in one process."""

from __future__ import annotations

import logging

import pytest
from openfeature import api
from openfeature.evaluation_context import EvaluationContext
from openfeature.exception import ErrorCode
from openfeature.flag_evaluation import Reason
from openfeature.track import TrackingEventDetails
from service import Running

from patientbandits import live
from patientbandits_client import Client
from patientbandits_client.openfeature import Provider

pytestmark = pytest.mark.slow

VISITOR = EvaluationContext("visitor-42", {"country": "CH"})


@pytest.fixture(params=["server", "library"])
def shop(request, tmp_path):
    if request.param == "library":
        with live.open(str(tmp_path / "shop.db")) as opened:
            yield opened
        return
    with Running(tmp_path / "shop.db") as server, Client(server.url, server.key) as client:
        yield client


@pytest.fixture
def client(shop):
    shop.experiment("checkout", ["control", "blue"], largest_value=100, goals=["purchase", "cart"])
    shop.experiment("banner", ["false", "true"])
    shop.experiment("price", ["9.5", "12"])
    shop.experiment("size", ["1", "2"])
    shop.experiment("theme", ['{"dark": true}', '{"dark": false}'])
    api.set_provider(Provider(shop), "provider")
    yield api.get_client("provider")
    api.clear_providers()


def test_flags(shop, client):
    found = client.get_string_details("checkout", "default", VISITOR)
    assert (found.error_code, found.reason) == (None, Reason.SPLIT)
    assert found.value == found.variant
    assert found.flag_metadata["decision"]
    assert 0 < found.flag_metadata["propensity"] <= 1
    assert shop.open("checkout").decide("visitor-42").id == found.flag_metadata["decision"]
    assert client.get_boolean_details("banner", False, VISITOR).error_code is None
    assert client.get_float_value("price", -1.0, VISITOR) in (9.5, 12)
    assert client.get_integer_value("size", -1, VISITOR) in (1, 2)
    assert client.get_object_value("theme", {}, VISITOR)["dark"] in (True, False)


def test_what_goes_wrong(shop, client):
    def code(details):
        assert details.value == "default"
        return details.error_code

    assert code(client.get_string_details("none", "default", VISITOR)) == ErrorCode.FLAG_NOT_FOUND
    nobody = client.get_string_details("checkout", "default")
    assert code(nobody) == ErrorCode.TARGETING_KEY_MISSING
    wrong = client.get_string_details("banner", "default", VISITOR)
    assert code(wrong) == ErrorCode.TYPE_MISMATCH
    unprintable = client.get_string_details("checkout", "default", EvaluationContext("\0"))
    assert code(unprintable) == ErrorCode.INVALID_CONTEXT
    shop.open("checkout").change(paused=True)
    paused = client.get_string_details("checkout", "default", VISITOR)
    assert (code(paused), paused.reason) == (None, Reason.DISABLED)


def test_tracking(shop, client, caplog):
    client.get_string_value("checkout", "default", VISITOR)
    order = TrackingEventDetails(60.0, {"order": "A-1"})
    client.track("purchase", VISITOR, order)
    client.track("purchase", VISITOR, order)
    client.track("purchase", VISITOR, TrackingEventDetails(20.0, {"id": "A-2"}))
    client.track("cart", VISITOR)
    report = shop.open("checkout").report()
    assert sum(arm["value"] for arm in report["arms"]) == pytest.approx(80.0)
    assert sum(arm["count"] for arm in report["goals"][0]["arms"]) == 1
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            client.track("scroll", VISITOR)
            client.track("purchase")
    told = [record.message for record in caplog.records if "refused" in record.message]
    assert len(told) == 2, "each kind of event once"


def test_a_service_that_is_away():
    with Client("http://127.0.0.1:9", "pb_d_x", patience=0.1) as away:
        api.set_provider(Provider(away), "away")
        found = api.get_client("away").get_string_details("checkout", "default", VISITOR)
        assert (found.value, found.error_code) == ("default", ErrorCode.PROVIDER_NOT_READY)
        api.get_client("away").track("purchase", VISITOR)
        api.clear_providers()
