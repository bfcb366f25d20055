"""Goals, exposures and weights over HTTP and on the command line."""

from __future__ import annotations

import csv
import json

import pytest
from service import Running, command

pytestmark = pytest.mark.slow

ONE = "/v1/experiments/checkout"


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with Running(tmp_path_factory.mktemp("visitors") / "shop.db") as server:
        new = {"name": "checkout", "arms": ["a", "b"], "policy": "UCB1", "largest_value": 100}
        made = server.api.post("/v1/experiments", json=new | {"goals": ["purchase", "cart"]})
        assert made.status_code == 201
        assert made.json()["goals"] == ["purchase", "cart"]
        yield server


@pytest.fixture
def api(running):
    return running.api


def said(answer):
    return answer.status_code, answer.json()


def test_exposures(api):
    told = {"unit": "v", "arm": "b", "propensity": 0.5}
    status, first = said(api.post(f"{ONE}/exposures", json=told))
    assert (status, first["duplicate"]) == (201, False)
    assert said(api.post(f"{ONE}/exposures", json=told)) == (200, first | {"duplicate": True})
    assert api.post(f"{ONE}/conversions", json={"id": first["id"]}).status_code == 201
    for wrong in ({"arm": "c"}, {"propensity": 0}, {"at": "2020-01-01T00:00:00Z"}, {"unit": 5}):
        answer = api.post(f"{ONE}/exposures", json=told | {"unit": "w"} | wrong)
        assert answer.status_code == 422, wrong
    assert api.post(f"{ONE}/exposures", json=told | {"arm": "a"}).status_code == 422
    items = [told, {"unit": "x", "arm": "a"}, {"unit": "y", "arm": "none"}, {"arm": "a"}]
    many = api.post(f"{ONE}/exposures/batch", json={"exposures": items}).json()["results"]
    assert [item["status"] for item in many] == [200, 201, 422, 422]
    assert many[0]["id"] == first["id"]
    rows = list(csv.DictReader(api.get(f"{ONE}/export").text.splitlines()))
    assert {(row["arm"], row["propensity"]) for row in rows} >= {("b", "0.5"), ("a", "")}
    assert not {row["unit"] for row in rows} & {"v", "x"}


def test_weights(api):
    status, found = said(api.get(f"{ONE}/weights"))
    assert status == 200
    assert sorted(found["weights"]) == ["a", "b"]
    assert sum(found["weights"].values()) == pytest.approx(1.0)
    assert api.get("/v1/experiments/none/weights").status_code == 404


def test_goals(api):
    api.post(f"{ONE}/exposures", json={"unit": "g", "arm": "a"})
    cart = {"unit": "g", "order": "A", "value": 60, "goal": "cart"}
    answer = api.post(f"{ONE}/conversions", json=cart)
    assert said(answer) == (201, {"duplicate": False, "counted": True, "exposed": True})
    assert api.post(f"{ONE}/conversions", json=cart).status_code == 200
    assert api.post(f"{ONE}/conversions", json=cart | {"goal": "basket"}).status_code == 422
    assert api.post("/v1/track", json=cart | {"goal": "basket"}).status_code == 422
    assert api.post("/v1/track", json=cart).json()["experiments"]["checkout"]["duplicate"]
    report = api.get(f"{ONE}/report").json()
    assert report["goal"] == "purchase"
    (found,) = report["goals"]
    assert found["goal"] == "cart"
    assert sum(arm["count"] for arm in found["arms"]) == 1
    gone = {"order": "A", "goal": "cart"}
    assert api.post(f"{ONE}/retractions", json=gone).status_code == 201
    assert api.patch(ONE, json={"add_goals": ["refund"]}).json()["goals"][-1] == "refund"
    assert api.patch(ONE, json={"add_goals": ["refund"]}).status_code == 422


def test_on_the_command_line(tmp_path):
    db = ("--db", tmp_path / "shop.db")

    def answered(*arguments):
        done = command(*arguments, *db, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    policy = ("--policy", "UCB1")
    made = answered(
        "experiments", "create", "b", "x", "y", *policy, "--goal", "buy", "--goal", "cart"
    )
    assert made["goals"] == ["buy", "cart"]
    assert answered("experiments", "change", "b", "--goal", "refund")["goals"][-1] == "refund"
    first = answered("expose", "b", "visitor", "y", "--propensity", "0.5")
    assert not first["duplicate"]
    assert answered("expose", "b", "visitor", "y") == first | {"duplicate": True}
    assert answered("convert", "b", "--unit", "visitor", "--goal", "cart")["counted"]
    assert answered("track", "visitor", "--order", "A", "--goal", "refund")["b"]["counted"]
    assert not answered("retract", "b", "--order", "A", "--goal", "refund")["duplicate"]
    assert sum(answered("weights", "b").values()) == pytest.approx(1.0)
    told = command("report", "b", *db)
    assert "cart" in told.stdout
    wrong = command("convert", "b", "--unit", "visitor", "--goal", "basket", *db)
    assert wrong.returncode == 2
    assert "got goal='basket'" in wrong.stderr
