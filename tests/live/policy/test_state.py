"""A policy's state is a function of the log: running on, rebuilding, growing and resuming give the
same, and so does a simulation."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from cases import LAW, policies
from folds import counts, equal, memories_equal, running, same

import patientbandits as pb
from patientbandits import live
from patientbandits.live.commands.commands import Convert, Decide, Retract
from patientbandits.live.commands.journal import split_batch
from patientbandits.live.log.records import (
    ConversionLine,
    Decided,
    DecisionLine,
    Experiment,
    OpenDecision,
)
from patientbandits.live.policy import memory as policy_memory
from patientbandits.live.policy import state as policy_state
from patientbandits.live.policy.memory import PolicyMemory
from patientbandits.live.policy.state import PolicyState, decision_made
from patientbandits.live.settings.parsing import new_settings
from patientbandits.policies import POLICIES

pytestmark = pytest.mark.slow

ALLOWED = [
    name for name, kind in POLICIES.items() if getattr(kind, "feedback", "rewards") == "rewards"
]
ALL = pytest.mark.parametrize("name", ALLOWED)
CHOSEN = pytest.mark.parametrize("name", [name for name in ALLOWED if name != "Thompson"])
"""The service draws Thompson's arms from the chances that it logs."""
SIX_ARMS = pb.Problem(
    [0.3, 0.5, 0.45, 0.8, 0.1, 0.7],
    [pb.Lomax(0.7, 10), LAW, pb.Pareto(0.5), pb.Fixed(7), pb.NoDelay(), pb.Geometric(0.1)],
    [pb.TwoPoint(0.25, 0.75), pb.Scaled(0.5), *[pb.Bernoulli()] * 4],
)
"""Every reward is a whole number of millionths."""


def play(shop, button, clock, problem, times, seed):
    """The arms chosen at ``times`` in the world of `simulate`; what has arrived is reported
    before, in the same batch."""
    world, due, arms = naive.World(problem.describe(), len(times), seed, 0), {}, []
    for t, time in enumerate(times, 1):
        clock.now = time
        decide = button.decide_command()
        shop.journal.execute(
            [*(button.convert_command(id, value, at) for id, value, at in due.pop(t, [])), decide]
        )
        arm = int(decide.outcome.arm)
        outcome = world.pull(t, arm)
        if outcome.reward > 0 and outcome.delay < len(times):
            due.setdefault(t + max(outcome.delay, 1), []).append(
                (decide.outcome.id, outcome.reward, time + outcome.delay)
            )
        arms.append(arm)
    return arms


@CHOSEN
def test_live_equals_simulation(fresh, clock, name):
    """The clock shows the number of the round; the experiment begins at 0."""
    rounds, seed = 130, 11
    for j, policy in enumerate(policies(name)):
        for store in ("sqlite", "postgres") if j == 0 else ("sqlite",):
            clock.now = 0.0
            with live.open(fresh(store), clock=clock) as shop:
                button = shop.experiment(
                    "button", [str(arm) for arm in range(6)], policy=policy, seed=seed
                )
                arms = play(
                    shop, button, clock, SIX_ARMS, [float(t) for t in range(1, rounds + 1)], seed
                )
                assert same(button)
            result = pb.simulate(
                SIX_ARMS, policy, rounds, 1, seed=seed, record=range(1, rounds + 1), anytime=True
            )
            regret = naive.regret(
                SIX_ARMS.describe(), [naive.Pull(0, arm, 0.0, 0.0) for arm in arms]
            )
            assert regret == result.regret[0].tolist(), policy


@CHOSEN
def test_live_equals_the_loop_at_any_times(fresh, clock, name):
    """Against `Bandit`, interpreted: decisions at irregular times, several in one moment, and a
    long pause."""
    rng = np.random.default_rng(3)
    steps = (
        rng.integers(0, 200, 90) * (rng.random(90) < 0.7) / 64
    )  # a 64th of a second is a whole number of microseconds
    steps[40] = 90_000.0
    times = 1_700_000_000.0 + np.cumsum(steps)
    policy = policies(name)[-1]
    clock.now = times[0] - 1.0
    with live.open(fresh("sqlite"), clock=clock) as shop:
        button = shop.experiment("button", ["a", "b", "c"], policy=policy, seed=7)
        learner, waiting = pb.Bandit(policy, ["a", "b", "c"], seed=7), []
        for j, time in enumerate(times):
            clock.now = float(time)
            since = float(time - times[0] + 1.0)
            for pull, id in [pair for pair in waiting if rng.random() < 0.2]:
                waiting.remove((pull, id))
                button.convert(id, 0.5)
                learner.reward(pull, 0.5, since)
            made, pull = button.decide(), learner.pull(since)
            assert made.arm == pull.arm, (policy, j)
            if rng.random() < 0.6:
                waiting.append((pull.id, made.id))
        assert same(button)


def history(shop, clock, policy, name="button"):
    """An experiment to which everything happens."""
    rng = np.random.default_rng(5)
    button = shop.experiment(name, ["a", "b", "c"], policy=policy, seed=9)
    made = []
    for j in range(12):
        clock.now += float(rng.integers(0, 10**7)) / 10**6
        batch = [button.decide_command() for _ in range(int(rng.integers(1, 9)))]
        shop.journal.execute(batch)
        made += [item.outcome.id for item in batch]
        shop.journal.execute(
            [
                button.convert_command(made[k], float(rng.random()))
                for k in rng.integers(0, len(made), 3)
            ]
        )
        clock.now += float(rng.integers(0, 10**7)) / 10**6
        if j in (4, 7):
            shop.journal.execute(
                [button.retract_command(id) for id in made[::5]] + [button.decide_command()]
            )
        if j == 5:
            button.change(retired=["b"])
        if j == 6:
            button.change(paused=True)
            button.change(paused=False, window=40.0)
        if j == 8:
            button.change(arms=["a", "b", "c", "d"], retired=["c"])
        if j == 9:
            button.change(policy="KLUCB")
            button.change(policy=policy)
    return button


@ALL
def test_rebuilding_gives_the_same_as_running_on(fresh, clock, name):
    for j, policy in enumerate(policies(name)):
        with live.open(fresh("postgres" if j == 0 else "sqlite"), clock=clock) as shop:
            button = history(shop, clock, policy)
            assert same(button), policy
            assert counts(button)


@pytest.mark.parametrize(
    "policy",
    [pb.UCB1(), pb.CalendarThompson(), *policies("AdaptPatientBandits")[1:2]],
    ids=lambda policy: policy.owner,
)
def test_snapshots(address, clock, policy, monkeypatch):
    """What is saved at the end, or on the way, is used at the next start, and changes nothing."""
    with live.open(address, clock=clock) as shop:
        button = history(shop, clock, policy)
        expected = running(button)
    monkeypatch.setattr(policy_state, "SNAPSHOT_EVERY", 20)
    with live.open(address, clock=clock) as shop:
        button = shop.open("button")
        with monkeypatch.context() as patch:
            patch.setattr(PolicyState, "_restart", None)  # would fail
            equal(running(button), expected)
        arms = [button.decide().arm for _ in range(25)]
        assert shop.store.snapshot_name(button.experiment.id)[0] == expected.seq + 20
    with live.open(address, clock=clock) as shop:
        with shop.store.transaction():
            shop.store.many("UPDATE snapshots SET state = ?", [(b"damaged",)])
        button = shop.open("button")
        assert same(button)
        lines = shop.store.lines(button.experiment.id, expected.seq)
    with live.open(address, clock=clock) as shop:
        names = shop.open("button").settings.arms
        assert [names[line.arm] for line in lines if line.kind == "decision"] == arms
        with shop.store.transaction():
            shop.store.many("UPDATE snapshots SET code = ?", [("another program's",)])
        assert same(shop.open("button"))


def test_as_if_the_conversion_had_never_been(fresh, clock):
    """A policy that cannot forget begins anew without what was retracted."""
    policy = policies("AdaptPatientBandits")[1]
    with live.open(fresh("sqlite"), clock=clock) as shop:
        button = shop.experiment("button", ["a", "b"], policy=policy, seed=1)
        made = []
        for _ in range(40):
            clock.now += 1.0
            made.append(button.decide().id)
            if len(made) % 3 == 0:
                button.convert(made[-2])
        button.retract(made[4])
        lines = shop.store.lines(button.experiment.id, 0)
        undone = [
            line.seq for line in lines if getattr(line, "decision", None) == lines[-1].decision
        ]
        assert len(undone) == 2
        memory = PolicyMemory(button.experiment, button.settings)
        decided = {about.decision.seq: about for about in shop.store.all_decided(1)}
        kept = [line for line in lines if line.seq not in undone]
        events = []
        for line in kept:
            if isinstance(line, DecisionLine):
                events.append(memory.decision(line))
            elif isinstance(line, ConversionLine):
                events += memory.events(line, decided.get(line.decision))
        memory.apply(events, False)
        memories_equal(running(button).memory, memory)


@ALL
def test_memory_grows(monkeypatch, name):
    """Room that was added is as good as room from the beginning."""

    def filled(policy, room):
        monkeypatch.setattr(policy_memory, "FIRST_CAPACITY", room)
        settings = new_settings(["a", "b", "c"], policy)
        memory = PolicyMemory(Experiment(id=1, name="x", seed=4, created=0), settings)
        rng = np.random.default_rng(2)
        waiting = []
        for j in range(170):
            told = []
            for decision in waiting[:: 1 + j % 7]:
                told += memory.events(*converted(decision, j))
            del waiting[:: 1 + j % 7]
            memory.apply(told, True)
            fresh = [decision_line(seq, j) for seq in range(13 * j + 1, 13 * j + 14)]
            array, _ = memory.apply([memory.decision(line) for line in fresh], True)
            chosen = [
                decision_made(line, int(arm), 0.0)
                for line, arm in zip(fresh, array["arm"], strict=True)
            ]
            waiting += [line for line in chosen if rng.random() < 0.3]
        return memory

    def decision_line(seq, second):
        return OpenDecision(experiment=1, seq=seq, time=second * 10**6)

    def converted(decision, second):
        line = ConversionLine(
            experiment=1,
            seq=decision.seq,
            time=second * 10**6,
            decision=decision.seq,
            value=10**6,
            happened=decision.time + 10**6,
        )
        return line, Decided(decision, line)

    for policy in policies(name):
        grown, roomy = filled(policy, 1024), filled(policy, 4096)
        assert grown.made == 170 * 13 > 2048
        memories_equal(grown, roomy)


@pytest.mark.parametrize(
    "policy",
    [pb.CalendarThompson(), *policies("AdaptPatientBandits")[1:2]],
    ids=lambda policy: policy.owner,
)
def test_growth_in_the_store(address, clock, policy):
    with live.open(address, clock=clock) as shop:
        button = shop.experiment("button", ["a", "b"], policy=policy, seed=3)
        for _ in range(23):
            batch = [button.decide_command() for _ in range(100)]
            shop.journal.execute(batch)
            clock.now += 7.0
            shop.journal.execute([button.convert_command(item.outcome.id) for item in batch[::4]])
        assert running(button).memory.capacity == 4096
        assert same(button)
        expected = running(button)
    with live.open(address, clock=clock) as shop:
        equal(running(shop.open("button")), expected)


def test_memory_that_cannot_grow_is_refused():
    rough = {
        "policy": "DUCB",
        "law": pb.Empirical(range(0, 9000, 7)).describe(),
        "mode": "uncensored",
    }
    with pytest.raises(live.RefusedError, match="any number of decisions"):
        new_settings(["a"], rough)


@pytest.mark.parametrize(
    "policy",
    [pb.CalendarThompson(), *policies("AdaptPatientBandits")[1:2]],
    ids=lambda policy: policy.owner,
)
def test_two_shops_on_one_database(address, clock, policy):
    """Each sees what the other wrote: decisions, keys, conversions, retractions, changes."""
    with live.open(address, clock=clock) as one, live.open(address, clock=clock) as two:
        first = one.experiment("button", ["a", "b"], policy=policy, seed=1)
        second = two.experiment("button", ["a", "b"], policy=policy)
        assert first.experiment == second.experiment
        made = []
        for j in range(30):
            clock.now += 1.0
            writer, other = (first, second) if j % 3 else (second, first)
            made.append(writer.decide(key=str(j)))
            assert other.decide(key=str(j)) == made[-1]._replace(duplicate=True)
            if j % 4 == 1:
                other.convert(made[-2].id)
                assert writer.convert(made[-2].id) == (True, True)
            if j % 12 == 5:
                other.retract(made[-2].id)
                assert writer.retract(made[-2].id) == (True,)
            if j == 15:
                other.change(retired=["a"])
                assert writer.arms == ("b",)
            if j == 20:
                writer.change(retired=[])
        equal(running(first), running(second))
        assert same(first)
        assert len({decision.id for decision in made}) == 30


def test_not_a_number(fresh, clock, monkeypatch):
    """A policy that fails fails its own batch; others go on, and nothing of it was written."""
    with live.open(fresh("sqlite"), clock=clock) as shop:
        good, bad = (
            shop.experiment(name, ["a", "b"], policy=pb.UCB1()) for name in ("good", "bad")
        )
        bad.decide()
        running(bad)
        with monkeypatch.context() as patch:
            patch.setattr(PolicyMemory, "apply", lambda *arguments, **named: 1 / 0)
            with pytest.raises(live.UnavailableError, match="ZeroDivisionError"):
                bad.decide()
        assert shop.store.head(bad.experiment.id) == 2
        assert good.decide().arm in "ab"
        assert bad.decide().arm in "ab"
        assert same(bad)


def test_an_interrupt_leaves_nobody_waiting(fresh, clock, monkeypatch):
    with live.open(fresh("sqlite"), clock=clock) as shop:
        button = shop.experiment("button", ["a"], policy=pb.UCB1())
        others = [button.decide_command() for _ in range(3)]
        shop.journal._queue.extend(others)

        def interrupted(*arguments):
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(shop.store, "append", interrupted)
            with pytest.raises(KeyboardInterrupt):
                button.decide()
        assert all(isinstance(command.error, live.UnavailableError) for command in others)
        assert button.decide().arm == "a"
        assert shop.store.head(button.experiment.id) == 2


def test_batches_are_split(fresh, clock):
    """The memory begins anew before a decision that follows a retraction, and only there."""
    with live.open(fresh("sqlite"), clock=clock) as shop:
        button = shop.experiment("button", ["a"], policy=policies("AdaptPatientBandits")[1])
        made = button.decide()
        make = {
            "D": button.decide_command,
            "C": lambda: button.convert_command(made.id),
            "R": lambda: button.retract_command(made.id),
        }
        letters = {
            kind: letter for letter, kind in zip("DCR", (Decide, Convert, Retract), strict=True)
        }
        for text in ("D", "RRC", "DCR|D", "RCR|DD", "R|DCR|DR|D", "DDCC"):
            commands = [make[letter]() for letter in text if letter != "|"]
            assert (
                "|".join(
                    "".join(letters[type(command)] for command in part)
                    for part in split_batch(commands, running(button))
                )
                == text
            )


def test_experiments_have_their_room_in_common(tmp_path, clock):
    """Decisions, retractions and changes of several, in turns, are those of each one alone."""
    names = [f"e{number}" for number in range(4)]
    policies = [None, None, pb.UCB1(), None]
    windows = ["30d", "30d", "30d", "1d"]
    made = {}
    for together in (True, False):
        shops = [
            live.open(str(tmp_path / f"{together}-{place}.db"), clock=clock)
            for place in range(1 if together else len(names))
        ]
        handles = [
            shops[0 if together else place].experiment(
                name, ["a", "b"], policy=policies[place], window=windows[place], seed=place
            )
            for place, name in enumerate(names)
        ]
        clock.now = 1_700_000_000.0
        chosen = []
        for turn in range(60):
            clock.now += 500.0
            for place, handle in enumerate(handles):
                decision = handle.decide(f"v{turn}")
                chosen.append(decision[1:])
                if (turn + place) % 3 == 0:
                    handle.convert(decision.id)
                if turn % 11 == 5 + place % 2 and (turn + place) % 3 == 0:
                    handle.retract(decision.id)
            if turn == 30:
                handles[0].change(window="20d")
        made[together] = chosen
        states = [running(handle) for handle in handles]
        models = {id(state.memory.arrays.model) for state in states[1:2] + states[3:]}
        assert len(models) == 2, "other windows have other tables"
        if together:
            new = shops[0].experiment("new", ["a", "b"], window="30d")
            new.decide()
            assert running(new).memory.arrays.model is states[1].memory.arrays.model
        assert all(map(same, handles))
        for shop in shops:
            shop.close()
        clock.now = 1_700_000_000.0
    assert made[True] == made[False]
