"""Webhooks: signed as the specification has it, at least once through kills, nowhere else."""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from patience import eventually
from server_process import ServerProcess
from standardwebhooks.webhooks import Webhook

from patientbandits import live
from patientbandits.live.errors import NotFoundError, RefusedError
from patientbandits.live.monitoring import addresses, webhooks

pytestmark = pytest.mark.slow

RECEIVER = Path(__file__).parents[1] / "receiver.py"


def mismatched(shop, name):
    """An experiment of which there is something to be told."""
    handle = shop.experiment(name, ["a", "b"], policy="Uniform", seed=1)
    commands = [handle.expose_command(f"u{number}", "a", None, 0.5) for number in range(60)]
    handle.journal.execute(commands)
    return handle


@contextlib.contextmanager
def receiving(folder, refuse):
    """A receiver's port, and the file it writes."""
    out = folder / "received"
    out.touch()
    command = [sys.executable, str(RECEIVER), str(folder / "secret"), str(out), str(refuse)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield int(process.stdout.readline()), out
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def received(out):
    return [json.loads(line) for line in out.read_text().splitlines()]


def test_signed_as_the_specification_has_it():
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    now = int(time.time())
    body = b'{"type": "alert.raised"}'
    headers = {
        "webhook-id": "msg_1",
        "webhook-timestamp": str(now),
        "webhook-signature": webhooks.signature(secret, "msg_1", now, body),
    }
    assert Webhook(secret).verify(body, headers) == {"type": "alert.raised"}
    theirs = Webhook(secret).sign("msg_1", datetime.fromtimestamp(now, UTC), body.decode())
    assert headers["webhook-signature"] == theirs


def test_every_message_arrives_though_the_server_is_killed(tmp_path):
    """Six alerts; the receiver refuses each once, and the server is killed after every message that
    came: what was sent may not have been marked. Later each is cleared, which is told too."""
    db = str(tmp_path / "shop.db")
    names = [f"button-{number}" for number in range(6)]
    with receiving(tmp_path, refuse=1) as (port, out):
        with live.open(db) as shop:
            made = shop.add_webhook(f"http://127.0.0.1:{port}/alerts?from=shop")
            (tmp_path / "secret").write_text(made["secret"])
            for name in names:
                mismatched(shop, name)
        kills = 0
        while kills < 6:
            enough = len(received(out)) + kills // 2
            server = ServerProcess(db, "--alerts", "1")
            try:
                eventually(
                    lambda enough=enough: len(received(out)) > enough or undelivered(db) == 0
                )
            finally:
                server.kill()
            kills += 1
            if len({one["id"] for one in received(out)}) == 6 and kills >= 4:
                break
        with live.open(db) as shop:
            for name in names:
                shop.open(name).quarantine(until=time.time() - 0.001)
        server = ServerProcess(db, "--alerts", "1")
        try:
            eventually(lambda: undelivered(db) == 0 and len(ids(out, "cleared")) == 6)
        finally:
            assert server.stop() == 0
        got = received(out)
        assert all(one["good"] for one in got)
        for what in ("raised", "cleared"):
            assert len(ids(out, what)) == 6
            told = [one["told"]["data"] for one in got if one["told"]["type"] == f"alert.{what}"]
            assert {data["experiment"] for data in told} == set(names)
        by_id = {}
        for one in got:  # whatever came twice was the same
            assert by_id.setdefault(one["id"], one["told"]) == one["told"]
        assert len(got) > 12


def ids(out, what):
    return {one["id"] for one in received(out) if one["told"]["type"] == f"alert.{what}"}


def undelivered(db):
    with live.open(db) as shop, shop.store.reading() as reader:
        return reader.one(webhooks.queries.UNDELIVERED)


def test_retries_back_off(shop, clock, tmp_path):
    """Nobody answers: 1, 2, 4, ... seconds until it is tried again."""
    shop.add_webhook("http://127.0.0.1:9/")
    mismatched(shop, "button").alerts()
    tries = []
    for _ in range(40):
        with shop.store.reading() as reader:
            due = reader.rows(webhooks.queries.DUE, shop.journal.now(), 24)
        assert shop.deliver() == 0
        tries.append(len(due))
        clock.now += 1.0
    moments = [place for place, count in enumerate(tries) if count]
    assert moments == [0, 1, 3, 7, 15, 31]
    assert webhooks.retry_delay(30) == 6 * 3600


def test_only_what_was_asked_for(shop):
    shop.add_webhook("https://example.org/a", ["can_stop"])
    shop.add_webhook("https://example.org/b", ["ratio"])
    wanted = [one["id"] for one in shop.webhooks() if one["kinds"] == ["ratio"]]
    handle = mismatched(shop, "button")
    handle.alerts()
    handle.alerts()
    with shop.store.reading() as reader:
        queued = reader.rows("SELECT webhook FROM deliveries")
    assert [row[0] for row in queued] == wanted
    shop.remove_webhook(wanted[0])
    with shop.store.reading() as reader:
        assert reader.one(webhooks.queries.UNDELIVERED) == 0
    with pytest.raises(NotFoundError):
        shop.remove_webhook(wanted[0])


@pytest.mark.parametrize(
    "url",
    ["http://example.org/", "ftp://127.0.0.1/", "https://", "https://user@example.org/", "x", ""],
)
def test_refused_addresses(shop, url):
    with pytest.raises(RefusedError, match="webhook: url"):
        shop.add_webhook(url)


def test_allowed_addresses(shop):
    shop.add_webhook("http://localhost:1/")
    shop.add_webhook("http://[::1]:1/")
    shop.add_webhook("http://example.org/", anywhere=True)
    assert len(shop.webhooks()) == 3
    with pytest.raises(RefusedError, match="kinds"):
        shop.add_webhook("https://example.org/", ["everything"])


NEVER = (
    "https://169.254.169.254/latest",
    "https://[fe80::1]/",
    "https://[::ffff:169.254.169.254]/",
    "https://2852039166/",
    "https://0xa9fea9fe/",
    "https://169.254.43518/",
    "https://0251.0376.0251.0376/",
    "https://[64:ff9b::a9fe:a9fe]/",
    "https://[2002:a9fe:a9fe::1]/",
    "https://[fd00:ec2::254]/",
    "https://0.0.0.0/",
    "https://[::]/",
    "https://224.0.0.1/",
    "https://127.1/",
)
PRIVATE = (
    "https://10.0.0.1/",
    "https://192.168.1.1:8443/",
    "https://172.16.0.1/",
    "https://100.64.0.1/",
    "https://[fd12::1]/",
    "https://[64:ff9b::10.0.0.1]/",
)


@pytest.mark.parametrize("url", NEVER)
def test_addresses_of_machinery_are_refused(shop, url):
    """There a cloud's machines ask for their credentials."""
    with pytest.raises(RefusedError, match="webhook: url must"):
        shop.add_webhook(url, anywhere=True)


@pytest.mark.parametrize("url", PRIVATE)
def test_private_networks_must_be_allowed(shop, url):
    with pytest.raises(RefusedError, match="private network"):
        shop.add_webhook(url)
    shop.add_webhook(url, anywhere=True)


class Dripping:
    """A receiver that sends a byte now and then, and never an answer."""

    def __init__(self):
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.asked = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=self._drip, args=(connection,), daemon=True).start()

    def _drip(self, connection):
        with connection, contextlib.suppress(OSError):
            while connection.recv(65536):
                self.asked += 1
                connection.sendall(b"HTTP/1.1 200 OK\r\n")
                while True:
                    connection.sendall(b"X: a\r\n")
                    time.sleep(0.1)

    def close(self):
        self._listener.close()


SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def test_nothing_is_sent_to_a_name_that_leads_elsewhere_by_now(monkeypatch):
    """DNS may say anything, and something else each time: what it says last is looked at."""
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    for address in ("169.254.169.254", "10.0.0.1", "127.0.0.1", "64:ff9b::a9fe:a9fe"):
        monkeypatch.setattr(
            addresses.socket,
            "getaddrinfo",
            lambda *_, address=address, **__: [(2, 1, 6, "", (address, port))],
        )
        url = f"http://innocent.example:{port}/"
        delivery = webhooks.Delivery("1", "msg_1", "{}", 0, url, SECRET)
        assert not webhooks.send_message(delivery, 0)
    listener.settimeout(0.2)
    with pytest.raises(TimeoutError):
        listener.accept()
    listener.close()


def test_a_delivery_has_a_deadline(monkeypatch):
    monkeypatch.setattr(webhooks, "SEND_SECONDS", 0.5)
    dripping = Dripping()
    url = f"http://127.0.0.1:{dripping.port}/"
    assert not webhooks.send_message(webhooks.Delivery("1", "m", "{}", 0, url, SECRET), 0)
    assert dripping.asked == 1
    dripping.close()


def test_one_that_drips_stops_neither_the_others_nor_the_end(tmp_path):
    """The others once had nothing in 45 seconds, and the server had to be killed."""
    db = str(tmp_path / "shop.db")
    dripping = Dripping()
    with receiving(tmp_path, refuse=0) as (port, out):
        with live.open(db) as shop:
            shop.add_webhook(f"http://127.0.0.1:{dripping.port}/")
            (tmp_path / "secret").write_text(
                shop.add_webhook(f"http://127.0.0.1:{port}/")["secret"]
            )
            for number in range(3):
                mismatched(shop, f"button-{number}")
        server = ServerProcess(db, "--alerts", "1")
        try:
            eventually(lambda: len(ids(out, "raised")) == 3 and dripping.asked)
            before = dripping.asked
            eventually(lambda: dripping.asked > before)  # one is under way
            server.process.send_signal(signal.SIGTERM)
            assert server.process.wait(10) == 0
        finally:
            server.kill()
    dripping.close()
