"""Requests that get lost are sent again, and nothing is doubled; the arm shown meanwhile."""

from __future__ import annotations

import signal
import socket
import threading
import time

import httpx
import pytest
from lossy import LossyProxy
from service import Running

from patientbandits_client import Client, Decision, ServiceUnavailable, calls, retry, synchronous
from patientbandits_client.errors import InputError

ARMS = ["control", "blue"]


class Outage(httpx.BaseTransport):
    """A service that cannot be reached while ``away``; it counts what is sent to it."""

    def __init__(self):
        self.away = True
        self.sent = 0

    def handle_request(self, request):
        self.sent += 1
        if self.away:
            raise httpx.ConnectError("refused", request=request)
        return httpx.Response(200, json={"id": "d1", "arm": "blue", "duplicate": False})


class Clock:
    def __init__(self):
        self.now = 1000.0

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(retry, "time", made)
    monkeypatch.setattr(synchronous, "time", made)
    return made


def test_an_unavailable_service_is_left_alone_for_a_second(clock):
    service = Outage()
    with Client("http://shop", patience=0.3, fallback={"a": "control"}, transport=service) as shop:
        experiment = shop.open("a")
        assert experiment.decide(unit="v") == Decision(id=None, arm="control", outside="away")
        attempts = service.sent
        assert attempts > 1, "it tries until its patience is at its end"
        assert experiment.decide(unit="w").arm == "control"
        clock.now += 0.9 * retry.REST_SECONDS
        assert experiment.decide(unit="w").outside == "away"
        assert service.sent == attempts, "visitors do not wait for a service that just failed"
        service.away = False
        clock.now += 0.2 * retry.REST_SECONDS
        assert experiment.decide(unit="w").id == "d1"
        assert experiment.decide(unit="w").id == "d1"
        assert service.sent == attempts + 2


def test_patience_bounds_all_attempts_and_pauses(clock):
    service = Outage()
    began = clock.now
    with Client("http://shop", patience=30, transport=service) as shop:
        experiment = shop.open("a")
        with pytest.raises(ServiceUnavailable, match=r"POST .*/decisions was not .* refused"):
            experiment.decide()
    assert began + 30 - 1.5 * retry.LONGEST_PAUSE <= clock.now <= began + 30
    assert service.sent > 10


@pytest.mark.parametrize(("status", "repeated"), [(429, True), (503, False), (500, False)])
def test_what_may_do_harm_is_repeated_only_if_it_was_not_carried_out(clock, status, repeated):
    """Adding an arm, after an answer that leaves open whether it was added."""
    call = calls.change("a", add_arms=["green"])
    steps = retry.attempts(call, retry.TimeLimits())
    assert isinstance(steps.send(None), retry.Attempt)
    answer = httpx.Response(status, headers={"retry-after": "3"}, json={"detail": "busy"})
    if repeated:
        assert steps.send(answer).seconds >= 3, "as long as the service asks for"
        assert isinstance(steps.send(None), retry.Attempt)
    else:
        with pytest.raises(retry.UnavailableError, match="busy"):
            steps.send(answer)


def test_an_answer_that_is_none_of_the_service():
    """A portal that lets nobody through says 200 and shows its page."""
    page = httpx.MockTransport(lambda request: httpx.Response(200, text="<h1>Welcome</h1>"))
    with Client("http://shop", transport=page) as shop:
        experiment = shop.open("a")
        with pytest.raises(retry.UnavailableError, match="something else: <h1>Welcome"):
            experiment.decide()


def test_limits_that_make_no_sense_are_refused():
    for wrong in ({"timeout": 0}, {"patience": float("nan")}):
        with pytest.raises(InputError, match="client: "):
            Client("http://shop", **wrong)


@pytest.mark.slow
def test_lost_answers_double_nothing(running, shop, counted):
    """A third of all answers gets lost on the way; everything is there once."""
    shop.experiment("lossy", ARMS, sticky=False, policy="UCB1", credit="last")
    with LossyProxy(running.url, share=1 / 3) as proxy:
        with Client(proxy.url, running.key, patience=60) as client:
            button = client.open("lossy")
            made = [button.decide() for _ in range(60)]
            assert len({one.id for one in made}) == 60
            assert not any(button.convert(one.id).counted is False for one in made[:20])
            for number in range(20):
                button.expose(f"v{number}", "blue")
                button.convert(unit=f"v{number}", order=f"A{number}")
            button.retract(order="A1")
            told = button.expose_many({"unit": f"w{number}", "arm": "blue"} for number in range(30))
            assert len({one.id for one in told}) == 30
        assert proxy.lost > 20, "the test needs losses"
    counts = counted(running.db)["lossy"]
    assert counts["decisions"] == 60 + 20 + 30
    # by id, and by order but for the one that was retracted
    assert (counts["conversions"], counts["orders"], counts["withdrawals"]) == (20 + 19, 20, 1)


@pytest.mark.slow
def test_without_keys_lost_answers_would_double(running, shop):
    """The control: who sends again without a key makes a second decision."""
    shop.experiment("control", ARMS, sticky=False, policy="UCB1")
    before = running.api.post("/v1/experiments/control/decisions", json={}).json()
    again = running.api.post("/v1/experiments/control/decisions", json={}).json()
    assert before["id"] != again["id"]


@pytest.mark.slow
def test_what_cannot_be_repeated_is_not(running, shop):
    shop.experiment("change", ARMS)
    with LossyProxy(running.url, share=1.0) as proxy:
        client = Client(proxy.url, running.key, patience=5)
        with client, pytest.raises(ServiceUnavailable, match="PATCH"):
            client.open("change").change(add_arms=["green"])
        assert proxy.lost == 1
    assert shop.open("change").settings()["arms"] == [*ARMS, "green"]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


@pytest.mark.slow
def test_kills_and_the_fallback(tmp_path, counted):
    """The server is killed three times under load; then it is away for long."""
    db = tmp_path / "shop.db"
    port = free_port()
    server = Running(db, "--port", port)
    key = server.key
    made = []
    with Client(server.url, key, patience=120) as client:
        button = client.experiment("kills", ARMS, sticky=False, policy="UCB1")
        stop = threading.Event()

        def play():
            while not stop.is_set():
                decision = button.decide()
                button.convert(decision.id)
                made.append(decision)

        players = [threading.Thread(target=play) for _ in range(3)]
        for player in players:
            player.start()
        for _ in range(3):
            before = len(made)
            while len(made) < before + 20:
                time.sleep(0.02)
            server.stop(signal.SIGKILL)
            server = Running(db, "--port", port, key=key)
        stop.set()
        for player in players:
            player.join(60)
    server.stop()
    assert len({one.id for one in made}) == len(made) >= 60
    counts = counted(db)["kills"]
    assert counts["decisions"] == counts["conversions"] == len(made)

    with Client(server.url, key, patience=0.3, fallback={"kills": "control"}) as client:
        button = client.open("kills")
        assert button.decide(unit="v") == Decision(id=None, arm="control", outside="away")
        assert button.decide(unit="w").arm == "control"
        with pytest.raises(ServiceUnavailable, match="was not answered"):
            client.open("other").decide()
        with Running(db, "--port", port, key=key):
            # It is left alone for a second. With a key, an answer that comes too late is repeated.
            while button.decide(unit="w", key="w").id is None:
                time.sleep(0.05)
    assert counted(db)["kills"]["decisions"] == len(made) + 1
