"""Shares, quarantine, alerts and webhooks over HTTP and on the command line."""

from __future__ import annotations

import json

import pytest
from prometheus_client.parser import text_string_to_metric_families
from service import Running, command

pytestmark = pytest.mark.slow

ONE = "/v1/experiments/button"


def paid(api):
    return sum(arm["conversions"] for arm in api.get(f"{ONE}/report").json()["arms"])


def test_from_shares_to_quarantine(tmp_path):
    """What a key told does not count while the key is in quarantine."""
    db = tmp_path / "shop.db"
    with Running(db, "--alerts", "1") as server:
        api = server.api
        made = api.post(
            "/v1/experiments",
            json={
                "name": "button",
                "arms": ["a", "b"],
                "control": "a",
                "policy": "Uniform",
                "shares": {"minimum": 0.1, "control": 0.3, "per_day": 0.2},
            },
        )
        assert made.json()["shares"] == {"minimum": 0.1, "control": 0.3, "per_day": 0.2}
        assert api.get(f"{ONE}/weights").json()["weights"] == {"a": 0.3, "b": 0.7}
        refused = api.patch(ONE, json={"shares": {"minimum": 0.9, "control": 0.3}})
        assert refused.status_code == 422

        key = api.post("/v1/keys", json={"scopes": ["convert"]}).json()
        with server.client(key["key"]) as thief:
            for number in range(12):
                decided = api.post(f"{ONE}/decisions", json={"unit": f"u{number}"}).json()
                told = thief.post(f"{ONE}/conversions", json={"id": decided["id"]})
                assert told.json()["counted"]
                thief.post("/v1/track", json={"unit": "u1", "order": f"o{number}"})
        assert paid(api) == 12
        found = api.get(f"{ONE}/alerts").json()["alerts"]
        assert "unit" in {alert["kind"] for alert in found}
        text = api.get("/metrics").text
        families = {family.name: family for family in text_string_to_metric_families(text)}
        assert "patientbandits_alerts" in families

        rules = api.post(f"{ONE}/quarantine", json={"sender": key["id"]}).json()["rules"]
        assert rules == [{"id": "q1", "sender": key["id"]}]
        assert paid(api) == 0
        assert api.get(f"{ONE}/alerts").json()["alerts"] == []
        assert api.post(f"{ONE}/quarantine", json={}).status_code == 422
        assert api.post(f"{ONE}/releases", json={"id": "q1"}).json()["rules"] == []
        assert paid(api) == 12

        assert api.patch(ONE, json={"closed": True}).json()["closed"]
        new = api.post(f"{ONE}/decisions", json={"unit": "new"})
        assert new.status_code == 200
        assert new.json() == {
            "id": None,
            "arm": "a",
            "propensity": None,
            "duplicate": False,
            "outside": "closed",
        }
        hook = api.post("/v1/webhooks", json={"url": "https://example.org/", "kinds": ["stopped"]})
        assert hook.status_code == 201
        assert hook.json()["secret"].startswith("whsec_")
        assert api.post("/v1/webhooks", json={"url": "http://example.org/"}).status_code == 422
        (listed,) = api.get("/v1/webhooks").json()["webhooks"]
        assert "secret" not in listed
        assert api.delete(f"/v1/webhooks/{listed['id']}").status_code == 204
        assert api.delete(f"/v1/webhooks/{listed['id']}").status_code == 404
    on_the_command_line(db)


def on_the_command_line(db):
    def told(*arguments):
        done = command(*arguments, "--db", db, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    assert told("experiments", "reopen", "button")["closed"] is False
    assert told("quarantine", "button", "--unit", "u3")[0]["id"] == "q1"
    assert told("release", "button", "q1") == []
    assert {alert["kind"] for alert in told("alerts", "button")} >= {"unit"}
    refused = command("quarantine", "button", "--db", db)
    assert refused.returncode == 2
    assert "must be named" in refused.stderr
