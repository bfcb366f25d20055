"""An experiment that cannot be read, or whose policy fails, fails alone."""

from __future__ import annotations

import asyncio

import pytest
from cases import policies
from folds import same

import patientbandits as pb
from patientbandits import live
from patientbandits.live import journal
from patientbandits.live.http.experiment_handlers import patch_experiment
from patientbandits.live.policy_memory import PolicyMemory
from patientbandits.live.policy_state import PolicyState

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

            async def read(self, kind, limit):
                return kind(policy={"policy": "UCB1"})

        with pytest.raises(live.RefusedError, match="made ready"):
            asyncio.run(patch_experiment(Unready(), Asking()))
        assert [policy.owner for policy in seen] == ["UCB1"]
        assert button.settings == before
