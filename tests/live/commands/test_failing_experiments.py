"""An experiment that cannot be read, or whose policy fails, fails alone."""

from __future__ import annotations

import asyncio
import threading

import pytest
from cases import policies
from folds import same
from service import Running

import patientbandits as pb
from patientbandits import live
from patientbandits.live.commands import journal
from patientbandits.live.http import schemas
from patientbandits.live.http.routes.experiments import patch_experiment, post_experiment
from patientbandits.live.policy.compiling import OwnProcess
from patientbandits.live.policy.memory import PolicyMemory
from patientbandits.live.policy.state import PolicyState
from patientbandits.live.server import process

FORGETS_NOT = policies("AdaptPatientBandits")[1]


def two(shop):
    return [shop.experiment(name, ["a", "b"], policy=pb.UCB1(), seed=1) for name in ("bad", "good")]


def unreadable(store, name):
    """A policy that this version does not know."""
    experiment = store.experiment(name).id
    with store.transaction():
        store.many(
            "UPDATE log SET settings = replace(settings, 'UCB1', 'Gone') WHERE experiment = ?",
            [(experiment,)],
        )


def test_an_unreadable_experiment_fails_alone(address, clock):
    with live.open(address, clock=clock) as shop:
        two(shop)
        unreadable(shop.store, "bad")
    with live.open(address, clock=clock) as shop:
        bad, good = (shop.open(name) for name in ("bad", "good"))
        for turn in range(1, 4):
            commands = [bad.decide_command(), good.decide_command(), bad.decide_command()]
            shop.journal.execute(commands)
            assert commands[1].outcome.arm in "ab"
            for failed in commands[::2]:
                assert isinstance(failed.error, live.UnavailableError)
                assert "Gone" in str(failed.error)
            assert shop.journal.experiment_failures == min(turn, 2), "then it rests"
        assert shop.store.head(bad.experiment.id) == 1
        assert shop.store.head(good.experiment.id) == 4
        assert same(good)


def test_it_is_tried_again(fresh, clock, monkeypatch):
    monkeypatch.setattr(journal, "REST", 0.0)
    with live.open(fresh("sqlite"), clock=clock) as shop:
        bad, _ = two(shop)
        with monkeypatch.context() as patch:
            patch.setattr(PolicyMemory, "apply", lambda *arguments, **named: 1 / 0)
            for _ in range(3):
                with pytest.raises(live.UnavailableError, match="ZeroDivisionError"):
                    bad.decide()
        assert bad.decide().arm in "ab"
        assert same(bad)


def test_a_failure_half_way_leaves_nothing(address, clock, monkeypatch):
    """A policy that cannot forget is built anew in the middle of a batch."""
    with live.open(address, clock=clock) as shop:
        good = shop.experiment("good", ["a", "b"], policy=pb.UCB1(), seed=1)
        bad = shop.experiment("bad", ["a", "b"], policy=FORGETS_NOT, seed=1)
        good.decide()
        made = bad.decide()
        bad.convert(made.id)
        head = shop.store.head(bad.experiment.id)
        commands = [bad.retract_command(made.id), bad.decide_command(), good.decide_command()]
        with monkeypatch.context() as patch:
            patch.setattr(PolicyState, "_restart", lambda *arguments: 1 / 0)
            shop.journal.execute(commands)
        assert all(isinstance(command.error, live.UnavailableError) for command in commands[:2])
        assert commands[2].outcome.arm in "ab"
        assert shop.store.head(bad.experiment.id) == head
        assert shop.store.head(good.experiment.id) == 3
        assert bad.retract(made.id) == (False,)
        assert same(bad)
        assert same(good)


def test_a_change_is_tried_before_it_counts(fresh, clock, monkeypatch):
    """A policy that cannot decide is found when it is asked for, not when traffic comes."""
    with live.open(fresh("sqlite"), clock=clock) as shop:
        button, _ = two(shop)
        planned = button.planned(policy=pb.KLUCB(), add_arms=["c"])
        assert planned.policy == pb.KLUCB()
        assert planned.arms == ("a", "b", "c")
        assert button.settings.arms == ("a", "b"), "nothing was written"
        assert shop.store.head(button.experiment.id) == 1
        with pytest.raises(live.RefusedError, match="steps must be at most 1000"):
            button.change(policy=pb.BootstrappedThompson(steps=10**9))


def test_a_policy_within_another_must_decide_quickly_too(fresh, clock):
    slow = pb.FloorMixture(base=pb.BootstrappedThompson(steps=10**9))
    with live.open(fresh("sqlite"), clock=clock) as shop:
        button, _ = two(shop)
        with pytest.raises(live.RefusedError, match="steps must be at most 1000"):
            button.change(policy=slow)


def test_over_http_a_change_is_made_ready_before_it_counts(tmp_path, clock):
    """What fails or takes long does so before the change is in the log, not after."""
    with live.open(str(tmp_path / "shop.db"), clock=clock) as shop:
        button = shop.experiment("button", ["a", "b"], policy="Uniform")
        before = button.settings
        seen = []

        class Unready:
            async def experiment(self, name):
                return button

            async def aside(self, work):
                return work()

            def warm(self, settings):
                seen.append(settings.policy)
                raise live.RefusedError("it cannot be made ready")

        class Asking:
            part = "button"

            def read(self, kind):
                return kind(policy={"policy": "UCB1"})

        with pytest.raises(live.RefusedError, match="made ready"):
            asyncio.run(patch_experiment(Unready(), Asking()))
        assert [policy.owner for policy in seen] == ["UCB1"]
        assert button.settings == before


def test_a_server_is_ready_whichever_experiment_cannot_be_read(tmp_path, clock, monkeypatch):
    monkeypatch.setattr(OwnProcess, "used", False)
    monkeypatch.setattr(process, "freeze_gc", lambda: None)
    path = str(tmp_path / "shop.db")
    with live.open(path, clock=clock) as shop:
        two(shop)
        unreadable(shop.store, "bad")
    with live.open(path, clock=clock) as shop:
        process.prepare(shop)
        assert list(shop.journal._states) == [shop.open("good").experiment.id]


def test_a_server_serves_the_others_and_counts_the_failures(tmp_path, clock):
    path = tmp_path / "shop.db"
    with live.open(str(path), clock=clock) as shop:
        two(shop)
        unreadable(shop.store, "bad")
    with Running(path, "--no-keys") as server:  # which waits until it is ready
        statuses = [
            server.api.post(f"/v1/experiments/{name}/decisions", json={}).status_code
            for name in ("bad", "good")
        ]
        assert statuses == [503, 201]
        assert "patientbandits_experiment_failures_total 1.0" in server.api.get("/metrics").text


class Watched:
    """A service that notes in which thread policies are made ready, and refuses them."""

    def __init__(self, shop):
        self.shop = shop
        self.threads = []

    async def experiment(self, name):
        return self.shop.open(name)

    async def aside(self, work):
        return await asyncio.to_thread(work)

    def warm(self, settings):
        self.threads.append(threading.current_thread())
        raise live.RefusedError("it cannot be made ready")


class Asked:
    """A request with this body."""

    part = "button"

    def __init__(self, body):
        self._body = body

    def read(self, kind):
        return self._body


@pytest.mark.parametrize(
    ("handler", "body"),
    [
        (patch_experiment, schemas.Change(policy={"policy": "UCB1"})),
        (post_experiment, schemas.NewExperiment(name="other", arms=["a", "b"])),
    ],
    ids=["change", "new"],
)
def test_a_policy_is_made_ready_aside_and_before_it_counts(tmp_path, clock, handler, body):
    with live.open(str(tmp_path / "shop.db"), clock=clock) as shop:
        button = shop.experiment("button", ["a", "b"], policy="Uniform")
        before = button.settings
        service = Watched(shop)
        with pytest.raises(live.RefusedError, match="made ready"):
            asyncio.run(handler(service, Asked(body)))
        assert threading.main_thread() not in service.threads, "all others would wait"
        assert [handle.name for handle in shop.experiments()] == ["button"]
        assert button.settings == before
