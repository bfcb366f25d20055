"""Who changed which settings, and when."""

from __future__ import annotations

from pathlib import Path

import pytest
from service import Running, command

from patientbandits import live
from patientbandits.live.operations.checks import check


def test_the_library_tells_what_it_changed(shop):
    handle = shop.experiment("button", ["a", "b"], policy="Uniform", seed=1)
    handle.change(paused=True)
    handle.change(paused=True)  # nothing new
    handle.change(add_arms=["c"], window="30d")
    (rule,) = handle.quarantine(unit="ann@example.org")
    handle.release(rule["id"])
    released, quarantined, arms, paused, created = handle.changes()
    assert created["line"] == 1
    assert created["changed"]["arms"] == {"before": None, "after": ["a", "b"]}
    assert paused["changed"] == {"paused": {"before": False, "after": True}}
    assert arms["changed"] == {
        "arms": {"before": ["a", "b"], "after": ["a", "b", "c"]},
        "window": {"before": None, "after": 30 * 86400.0},
    }
    assert quarantined["changed"] == {"quarantine": {"before": [], "after": ["q1"]}}
    assert released["changed"] == {"quarantine": {"before": ["q1"], "after": []}}
    assert {change["by"] for change in handle.changes()} == {None}
    assert "ann" not in str(handle.changes())
    assert check(shop.store)["wrong"] == []


@pytest.mark.slow
def test_keys_are_named(tmp_path: Path):
    db = tmp_path / "shop.db"
    with Running(db) as server:
        new = {"scopes": ["admin"], "note": "Ann of marketing"}
        token = server.api.post("/v1/keys", json=new).json()
        with server.client(token["key"]) as ann:
            body = {"name": "button", "arms": ["a", "b"]}
            assert ann.post("/v1/experiments", json=body).status_code == 201
            path = "/v1/experiments/button"
            assert ann.patch(path, json={"paused": True}).status_code == 200
            rule = ann.post(f"{path}/quarantine", json={"unit": "u"}).json()["rules"][0]
            assert ann.post(f"{path}/releases", json={"id": rule["id"]}).status_code == 200
        assert server.api.patch(path, json={"paused": False}).status_code == 200
        changes = server.api.get(f"{path}/changes").json()["changes"]
        assert [change["note"] for change in changes] == ["first key"] + ["Ann of marketing"] * 4
        assert {change["by"] for change in changes[1:]} == {token["id"]}
    shown = command("experiments", "changes", "button", "--db", db)
    assert shown.returncode == 0
    assert "Ann of marketing  paused: false -> true" in shown.stdout
    with live.open(str(db), create=False) as shop:
        assert check(shop.store)["wrong"] == []
