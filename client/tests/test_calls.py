"""Requests and answers, without a service."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from patientbandits_client import calls
from patientbandits_client.errors import InputError, MismatchError, NotFoundError, UnavailableError
from patientbandits_client.records import Conversion, Credited, Exposed


def test_paths_quote_names():
    assert calls.decide("a/b c", None, "k").path == "/v1/experiments/a%2Fb%20c/decisions"
    assert calls.evaluate("a/b", "u").path == "/ofrep/v1/evaluate/flags/a%2Fb"


def test_what_is_not_said_is_not_sent():
    call = calls.convert("a", id="d", value=1.0, at=None, unit=None, order=None, goal=None)
    assert call.body == {"id": "d", "value": 1.0}
    noon = datetime(2026, 1, 31, 12, tzinfo=UTC)
    assert calls.convert("a", id="d", at=noon).body["at"] == "2026-01-31T12:00:00+00:00"


def test_requests_that_could_double_have_a_key():
    keys = {calls.decide("a", "u", None).body["key"] for _ in range(100)}
    assert len(keys) == 100
    assert calls.decide("a", "u", "mine").body["key"] == "mine"
    assert "key" in calls.expose("a", "u", "blue", None, None, None).body
    assert "key" not in calls.expose("a", "u", "blue", 1.0, None, None).body, "it has a time"
    assert not calls.change("a", add_goals=["buy"]).repeatable
    assert calls.change("a", paused=True).repeatable


@pytest.mark.parametrize(
    ("count", "length", "parts"),
    [(0, 1, 0), (1, 1, 1), (1000, 1, 1), (1001, 1, 2), (3, 500_000, 3), (2500, 500, 3)],
)
def test_batches_fit_into_requests(count, length, parts):
    items = [{"unit": f"{number:07}" + "u" * length, "arm": "blue"} for number in range(count)]
    batches = list(calls.split_batch("a", "exposures", iter(items)))
    assert len(batches) == parts
    sent = [item for call in batches for item in call.body["exposures"]]
    assert [item["unit"] for item in sent] == [item["unit"] for item in items]
    assert len({item["key"] for item in sent}) == count
    for call in batches:
        assert len(call.body["exposures"]) <= calls.LARGEST_PART
        one = len(call.body["exposures"]) == 1
        assert one or len(json.dumps(call.body["exposures"])) <= calls.LARGEST_PART_BYTES + 2


@pytest.mark.parametrize(
    ("result", "outcome"),
    [
        ({"status": 201, "id": "d", "duplicate": False}, Exposed("d", False)),
        ({"status": 200, "duplicate": True, "counted": True}, Conversion(True, True)),
        (
            {"status": 200, "duplicate": False, "counted": False, "exposed": False, "new": 1},
            Credited(False, False, False),
        ),
    ],
)
def test_outcomes_of_a_batch(result, outcome):
    read = calls.item_outcome(result)
    assert read == outcome
    assert type(read) is type(outcome)


@pytest.mark.parametrize(
    ("result", "error"),
    [
        ({"status": 404, "detail": "no"}, NotFoundError),
        ({"status": 422, "detail": "no", "kind": "different"}, MismatchError),
        ({"status": 503, "detail": "no"}, UnavailableError),
    ],
)
def test_errors_of_a_batch_stand_at_their_place(result, error):
    read = calls.item_outcome(result)
    assert type(read) is error
    assert str(read) == "no"


def test_a_flag_without_an_arm():
    call = calls.evaluate("a", "u")
    empty = call.read({"key": "a", "reason": "DISABLED"})
    assert (empty.arm, empty.value, empty.id) == (None, None, None)
    flags = [{"key": "a", "variant": "blue", "value": "blue"}, {"key": "b", "errorCode": "GENERAL"}]
    assert list(calls.evaluate_all("u").read({"flags": flags})) == ["a"]


def test_a_policy_is_sent_as_plain_data():
    class Policy:
        def describe(self):
            return {"policy": "UCB1"}

    body = calls.create("a", ["x", "y"], policy=Policy(), window="30d", seed=None).body
    assert body == {"name": "a", "arms": ["x", "y"], "policy": {"policy": "UCB1"}, "window": "30d"}


@pytest.mark.parametrize("url", ["localhost:8080", "ftp://shop", ""])
def test_urls_that_make_no_sense_are_refused(url):
    with pytest.raises(InputError, match="url must begin with http"):
        calls.checked_url(url)
    assert calls.checked_url("http://shop/") == "http://shop"
