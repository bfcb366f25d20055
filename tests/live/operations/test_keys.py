"""Keys: random, shown once, kept as hashes, limited to scopes, revocable."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from patience import eventually
from service import Running, command

from patientbandits import live
from patientbandits.live.names import SCOPES
from patientbandits.live.operations.keys import Keyring, new_token

NEEDS = [
    ("POST", "/v1/experiments/a/decisions", {}, "decide"),
    ("POST", "/v1/experiments/a/exposures", {"unit": "x", "arm": "x"}, "expose"),
    ("POST", "/v1/experiments/a/exposures/batch", {"exposures": []}, "expose"),
    ("POST", "/v1/experiments/a/conversions", {"id": "x"}, "convert"),
    ("POST", "/v1/experiments/a/conversions/batch", {"conversions": []}, "convert"),
    ("POST", "/v1/experiments/a/retractions", {"id": "x"}, "convert"),
    ("GET", "/v1/experiments", None, "read"),
    ("GET", "/v1/experiments/a", None, "read"),
    ("GET", "/v1/experiments/a/timeseries", None, "read"),
    ("GET", "/v1/experiments/a/export", None, "read"),
    ("GET", "/metrics", None, "read"),
    ("POST", "/v1/experiments", {"name": "a", "arms": ["x", "y"]}, "admin"),
    ("PATCH", "/v1/experiments/a", {}, "admin"),
    ("GET", "/v1/keys", None, "admin"),
    ("POST", "/v1/keys", {"scopes": ["read"]}, "admin"),
    ("DELETE", "/v1/keys/nope", None, "admin"),
]


@pytest.fixture
def shop(tmp_path):
    with live.open(str(tmp_path / "shop.db")) as opened:
        yield opened


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with Running(tmp_path_factory.mktemp("keys") / "shop.db") as server:
        assert (
            server.api.post("/v1/experiments", json={"name": "a", "arms": ["x", "y"]}).status_code
            == 201
        )
        yield server


def test_a_key_is_found_by_its_text_alone(shop):
    ring = Keyring(shop.store, shop.journal)
    token = ring.create(["read", "decide"], "shop front")
    key = ring.find(token)
    assert key.scopes == {"read", "decide"}
    assert key.note == "shop front"
    assert token.startswith("pb_dr_")
    for wrong in (
        token[:-1],
        token + "x",
        token.upper(),
        "",
        "pb_",
        "\ud800",
        "é",
        key.hash,
        key.id,
        "x" * 10_000,
    ):
        assert ring.find(wrong) is None


def test_the_text_is_not_kept(shop, tmp_path):
    token = Keyring(shop.store, shop.journal).create(["admin"])
    shop.close()
    kept = b"".join(path.read_bytes() for path in Path(tmp_path).iterdir())
    assert hashlib.sha256(token.encode()).hexdigest().encode() in kept
    assert token.encode() not in kept
    assert token.rpartition("_")[2].encode() not in kept


def test_keys_are_long_and_differ():
    tokens = {new_token(["read"]) for _ in range(1000)}
    assert len(tokens) == 1000
    assert all(len(token) == len("pb_r_") + 43 for token in tokens)  # 32 bytes in base 64


def test_the_first_key_is_made_once(shop):
    ring = Keyring(shop.store, shop.journal)
    assert ring.create_first().startswith("pb_a_")
    assert ring.create_first() is None


def test_the_first_key_may_be_made_beforehand(tmp_path):
    """A key that is printed stays in somebody's log."""
    file = tmp_path / "first"
    token = new_token(["admin"])
    file.write_text(f"{token}\n")
    for _ in range(2):  # the second time there is a key already
        with Running(tmp_path / "shop.db", "--first-key", file, key=token) as server:
            assert server.api.get("/v1/keys").status_code == 200
            assert token not in "".join([*server.printed, *server.log])
    for bad in ("", "pb_a_short", f"{token} {token}", f"{token}{'x' * 100}", token[5:]):
        file.write_text(bad)
        other = tmp_path / f"{len(bad)}.db"
        refusal = command("serve", "--first-key", file, "--db", other, "--port", 0)
        assert refusal.returncode == 2
        assert "key: a key must be" in refusal.stderr
    assert command("serve", "--first-key", tmp_path / "no", "--db", other).returncode == 2


def test_a_revoked_key_is_refused(shop):
    ring, elsewhere = Keyring(shop.store, shop.journal), Keyring(shop.store, shop.journal)
    token = ring.create(["read"])
    elsewhere.load()
    ring.revoke(ring.find(token).id)
    assert ring.find(token) is None
    assert elsewhere.find(token) is not None
    elsewhere.load()
    assert elsewhere.find(token) is None
    assert ring.all()[0].revoked is not None


@pytest.mark.parametrize(
    ("scopes", "note"),
    [([], ""), (["write"], ""), (["read", "Read"], ""), (["read"], "a\nb"), (["read"], "x" * 201)],
)
def test_bad_keys_are_refused(shop, scopes, note):
    with pytest.raises(live.RefusedError):
        Keyring(shop.store, shop.journal).create(scopes, note)
    assert Keyring(shop.store, shop.journal).all() == []


def test_unknown_keys_cannot_be_revoked(shop):
    with pytest.raises(live.NotFoundError):
        Keyring(shop.store, shop.journal).revoke("nope")


@pytest.mark.parametrize("scope", SCOPES)
def test_a_scope_opens_its_own_doors_only(running, scope):
    token = running.api.post("/v1/keys", json={"scopes": [scope]}).json()["key"]
    with running.client(token) as client:
        for method, path, body, needed in NEEDS:
            answer = client.request(method, path, json=body)
            allowed = scope in (needed, "admin")
            assert (answer.status_code != 403) == allowed, (method, path, answer.text)
            assert answer.status_code != 401


def test_keys_of_servers_made_before_the_scope_expose_keep_it(running):
    token = running.api.post("/v1/keys", json={"scopes": ["decide", "convert"]}).json()["key"]
    exposure = {"unit": "of a server", "arm": "x"}
    with running.client(token) as client:
        assert client.post("/v1/experiments/a/exposures", json=exposure).status_code == 201
        assert client.get("/v1/experiments").status_code == 403


def test_a_key_for_named_experiments_reaches_no_other(running):
    for name in ("mine", "theirs"):
        running.api.post("/v1/experiments", json={"name": name, "arms": ["x", "y"]})
    new = {"scopes": ["decide", "convert", "read", "admin"], "experiments": ["mine"]}
    token = running.api.post("/v1/keys", json=new).json()["key"]
    flags = "/ofrep/v1/evaluate/flags"
    context = {"context": {"targetingKey": "u"}}
    with running.client(token) as client:
        assert client.get("/v1/scopes").json()["experiments"] == ["mine"]
        listed = client.get("/v1/experiments").json()["experiments"]
        assert [one["name"] for one in listed] == ["mine"]
        for name, status in (("mine", 200), ("theirs", 403), ("nowhere", 403)):
            path = f"/v1/experiments/{name}"
            assert client.get(f"{path}/report").status_code == status
            assert client.patch(path, json={"paused": False}).status_code == status
            decided = client.post(f"{path}/decisions", json={"unit": "u"}).status_code
            assert decided == (201 if status == 200 else 403)
            assert client.post(f"{flags}/{name}", json=context).status_code == status
        assert [one["key"] for one in client.post(flags, json=context).json()["flags"]] == ["mine"]
        tracked = client.post("/v1/track", json={"unit": "u", "order": "1"}).json()
        assert list(tracked["experiments"]) == ["mine"]
        assert client.post("/v1/aliases", json={"unit": "u", "other": "v"}).status_code == 201
        for method, path, body in (
            ("GET", "/metrics", None),
            ("GET", "/v1/keys", None),
            ("POST", "/v1/keys", {"scopes": ["admin"]}),
            ("DELETE", "/v1/keys/mine", None),
            ("GET", "/v1/webhooks", None),
            ("POST", "/v1/erasures", {"unit": "u"}),
            ("POST", "/v1/experiments", {"name": "new", "arms": ["x"]}),
        ):
            assert client.request(method, path, json=body).status_code == 403, path
    theirs = running.api.get("/v1/experiments/theirs/timeseries").json()
    assert theirs["counts"] == [], "nothing reached the other"
    listed = running.api.get("/v1/keys").json()["keys"]
    assert ["mine"] in [key["experiments"] for key in listed]
    wrong = {"scopes": ["read"], "experiments": ["nowhere"]}
    assert running.api.post("/v1/keys", json=wrong).status_code == 404


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "Bearer",
        "Bearer pb_a_x",
        "Basic cGI6cGI=",
        "bearer nope",
        "Bearer \u00e9",
        "Token x",
    ],
)
def test_without_a_key_all_doors_are_closed(running, header):
    with running.client(None) as client:
        for method, path, body, _ in NEEDS:
            answer = client.request(
                method,
                path,
                json=body,
                headers={} if header is None else {"authorization": header.encode("latin-1")},
            )
            assert answer.status_code == 401, (method, path)
            assert answer.headers["www-authenticate"].startswith("Bearer")
            assert answer.headers["content-type"] == "application/problem+json"
        for path in ("/healthz", "/readyz", "/openapi.json", "/dashboard/"):
            assert client.get(path).status_code == 200


def test_keys_over_http(running):
    made = running.api.post("/v1/keys", json={"scopes": ["read"], "note": "a note"})
    assert made.status_code == 201
    id, token = made.json()["id"], made.json()["key"]
    listed = running.api.get("/v1/keys").text
    assert id in listed
    assert "a note" in listed
    assert token not in listed
    with running.client(token) as client:
        assert client.get("/v1/experiments").status_code == 200
        assert running.api.delete(f"/v1/keys/{id}").status_code == 204
        assert client.get("/v1/experiments").status_code == 401
    assert running.api.delete("/v1/keys/nope").status_code == 404
    for bad in (
        {"scopes": []},
        {"scopes": ["all"]},
        {"scopes": "read"},
        {},
        {"scopes": ["read"], "note": "a\u0000"},
    ):
        assert running.api.post("/v1/keys", json=bad).status_code == 422, bad


def test_other_processes_are_heard(running):
    """A key made or revoked by the command line is known to the server soon."""
    token = command("keys", "create", "--db", running.db, "--scope", "read").stdout.strip()
    with running.client(token) as client:
        assert eventually(lambda: client.get("/v1/experiments").status_code == 200)
        (id,) = [
            line.split()[0]
            for line in command("keys", "list", "--db", running.db).stdout.splitlines()
            if token_id(token) in line
        ]
        assert command("keys", "revoke", "--db", running.db, id).returncode == 0
        assert eventually(lambda: client.get("/v1/experiments").status_code == 401)


def token_id(token):
    return hashlib.sha256(token.encode()).hexdigest()[:12]
