"""The client for programs elsewhere: the library's names, and nothing doubled, whatever is lost."""

from __future__ import annotations

import asyncio
import inspect
import json
import signal
import socket
import threading
import time
from datetime import UTC, datetime

import pytest
from lossy import LossyProxy
from service import Running, command

from patientbandits import live
from patientbandits.client import (
    AsyncClient,
    AsyncRemoteExperiment,
    AwayError,
    Client,
    NoAccessError,
    RemoteExperiment,
)
from patientbandits.errors import InputError
from patientbandits.live import (
    ConflictError,
    Conversion,
    Credited,
    Decision,
    MismatchError,
    NotFoundError,
    RefusedError,
)
from patientbandits.live.experiment import ExperimentHandle

pytestmark = pytest.mark.slow

ARMS = ["control", "blue"]


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with Running(tmp_path_factory.mktemp("client") / "shop.db") as server:
        yield server


@pytest.fixture(scope="module")
def shop(running):
    with Client(running.url, running.key) as client:
        yield client


def counted(db):
    """What `check` finds in the database, which must be in order."""
    done = command("check", "--db", db, "--json")
    assert done.returncode == 0, done.stdout
    return {one["experiment"]: one for one in json.loads(done.stdout)["experiments"]}


def test_the_names_of_the_library():
    """Every call has the library's name and takes the library's arguments."""
    names = [name for name in vars(RemoteExperiment) if not name.startswith("_")]
    for name in sorted(set(names) - {"expose_many", "convert_many", "settings"}):
        theirs = [*inspect.signature(getattr(ExperimentHandle, name)).parameters]
        ours = [*inspect.signature(getattr(RemoteExperiment, name)).parameters]
        later = [*inspect.signature(getattr(AsyncRemoteExperiment, name)).parameters]
        assert ours == later
        if name not in ("change", "evaluate"):
            assert ours == theirs, name
    assert {"decide", "convert", "retract", "expose", "weights", "report", "verdict"} <= set(names)
    for name in ("track", "alias", "open", "experiments"):
        assert hasattr(live.Shop, name)
        assert hasattr(Client, name)
        assert hasattr(AsyncClient, name)


def test_a_first_experiment(shop):
    button = shop.experiment("first", ARMS, window="30d", largest_value=100, goals=["buy", "cart"])
    assert button.settings()["window_text"] == "30d"
    made = button.decide(unit="v")
    assert isinstance(made, Decision)
    assert made.arm in ARMS
    assert button.decide(unit="v") == made._replace(duplicate=True)
    assert button.convert(made.id, 50, at=datetime.now(UTC)) == Conversion(False, True)
    assert button.convert(unit="v", order="A", value=20) == Credited(False, True, True)
    assert button.convert(unit="v", order="A", value=20).duplicate
    assert button.retract(order="A").duplicate is False
    assert shop.track("v", "B", 5, goal="cart")["first"].counted
    assert shop.alias("v", "account").duplicate is False
    assert button.decide(unit="account").id == made.id
    assert button.evaluate("account").id == made.id
    assert shop.evaluate_all("nobody")["first"].id is None
    assert sum(button.weights().values()) == pytest.approx(1)
    assert sum(arm["pulls"] for arm in button.report()["arms"]) == 1
    assert button.timeseries()
    assert button.verdict()["words"]
    rows = b"".join(button.export()).decode().splitlines()
    assert made.id in rows[1]
    with pytest.raises(RefusedError, match="format"):
        list(button.export("xls"))
    assert button.change(paused=True)["paused"]
    assert [one.name for one in shop.experiments()] == ["first"]


def test_errors(running, shop):
    shop.experiment("errors", ARMS)
    button = shop.open("errors")
    with pytest.raises(NotFoundError, match="none of this name"):
        shop.open("none").decide()
    with pytest.raises(ConflictError):
        shop.experiment("errors", ["other", "arms"])
    with pytest.raises(RefusedError, match="value"):
        button.convert(button.decide().id, value=7)
    button.convert(unit="w", order="A", value=1)
    with pytest.raises(MismatchError):
        button.convert(unit="w", order="A", value=0.5)
    with Client(running.url, "pb_d_wrong") as other, pytest.raises(NoAccessError):
        other.open("errors").decide()
    for wrong in ({"url": "localhost"}, {"timeout": 0}, {"patience": float("nan")}):
        with pytest.raises(InputError, match="client: "):
            Client(**({"url": running.url} | wrong))


def test_many_at_once(shop):
    button = shop.experiment("many", ARMS, policy="UCB1")
    exposures = [{"unit": f"v{number}", "arm": "blue"} for number in range(1500)]
    exposures[7] = {"unit": "x", "arm": "none"}
    told = button.expose_many(exposures)
    assert len(told) == 1500
    assert isinstance(told[7], RefusedError)
    assert not any(one.duplicate for number, one in enumerate(told) if number != 7)
    conversions = [{"unit": f"v{number}", "order": f"A{number}"} for number in range(1100)]
    conversions += [{"id": "forged"}, {"id": told[0].id, "value": 1}]
    made = button.convert_many(conversions)
    assert [one.counted for one in made[:7]] == [True] * 7
    assert isinstance(made[1100], NotFoundError)
    assert sum(arm["pulls"] for arm in button.report()["arms"]) == 1499


def test_lost_answers_double_nothing(running, shop):
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
    found = counted(running.db)["lossy"]
    assert found["decisions"] == 60 + 20 + 30
    assert (found["conversions"], found["orders"], found["withdrawals"]) == (20, 20, 1)


def test_without_keys_lost_answers_would_double(running, shop):
    """The control: who sends again without a key makes a second decision."""
    shop.experiment("control", ARMS, sticky=False, policy="UCB1")
    before = running.api.post("/v1/experiments/control/decisions", json={}).json()
    again = running.api.post("/v1/experiments/control/decisions", json={}).json()
    assert before["id"] != again["id"]


def test_what_cannot_be_repeated_is_not(running, shop):
    shop.experiment("change", ARMS)
    with LossyProxy(running.url, share=1.0) as proxy:
        client = Client(proxy.url, running.key, patience=5)
        with client, pytest.raises(AwayError, match="PATCH"):
            client.open("change").change(add_arms=["green"])
        assert proxy.lost == 1
    assert shop.open("change").settings()["arms"] == [*ARMS, "green"]


def test_the_asynchronous_client(running, shop):
    async def play():
        with LossyProxy(running.url, share=1 / 4, seed=2) as proxy:
            async with AsyncClient(proxy.url, running.key, patience=60) as client:
                button = await client.experiment("async", ARMS, sticky=False, policy="UCB1")
                made = await asyncio.gather(*[button.decide() for _ in range(30)])
                await asyncio.gather(*[button.convert(one.id) for one in made[:10]])
                many = [{"id": one.id} for one in made[10:20]]
                assert all(one.counted for one in await button.convert_many(many))
                assert sum((await button.weights()).values()) == pytest.approx(1)
                pieces = [piece async for piece in button.export()]
                assert len(b"".join(pieces).splitlines()) == 31
                assert "async" in [one.name for one in await client.experiments()]
                with pytest.raises(NotFoundError):
                    await client.open("none").decide()
            return proxy.lost

    assert asyncio.run(play()) > 3
    found = counted(running.db)["async"]
    assert (found["decisions"], found["conversions"]) == (30, 20)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as found:
        return found.getsockname()[1]


def test_kills_and_the_fallback(tmp_path):
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
    found = counted(db)["kills"]
    assert found["decisions"] == found["conversions"] == len(made)

    with Client(server.url, key, patience=0.3, fallback={"kills": "control"}) as client:
        button = client.open("kills")
        assert button.decide(unit="v") == Decision(id=None, arm="control", outside="away")
        began = time.monotonic()
        assert button.decide(unit="w").arm == "control"
        assert time.monotonic() - began < 0.2, "a service that is away is not asked each time"
        with pytest.raises(AwayError, match="was not answered"):
            client.open("other").decide()
        time.sleep(1.0)
        with Running(db, "--port", port, key=key):
            assert button.decide(unit="w").id
    assert counted(db)["kills"]["decisions"] == len(made) + 1
