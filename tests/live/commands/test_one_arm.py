"""One person, one arm: the first that anybody of it was shown or promised, on two machines."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from folds import same
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test
from naive.kept_arms import NaivePeople

from patientbandits import live
from patientbandits.live.log import AssignmentLine, DecisionLine
from patientbandits.live.operations.checks import check

ARMS = ["a", "b", "c"]
UNITS = st.sampled_from([f"v{number}" for number in range(5)])
MACHINES = st.sampled_from([0, 1])


def wrong(shop):
    return check(shop.store)["wrong"]


@pytest.fixture
def flag(shop):
    return shop.experiment("flag", ["a", "b"], window="30d", seed=7)


@pytest.mark.parametrize("second", ["decide", "promise"])
@pytest.mark.parametrize("first", ["decide", "promise"])
def test_the_first_arm_stays_whatever_is_joined(shop, flag, first, second):
    """An account on a phone, then on a laptop that came later with another arm."""

    def given(how, unit):
        return (
            flag.evaluate(unit, provisional=True).arm if how == "promise" else flag.decide(unit).arm
        )

    for number in range(12):
        phone, laptop, account = (f"{name}{number}" for name in ("phone", "laptop", "account"))
        arm = given(first, phone)
        shop.alias(account, phone)
        assert given(second, account) == arm
        given(second, laptop)
        shop.alias(account, laptop)
        for unit in (account, laptop, phone):
            assert given("promise", unit) == arm
            assert flag.decide(unit).arm == arm
    assert wrong(shop) == []


def test_an_arm_that_replaced_a_retired_one_stays_when_that_is_restored(flag):
    arms = {unit: flag.decide(unit).arm for unit in ("v0", "v1", "v2", "v3", "v4", "v5")}
    flag.alias("v0", "account")
    flag.change(retire=[arms["v0"]])
    arm = flag.decide("account").arm
    assert arm != arms["v0"]
    flag.change(restore=[arms["v0"]])
    assert flag.decide("v0").arm == flag.decide("account").arm == arm


def test_a_line_with_another_arm_than_the_person_s_is_a_fault(shop, flag):
    """Of a decision, and of a promise; before the units are joined it is none."""
    decided = {}
    for number in range(20):
        decided.setdefault(flag.decide(f"v{number}").arm, f"v{number}")
    flag.alias(decided["a"], decided["b"])
    flag.alias("newcomer", decided["b"])
    assert wrong(shop) == []
    first = flag.decide("newcomer").arm
    other = "ab".index({"a": "b", "b": "a"}[first])
    names = shop.journal.names
    for kind in (DecisionLine, AssignmentLine):
        with shop.store.transaction():
            head = shop.store.head(1)
            common = {"experiment": 1, "seq": head + 1, "time": shop.store.time(1, head)}
            line = kind(**common, arm=other, propensity=None, unit=names.unit("newcomer"))
            shop.store.append([line])
    assert "flag: 2 times a unit was given another arm than its person's" in wrong(shop)


class TwoMachines(RuleBasedStateMachine):
    """Every call on either of two machines; every arm is the naive one's."""

    address: str | None = None

    @initialize(seed=st.integers(0, 9))
    def begin(self, seed):
        self.folder = tempfile.TemporaryDirectory()
        self.now = 1_700_000_000.0
        where = self.address or str(Path(self.folder.name) / "shop.db")
        self.shops = [live.open(where, clock=lambda: self.now) for _ in range(2)]
        name = f"flag{len(self.shops[0].experiments())}"
        self.shops[0].experiment(name, ARMS, policy="UCB1", seed=seed)
        self.flags = [shop.open(name) for shop in self.shops]
        self.people = NaivePeople()
        self.keys = {}

    def given(self, unit, arm, promised=False):
        must = self.people.arm(unit)
        assert must in (None, arm)
        assert arm not in self.people.retired
        self.people.give(unit, arm, promised)

    @rule(machine=MACHINES, unit=UNITS)
    def decide(self, machine, unit):
        self.now += 1.0
        self.given(unit, self.flags[machine].decide(unit).arm)

    @rule(machine=MACHINES, unit=UNITS, key=st.sampled_from("xyz"))
    def decide_with_key(self, machine, unit, key):
        key = f"{unit} {key}"
        made = self.flags[machine].decide(unit, key)
        if key in self.keys:
            assert made[:2] == self.keys[key], "a repeated request has its first answer"
        else:
            self.given(unit, made.arm)
            if not made.duplicate:
                self.keys[key] = made[:2]

    @rule(machine=MACHINES, unit=UNITS, promised=st.booleans())
    def evaluate(self, machine, unit, promised):
        self.given(unit, self.flags[machine].evaluate(unit, provisional=promised).arm, promised)

    @rule(machine=MACHINES, unit=UNITS, arm=st.sampled_from(ARMS))
    def expose(self, machine, unit, arm):
        must = self.people.arm(unit)
        try:
            self.flags[machine].expose(unit, arm)
        except live.MismatchError:
            assert must not in (None, arm)
        else:
            self.people.told(unit, arm)

    @rule(machine=MACHINES, unit=UNITS, other=UNITS)
    def alias(self, machine, unit, other):
        if unit != other:
            self.flags[machine].alias(unit, other)
            self.people.join(unit, other)

    @rule(machine=MACHINES, retired=st.sets(st.sampled_from(ARMS), max_size=2))
    def retire(self, machine, retired):
        self.flags[machine].change(retired=sorted(retired))
        self.people.retired = frozenset(retired)

    @rule(machine=MACHINES, unit=UNITS, number=st.integers(0, 5))
    def order(self, machine, unit, number):
        self.flags[machine].convert(unit=unit, order=f"{unit} {number}")

    def teardown(self):
        for shop, flag in zip(self.shops, self.flags, strict=True):
            assert wrong(shop) == []
            assert same(flag)
            shop.close()
        self.folder.cleanup()


EXAMPLES = int(os.environ.get("ARM_EXAMPLES", "30"))
FEW = settings(
    max_examples=EXAMPLES,
    stateful_step_count=60,
    deadline=None,
    derandomize="ARM_EXAMPLES" not in os.environ,
    suppress_health_check=list(HealthCheck),
)


def test_two_machines(tmp_path):
    run_state_machine_as_test(TwoMachines, settings=FEW)


@pytest.mark.slow
def test_two_machines_on_postgres(fresh):
    """All on one database: each example is an experiment of its own."""
    there = type("There", (TwoMachines,), {"address": fresh("postgres")})
    run_state_machine_as_test(there, settings=settings(FEW, max_examples=EXAMPLES // 5))
