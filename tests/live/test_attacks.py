"""Bad moments: a stop under load, a revoked key, an older backup, two servers, an erasure."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from kill import Client
from patience import eventually
from server_process import Connection, ServerProcess
from service import Running, command
from workload import ARMS, EXPERIMENT, Acknowledged, lost, whole

from patientbandits import live
from patientbandits.live.operations.backups import backup, restore
from patientbandits.live.operations.checks import check

NEW = {"name": EXPERIMENT, "arms": ARMS, "seed": 1}
DECISIONS = f"/v1/experiments/{EXPERIMENT}/decisions"


class LastingClient(Client):
    """Goes on until it is refused or its connection is closed, and keeps how that was."""

    ended = False

    def _answered(self, connection: Connection, status: int, body: bytes) -> None:
        if status in (200, 201):
            super()._answered(connection, status, body)
            return
        self.ended = True
        connection.waiting = None
        self.last = (status, connection._received, body)


def test_told_to_stop_under_load(tmp_path: Path) -> None:
    """Whatever was asked is answered, refused in words, or not answered at all: no half answers.
    All that was answered is there, and at most one more of each client."""
    db = str(tmp_path / "shop.db")
    answers: list[Acknowledged] = []
    clients = [LastingClient(number, 1, answers) for number in range(16)]
    server = ServerProcess(db)

    async def load() -> None:
        await asyncio.gather(*(client.start(server.port, 0) for client in clients))
        async with asyncio.timeout(120):
            while len(answers) < 200:
                await asyncio.sleep(0.01)
            os.kill(server.process.pid, signal.SIGTERM)
            while not all(client.ended for client in clients):
                await asyncio.sleep(0.01)

    try:
        assert server.ask("POST", "/v1/experiments", NEW)[0] == 201
        asyncio.run(load())
        assert server.end() == 0
    finally:
        if server.process.poll() is None:
            server.kill()
    for client in clients:
        status, half, body = client.last
        assert status in (0, 503), body
        assert half == b""
    with live.open(db, create=False) as shop:
        log = whole(shop)
        assert lost(shop, answers) == []
        assert 0 <= len(log) - 1 - len(answers) <= len(clients)


def test_a_key_revoked_while_the_body_is_on_its_way(tmp_path: Path) -> None:
    with Running(tmp_path / "shop.db") as server:
        assert server.api.post("/v1/experiments", json=NEW).status_code == 201
        made = server.api.post("/v1/keys", json={"scopes": ["decide"]}).json()
        body = b'{"key": "slow"}'
        head = (
            f"POST {DECISIONS} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {made['key']}"
            f"\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        port = int(server.url.rsplit(":", 1)[1])
        with (
            socket.create_connection(("127.0.0.1", port)) as slow,
            server.client(made["key"]) as other,
        ):
            slow.sendall(head.encode() + body[:5])
            assert other.post(DECISIONS, json={}).status_code == 201
            revoked = server.api.delete(f"/v1/keys/{made['id']}")
            assert revoked.status_code in (200, 204)
            eventually(lambda: other.post(DECISIONS, json={}).status_code == 401)
            slow.sendall(body[5:])
            assert slow.recv(65536).startswith(b"HTTP/1.1 401")
        fresh = server.api.post(DECISIONS, json={"key": "slow"})
        assert fresh.status_code == 201, "the revoked key has decided"


@pytest.mark.parametrize("target", ["sqlite", "postgres"])
def test_an_older_backup_while_clients_go_on(tmp_path: Path, fresh: Any, target: str) -> None:
    """What was decided after the backup is gone; its ids must not name what is decided since."""
    file = str(tmp_path / "backup.db")
    with live.open(str(tmp_path / "shop.db")) as shop:
        button = shop.experiment(EXPERIMENT, ARMS, seed=1)
        before = [button.decide(key=f"before {n}") for n in range(10)]
        backup(shop.store, file)
        gone = [button.decide(key=f"gone {n}") for n in range(10)]
        another = shop.experiment("another", ARMS).decide()
    ids = [{decision.id for decision in gone} | {another.id}]
    for _ in range(2):  # the same backup twice: each time another history begins
        location = fresh(target)
        restore(file, location)
        with live.open(location) as shop:
            button = shop.open(EXPERIMENT)
            assert button.convert(before[0].id).duplicate is False
            assert button.decide(key="before 1") == before[1]._replace(duplicate=True)
            others = [button.decide(key=f"other {n}") for n in range(10)]
            new = shop.experiment("new", ARMS).decide()
            for lost_before in ids:
                assert lost_before.isdisjoint({new.id, *(decision.id for decision in others)})
                for id in lost_before:
                    with pytest.raises(live.NotFoundError):
                        button.convert(id)
            again = button.decide(key="gone 3")
            assert not again.duplicate
            assert button.convert(again.id).duplicate is False
            assert check(shop.store)["wrong"] == []
            ids.append({new.id, again.id, *(decision.id for decision in others)})


def test_two_servers_on_one_database(fresh: Any) -> None:
    """As on two machines: the same keys come to both, and each is decided for once."""
    db = fresh("postgres")
    made: dict[str, list[tuple[int, str]]] = {}
    lock = threading.Lock()
    with Running(db) as one, Running(db, key="none") as two:
        assert one.api.post("/v1/experiments", json=NEW).status_code == 201

        def ask(server: Running, first: int) -> None:
            with server.client(one.key) as client:
                for n in range(60):
                    key = f"{(first + n) % 80}"
                    answer = client.post(DECISIONS, json={"key": key})
                    if answer.status_code == 401:  # a new key is known within a second or two
                        time.sleep(0.1)
                        continue
                    told = answer.json()
                    with lock:
                        made.setdefault(key, []).append((answer.status_code, told["id"]))
                    client.post(
                        f"/v1/experiments/{EXPERIMENT}/conversions", json={"id": told["id"]}
                    )

        threads = [
            threading.Thread(target=ask, args=(server, 10 * place))
            for place, server in enumerate((one, two) * 3)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(made) > 60
        for answers in made.values():
            assert len({id for _, id in answers}) == 1
            assert Counter(status for status, _ in answers)[201] == 1
    with live.open(db, create=False) as shop:
        log = whole(shop)
        kinds = Counter(line.kind for line in log)
        assert kinds["decision"] == kinds["conversion"] == len(made)
        assert check(shop.store)["wrong"] == []


def test_erasing_leaves_no_byte_of_the_unit_anywhere(tmp_path: Path) -> None:
    """In the clear, and with the unit wherever it does not belong: not in the database, its log,
    its snapshot, nor in what the server writes or shows of itself."""
    folder = tmp_path / "served"
    folder.mkdir()
    path = folder / "shop.db"
    unit = "ann.zwetschge@example.org"
    assert command("units", "clear", "--db", path).returncode == 0
    with Running(path, "--log-level", "debug") as server:
        assert server.api.post("/v1/experiments", json=NEW).status_code == 201
        for n in range(300):
            made = server.api.post(DECISIONS, json={"unit": unit if n == 0 else f"u{n}"}).json()
        bodies: dict[str, Any] = {
            DECISIONS: {"unit": unit, "key": f"key of {unit}"},
            "/v1/events": {"unit": unit, "order": f"order of {unit}", "value": 0.5},
            "/v1/aliases": {"unit": unit, "other": "somebody"},
            f"/v1/experiments/{EXPERIMENT}/conversions": {"id": made["id"], unit: unit},
            f"/v1/experiments/{unit}/decisions": {"unit": unit},
            f"/v1/{unit}": {},
            f"/ofrep/v1/evaluate/flags/{EXPERIMENT}": {"context": {"targetingKey": unit}},
            f"{DECISIONS}?unit={unit}": {"unit": unit, "wrong": unit},
        }
        for where, body in bodies.items():
            server.api.post(where, json=body)
            server.api.post(where, content=json.dumps(body)[:-1])
            server.api.post(where, json=body, headers={"x-api-key": unit, "user-agent": unit})
        seen = unit.encode() in b"".join(file.read_bytes() for file in folder.iterdir())
        assert seen, "the test tests nothing"
        report = server.api.get(f"/v1/experiments/{EXPERIMENT}/report")
        assert report.status_code == 200
        server.api.post("/v1/erasures", json={"unit": unit}).raise_for_status()
        shown = [server.api.get(where).text for where in ("/metrics", "/v1/experiments")]
        files = {file.name: file.read_bytes() for file in folder.iterdir()}
        assert server.stop() == 0
        written = [*server.log, *server.printed, *shown]
    files |= {f"{file.name}, stopped": file.read_bytes() for file in folder.iterdir()}
    assert [name for name, data in files.items() if unit.encode() in data] == []
    assert [text for text in written if unit in text] == []
    with live.open(str(path), create=False) as shop:
        assert check(shop.store)["wrong"] == []
        assert unit not in str(msgspec.to_builtins(shop.store.lines(1, 0), builtin_types=(bytes,)))
