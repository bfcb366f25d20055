"""The journal: random sequences of everything, against a model of what must be true (a list of
decisions and three numbers); decisions stored in bulk are those made one by one."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass

import pytest
from cases import policies
from folds import counts, same
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from msgspec.structs import replace

import patientbandits as pb
from patientbandits import live
from patientbandits.live.commands.draft import SKEW
from patientbandits.live.log.chain import decision_columns
from patientbandits.live.log.records import OpenDecision
from patientbandits.live.policy.memory import PolicyMemory
from patientbandits.live.storage import base
from patientbandits.live.storage.identifiers import Signer

ARMS = ["a", "b", "c"]
POLICIES = [pb.UCB1(), pb.CalendarThompson(), policies("AdaptPatientBandits")[1]]
VALUES = [0.0, 0.25, 1 / 3, 1e-6, 1.0]
BAD = [float("nan"), float("inf"), -0.5, 1.5, "1", True, None]
MICRO = 10**6
NAMES = itertools.count()

units, keys = st.sampled_from([None, "u", "v", "w"]), st.sampled_from([None, None, "k", "l", "m"])
places = st.integers(0, 10**6)


@dataclass
class Made:
    """A decision, and what became of it; times in microseconds."""

    id: str
    arm: str
    time: int
    unit: str | None
    key: str | None
    value: int | None = None
    happened: int = 0
    stated: int | None = None
    retracted: bool = False


class Machine(RuleBasedStateMachine):
    def __init__(self, address):
        super().__init__()
        self.address, self.clock = address, 1_700_000_000
        self.left_open = []
        self.shop = self.opened()
        self.made: list[Made] = []
        self.arms, self.retired, self.window, self.sticky, self.paused = (
            ["a", "b", "c"],
            [],
            None,
            False,
            False,
        )
        self.last = self.clock * MICRO

    def opened(self):
        return live.open(self.address, clock=lambda: float(self.clock))

    @initialize(policy=st.sampled_from(POLICIES), sticky=st.booleans())
    def create(self, policy, sticky):
        self.sticky = sticky
        self.name = f"e{next(NAMES)}"
        self.button = self.shop.experiment(
            self.name, self.arms, policy=policy, sticky=sticky, seed=1
        )

    def teardown(self):
        if hasattr(self, "button"):
            assert same(self.button)
        for shop in (self.shop, *self.left_open):
            shop.close()

    # --- the model

    @property
    def now(self):
        return max(self.clock * MICRO, self.last)

    def write(self):
        """A line is written now."""
        self.last = self.now

    def counted(self, made):
        in_time = self.window is None or made.happened - made.time <= self.window * MICRO
        return made.value is not None and not made.retracted and in_time

    def before(self, unit, key):
        """The decision that a request repeats, if it does."""
        for made in self.made:
            if key is not None and made.key == key:
                return made
        if unit is not None and self.sticky:
            for made in reversed(self.made):
                if made.unit == unit and made.arm not in self.retired:
                    return made
        return None

    def check_decision(self, unit, key, outcome, error):
        made = self.before(unit, key)
        if made is not None and key is not None and made.key == key and made.unit != unit:
            assert isinstance(error, live.MismatchError)
        elif made is not None:
            assert (outcome.id, outcome.arm, outcome.duplicate) == (made.id, made.arm, True)
        elif self.paused:
            assert isinstance(error, live.ConflictError)
        else:
            assert not outcome.duplicate
            assert outcome.arm in set(self.arms) - set(self.retired)
            assert outcome.id not in {other.id for other in self.made}
            self.write()
            self.made.append(Made(outcome.id, outcome.arm, self.now, unit, key))

    def check_conversion(self, made, value, at, outcome, error):
        amount, stated = round(value * MICRO), None if at is None else at * MICRO
        if made.value is not None:
            said = made.happened if made.stated is None else made.stated
            if made.value != amount or stated not in (None, said):
                assert isinstance(error, live.MismatchError)
            else:
                assert outcome == (True, self.counted(made))
        elif stated is not None and self.impossible(made, stated):
            assert type(error) is live.RefusedError
        else:
            self.write()
            by_clock = self.clock * MICRO
            happened = max(by_clock if stated is None else min(stated, by_clock), made.time)
            made.value, made.happened, made.stated = amount, happened, stated
            assert outcome == (False, self.counted(made))

    def impossible(self, made, stated):
        """In the future by the clock, or before a decision that the clock does not contradict."""
        by_clock = self.clock * MICRO
        too_early = made.time <= by_clock + SKEW and stated < made.time - SKEW
        return too_early or stated > by_clock + SKEW

    def check_retraction(self, made, outcome, error):
        if made.value is None:
            assert isinstance(error, live.ConflictError)
        else:
            assert outcome == (made.retracted,)
            if not made.retracted:
                self.write()
            made.retracted = True

    # --- what can happen

    @rule(seconds=st.sampled_from([1, 1, 30, 299, 301, 4000, -50, -400]))
    def time_passes(self, seconds):
        self.clock += seconds

    @rule(wanted=st.lists(st.tuples(units, keys), min_size=1, max_size=5))
    def decide(self, wanted):
        commands = [self.button.decide_command(unit, key) for unit, key in wanted]
        self.shop.journal.execute(commands)
        for (unit, key), command in zip(wanted, commands, strict=True):
            self.check_decision(unit, key, command.outcome, command.error)

    @precondition(lambda self: self.made)
    @rule(
        items=st.lists(
            st.tuples(
                places,
                st.sampled_from(VALUES),
                st.sampled_from([None, None, 0, 30, -200, 350, -5000]),
            ),
            min_size=1,
            max_size=8,
        )
    )
    def convert(self, items):
        chosen = [self.made[place % len(self.made)] for place, _, _ in items]
        ats = [None if offset is None else self.clock + offset for _, _, offset in items]
        commands = [
            self.button.convert_command(made.id, item[1], at)
            for made, item, at in zip(chosen, items, ats, strict=True)
        ]
        self.shop.journal.execute(commands)
        for made, item, at, command in zip(chosen, items, ats, commands, strict=True):
            self.check_conversion(made, item[1], at, command.outcome, command.error)

    @precondition(lambda self: self.made)
    @rule(
        items=st.lists(
            st.tuples(places, st.sampled_from(["retract", "retract", "convert", "decide"])),
            min_size=1,
            max_size=5,
        )
    )
    def retract(self, items):
        chosen = [self.made[place % len(self.made)] for place, _ in items]
        make = {
            "retract": self.button.retract_command,
            "convert": self.button.convert_command,
            "decide": lambda _: self.button.decide_command(),
        }
        commands = [make[kind](made.id) for made, (_, kind) in zip(chosen, items, strict=True)]
        self.shop.journal.execute(commands)
        for made, (_, kind), command in zip(chosen, items, commands, strict=True):
            if kind == "retract":
                self.check_retraction(made, command.outcome, command.error)
            elif kind == "convert":
                self.check_conversion(made, 1.0, None, command.outcome, command.error)
            else:
                self.check_decision(None, None, command.outcome, command.error)

    @precondition(lambda self: self.made)
    @rule()
    def repeat(self):
        """Whatever was told is told again, word for word."""
        paid, gone = (
            [made for made in self.made if made.value is not None],
            [made for made in self.made if made.retracted],
        )
        kept = [made for made in self.made if made.key is not None]
        ats = [None if made.stated is None else made.stated / MICRO for made in paid]
        commands = [
            self.button.convert_command(made.id, made.value / MICRO, at)
            for made, at in zip(paid, ats, strict=True)
        ]
        commands += [self.button.retract_command(made.id) for made in gone]
        commands += [self.button.decide_command(made.unit, made.key) for made in kept]
        self.shop.journal.execute(commands)
        answers = [command.outcome for command in commands]
        assert answers[: len(paid)] == [(True, self.counted(made)) for made in paid]
        assert answers[len(paid) : len(paid) + len(gone)] == [(True,)] * len(gone)
        again = answers[len(paid) + len(gone) :]
        assert [(answer.id, answer.arm, answer.duplicate) for answer in again] == [
            (made.id, made.arm, True) for made in kept
        ]

    @rule(place=places, seq=st.integers(0, 200), value=st.sampled_from(BAD))
    def nonsense(self, place, seq, value):
        forged = Signer(b"no").name(self.button.experiment.id, seq)
        for call in (self.button.convert, self.button.retract):
            with pytest.raises(live.NotFoundError):
                call(forged)
        with pytest.raises(live.NotFoundError):
            self.button.convert(
                self.shop.journal.signer.name(self.button.experiment.id, 10**6 + seq)
            )
        if self.made:
            with pytest.raises(live.RefusedError):
                self.button.convert(self.made[place % len(self.made)].id, value)

    def change(self, **changes):
        before = self.button.settings
        self.button.change(**changes)
        if self.button.settings != before:
            self.write()

    @rule(policy=st.sampled_from(POLICIES))
    def change_policy(self, policy):
        self.change(policy=policy)

    @rule(window=st.sampled_from([None, 1.0, 60.0, 3600.0]))
    def change_window(self, window):
        self.change(window=window)
        self.window = window

    @rule(retired=st.lists(st.sampled_from("abcd"), max_size=2, unique=True))
    def change_arms(self, retired):
        self.change(arms=["a", "b", "c", "d"], retired=retired)
        self.arms, self.retired = ["a", "b", "c", "d"], retired

    @rule(sticky=st.booleans(), paused=st.booleans())
    def change_flags(self, sticky, paused):
        self.change(sticky=sticky, paused=paused)
        self.sticky, self.paused = sticky, paused

    @rule(how=st.sampled_from(["close", "drop", "beside"]))
    def another_shop(self, how):
        """Closed properly; or left as by a crash; or a second one goes on beside the first."""
        if how == "close":
            self.shop.close()
        elif how == "drop":
            self.shop.store.close()  # the journal is not told
        else:
            self.left_open.append(self.shop)
        self.shop = (
            self.left_open.pop(0) if how == "beside" and len(self.left_open) > 2 else self.opened()
        )
        self.button = self.shop.open(self.name)

    @rule()
    def rebuild(self):
        assert same(self.button)

    @invariant()
    def counts_are_the_models(self):
        if hasattr(self, "button"):
            expected = {}
            for made in self.made:
                if made.arm not in self.retired:
                    pulls, paid = expected.get(made.arm, (0, 0))
                    expected[made.arm] = (
                        pulls + 1,
                        paid + made.value * self.counted(made) if made.value else paid,
                    )
            assert counts(self.button) == expected


@pytest.mark.slow
def test_model(address):
    checks = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
    few = settings(
        max_examples=25,
        stateful_step_count=50,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=checks,
    )
    run_state_machine_as_test(lambda: Machine(address), settings=few)


def decide_one_by_one(memory, first, number, time):
    """As `PolicyMemory.decide`, with a record for each."""
    lines = [OpenDecision(experiment=1, seq=seq, time=time) for seq in range(first, first + number)]
    return memory.apply([memory.decision(line) for line in lines], deciding=True)[0]


def played(address, clock, monkeypatch, bulk, **settings):
    """(answers, log, appends in bulk and others) of the same requests, either way."""
    counts = {True: 0, False: 0}

    def columns(lines):
        found = decision_columns(lines) if bulk else None
        counts[found is not None] += 1
        return found

    monkeypatch.setattr(base, "decision_columns", columns)
    if not bulk:
        monkeypatch.setattr(PolicyMemory, "decide", decide_one_by_one)
    clock.now = 1_700_000_000.0
    chance = random.Random(11)
    answers = []
    with live.open(address, clock=clock, units="clear") as shop:
        button = shop.experiment("button", arms=ARMS, seed=7, **settings)
        for turn in range(60):
            clock.now += chance.random() * 100
            names = [f"{turn}-{j}" for j in range(chance.randrange(1, 130))]
            commands = [
                button.decide_command(
                    unit=chance.choice([None, name, f"old {chance.randrange(50 + 300 * turn)}"]),
                    key=chance.choice([None, name]),
                )
                for name in names
            ]
            if turn % 3 == 0:
                commands = [button.decide_command(key=name) for name in names]
            shop.journal.execute(commands)
            answers += [(one.outcome[1:], str(one.error)) for one in commands]
            if turn % 5 == 0 and commands[0].outcome.id:
                button.convert(commands[0].outcome.id)
        with shop.store.reading() as reader:
            lines = reader.lines(button.experiment.id, 1)
            assert reader.broken_chain(button.experiment.id) is None
    return answers, [replace(line, chain=line.chain[16:]) for line in lines], counts


@pytest.mark.parametrize(
    "settings",
    [
        {"sticky": False},
        {"sticky": True},
        {"sticky": False, "policy": "Uniform"},
        {"sticky": False, "shares": {"minimum": 0.1}},
        {"sticky": False, "shares": {"control": 0.2}, "control": "a"},
    ],
    ids=["plain", "sticky", "uniform", "shares", "control"],
)
def test_the_same_log_either_way(fresh, clock, monkeypatch, settings):
    bulk = played(fresh("sqlite"), clock, monkeypatch, True, **settings)
    other = played(fresh("sqlite"), clock, monkeypatch, False, **settings)
    assert bulk[0] == other[0]
    assert bulk[1] == other[1]
    assert other[2][True] == 0
    assert bulk[2][True] >= 20
    assert bulk[2][False] >= 10


def test_both_stores_write_the_same(fresh, clock, monkeypatch):
    one = played(fresh("sqlite"), clock, monkeypatch, True, sticky=True)
    other = played(fresh("postgres"), clock, monkeypatch, True, sticky=True)
    assert one == other
