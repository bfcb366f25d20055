"""The file of a database that is deleted, replaced or away for a while."""

from __future__ import annotations

import os
import time

import pytest
from patience import eventually
from service import Running, command

from patientbandits import live
from patientbandits.live.http import auth
from patientbandits.live.http.limits import RateOptions
from patientbandits.live.http.routes import ROUTES
from patientbandits.live.operations.keys import Keyring

pytestmark = pytest.mark.slow


def test_nothing_is_written_to_a_deleted_database(fresh, clock):
    path = fresh("sqlite")
    with live.open(path, clock=clock) as shop:
        button = shop.experiment("button", ["a"])
        button.decide()
        os.unlink(path)
        for _ in range(2):
            with pytest.raises(live.UnavailableError, match="deleted or replaced"):
                button.decide()
        with pytest.raises(live.UnavailableError, match="deleted or replaced"):
            button.report()
    assert not os.path.exists(path), "it is not made anew"


def test_nothing_is_written_beside_a_replaced_database(fresh, clock):
    path = fresh("sqlite")
    with live.open(path, clock=clock) as shop:
        button = shop.experiment("button", ["a"])
        os.rename(path, f"{path}.old")
        with live.open(path, clock=clock) as other:
            other.experiment("button", ["a"])
            with pytest.raises(live.UnavailableError, match="deleted or replaced"):
                button.decide()


def test_nothing_is_read_from_a_database_in_its_place(fresh, clock):
    path = fresh("sqlite")
    with live.open(path, clock=clock) as shop:
        button = shop.experiment("button", ["a"])
        os.rename(path, f"{path}.old")
        with live.open(path, clock=clock) as other:
            other.experiment("button", ["a"]).decide()
        with pytest.raises(live.UnavailableError, match="deleted or replaced"):
            button.report()


def test_the_service_ends_when_its_database_is_deleted(tmp_path):
    path = tmp_path / "shop.db"
    with Running(path, "--no-keys") as server:
        server.api.post("/v1/experiments", json={"name": "button", "arms": ["a"]})
        decisions = "/v1/experiments/button/decisions"
        assert server.api.post(decisions, json={}).status_code == 201
        path.unlink()
        assert server.api.post(decisions, json={}).status_code == 503
        assert server.process.wait(120) == 1


def test_keys_are_read_again_after_the_database_was_away(tmp_path):
    path = tmp_path / "shop.db"
    with Running(path) as server:
        made = server.api.post("/v1/keys", json={"scopes": ["read"]}).json()
        path.rename(tmp_path / "away")
        time.sleep(2.5)
        (tmp_path / "away").rename(path)
        with server.client(made["key"]) as reader:
            assert reader.get("/v1/experiments").status_code == 200
            assert command("keys", "revoke", made["id"], "--db", path).returncode == 0
            eventually(lambda: reader.get("/v1/experiments").status_code == 401)


def test_keys_that_cannot_be_read_are_trusted_no_more(fresh, clock, monkeypatch):
    with live.open(fresh("sqlite"), clock=clock) as shop:
        keyring = Keyring(shop.store, shop.journal)
        asked = auth.Access(keyring, RateOptions())
        route = next(one for one in ROUTES if one.path == "/v1/experiments" and one.scope == "read")
        request = type("Request", (), {"headers": {}, "key": None})()
        request.headers[b"authorization"] = b"Bearer " + keyring.create(["read"]).encode()
        asked.authorise(route, request)
        monkeypatch.setattr(keyring, "age", lambda: auth.STALE_KEYS + 1)
        with pytest.raises(live.UnavailableError, match="keys cannot be read"):
            asked.authorise(route, request)
