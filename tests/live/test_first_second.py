"""The default policy decides without a compiler, as it would with one, and the process is small."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from server_process import SOURCE, ServerProcess

import patientbandits as pb
from patientbandits.live.policy.memory import DUMMY_EXPERIMENT, Event, PolicyMemory
from patientbandits.live.settings.parsing import new_settings
from patientbandits.policies.base import rule_of
from patientbandits.simulation.engine import replay as replay_module
from patientbandits.simulation.engine.replay import (
    CONVERSION,
    DECISION,
    EVENT,
    MILLIONTHS,
    RETRACTION,
    UNDECIDED,
    ArmTally,
    Program,
    ReplayState,
    chance_for,
    plain_replay,
)

LIBRARY = """
import json, sys
from patientbandits import live
with live.open(sys.argv[1]) as shop:
    button = shop.experiment("button", ["a", "b"])
    made = button.decide(unit="u")
    button.convert(made.id)
    button.report()
heavy = {"numba", "llvmlite", "scipy", "matplotlib", "pandas"}
print(json.dumps(sorted(heavy & set(sys.modules))))
"""


@dataclass(frozen=True)
class Turns(pb.Policy):
    """The arm pulled least: the same however it is run."""

    portable: ClassVar[bool] = True

    def index(self, arm):
        return -float(arm.pulls)


def history(events, seed):
    """(kind, time, a number that picks the pull that converts or is taken back)."""
    pick = random.Random(seed)
    now = 0.0
    for _ in range(events):
        now += pick.choice([0.0, 0.25, 1.0, 7.5, 90.0])
        kind = pick.choice([DECISION, DECISION, CONVERSION, RETRACTION])
        yield kind, now, pick.random()


PORTABLE = [
    pb.PatientThompson(),
    pb.CalendarThompson(window=400.0, forget=200.0),
    pb.CalendarThompson(earn=True),
]


class Played:
    """A policy that is told a history step by step."""

    def __init__(self, policy, arms, portable):
        rule = rule_of(policy, arms, horizon_known=False)
        arrays = policy.memory(arms, 1000)
        self.program = Program(plain_replay(rule, arrays), portable)
        self.known = ReplayState(
            numbers=tuple(rule.numbers),
            arrays=tuple(arrays),
            tally=ArmTally.empty(arms),
            chance=chance_for(3, arms),
        )
        self.made = []
        self.paid = {}

    def step(self, kind, now, draw):
        if kind == DECISION:
            event = np.array([(DECISION, UNDECIDED, len(self.made) + 1, now, 0, 0, 0, 0, 0)], EVENT)
            assert self.program.run(self.known, event, True) == (0, 0)
            self.made.append((int(event["arm"][0]), now))
            return int(event["arm"][0]), float(event["propensity"][0])
        if kind == CONVERSION:
            waiting = [pull for pull in range(len(self.made)) if pull not in self.paid]
        else:
            waiting = sorted(self.paid)
        if not waiting:
            return None
        pull = waiting[int(draw * len(waiting))]
        arm, when = self.made[pull]
        if kind == CONVERSION:
            self.paid[pull] = draw * (now - when)
        told = (kind, arm, pull + 1, now, when, self.paid[pull], MILLIONTHS // 2, 0, 0)
        self.program.run(self.known, np.array([told], EVENT), True)
        if kind == RETRACTION:
            del self.paid[pull]
        return None


@pytest.mark.parametrize("policy", PORTABLE, ids=lambda policy: policy.label)
def test_interpreted_and_compiled_decide_alike(policy):
    """Every arm, every propensity and all that is remembered, bit for bit."""
    plain = Played(policy, 3, portable=True)
    compiled = Played(policy, 3, portable=False)
    for step in history(500, seed=1):
        found = plain.step(*step)
        expected = compiled.step(*step)
        if step[0] == DECISION:
            assert found == expected
    assert not plain.program.is_compiled
    assert compiled.program.is_compiled
    names = policy.memory(3, 1)._fields
    for name, one, other in zip(names, plain.known.arrays, compiled.known.arrays, strict=True):
        if name not in policy.not_saved:
            assert np.array_equal(one, other), name
    assert len({arm for arm, _ in plain.made}) == 3


def test_only_what_a_class_says_of_itself_makes_it_portable():
    guarded = pb.GuardedThompson(guard=pb.PatientKL(0.3, c=3.0))
    assert replay_module.is_portable(pb.PatientThompson())
    assert not replay_module.is_portable(guarded)
    assert not replay_module.is_portable(pb.UCB1())


def decisions(count):
    return [Event(DECISION, UNDECIDED, seq, float(seq)) for seq in range(1, count + 1)]


@pytest.fixture
def turns(monkeypatch):
    """The memory of `Turns`, whose program no test has used before."""
    replay_module._program.cache_clear()
    settings = new_settings(["a", "b"], pb.PatientThompson().describe())
    monkeypatch.setattr(type(settings), "deciding_policy", Turns())
    return PolicyMemory(DUMMY_EXPERIMENT, settings)


def test_a_long_history_is_worth_compiling_and_a_short_one_is_not(turns, monkeypatch):
    monkeypatch.setattr(replay_module, "MANY_EVENTS", 10)
    turns.apply(decisions(10), deciding=True)
    assert not turns.program.is_compiled
    turns.apply(decisions(30)[10:], deciding=True)
    assert turns.program.is_compiled
    assert turns.tally.pulls.tolist() == [15, 15]


def test_much_time_spent_interpreting_is_worth_compiling_aside(turns, monkeypatch):
    turns.apply(decisions(4), deciding=True)
    assert not turns.program.is_compiled
    monkeypatch.setattr(replay_module, "INTERPRETED_SECONDS", 0.0)
    turns.apply(decisions(5)[4:], deciding=True)
    deadline = time.monotonic() + 120
    while not turns.program.is_compiled and time.monotonic() < deadline:
        time.sleep(0.05)
    assert turns.program.is_compiled
    turns.apply(decisions(6)[5:], deciding=True)
    assert turns.tally.pulls.tolist() == [3, 3]


def empty_cache(tmp_path):
    return {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(SOURCE)}


def test_the_library_decides_without_a_compiler(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", LIBRARY, str(tmp_path / "shop.db")],
        env=empty_cache(tmp_path),
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == []
    assert not (tmp_path / "cache").exists()


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="reads Linux's /proc")
def test_the_service_decides_without_a_compiler_and_is_small(tmp_path):
    server = ServerProcess(str(tmp_path / "shop.db"), environment=empty_cache(tmp_path))
    try:
        made = server.ask("POST", "/v1/experiments", {"name": "button", "arms": ["a", "b"]})
        assert made[0] == 201
        decided = server.ask("POST", "/v1/experiments/button/decisions", {"unit": "u"})
        assert decided[0] == 201
        with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/metrics") as answer:
            assert b"patientbandits_interpreted 1.0" in answer.read()
        process = Path(f"/proc/{server.process.pid}")
        assert "llvmlite" not in (process / "maps").read_text()
        resident = int((process / "status").read_text().split("VmRSS:")[1].split()[0])
        assert resident < 150_000  # kB
        assert not (tmp_path / "cache").exists()
    finally:
        server.stop()


ELSEWHERE = """
import json, sys
from patientbandits.live.policy.compiling import OwnProcess, compile_elsewhere
from patientbandits.live.settings.parsing import new_settings

settings = new_settings(["a", "b"], {"policy": "UCB1"})
unasked = compile_elsewhere(settings)
OwnProcess.used = True
done = compile_elsewhere(settings)
here = "numba" in sys.modules
from patientbandits.live.policy.memory import have_compiled
from patientbandits.simulation.engine.replay import kernel_for_replay
from patientbandits.live.policy.memory import DUMMY_EXPERIMENT, PolicyMemory
have_compiled(settings)
kernel = kernel_for_replay(PolicyMemory(DUMMY_EXPERIMENT, settings).program._plain)
print(json.dumps([unasked, done, here, sum(kernel.stats.cache_misses.values())]))
"""


def test_a_server_has_policies_compiled_by_another_process(tmp_path):
    """The compiler's half a gigabyte is never given back: here the code is only loaded."""
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE],
        env=empty_cache(tmp_path),
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == [False, True, False, 0]
    assert any((tmp_path / "cache").rglob("*replay*"))


LONG_LOG = """
import json, sys
from patientbandits import live
from patientbandits.simulation.engine.replay import kernel_for_replay
from patientbandits.live.server import prepare

path = sys.argv[1]
if sys.argv[2] == "write":
    with live.open(path) as shop:
        button = shop.experiment("button", ["a", "b"], policy=sys.argv[3], seed=1)
        for _ in range(3):
            shop.journal.execute([button.decide_command() for _ in range(900)])
        shop.store.begin(None)
        shop.store.many("DELETE FROM snapshots", [()])
        shop.store.commit()
        shop.journal.failure = live.UnavailableError("leave no snapshot")
else:
    with live.open(path) as shop:
        prepare(shop)
        state = shop.journal.state(1)
        kernel = kernel_for_replay(state.memory.program._plain)
        print(json.dumps([state.seq, sum(kernel.stats.cache_misses.values())]))
"""


@pytest.mark.parametrize("policy", ["Uniform", "PatientThompson"])
def test_a_long_log_without_code_is_read_with_code_from_another_process(tmp_path, policy):
    """After an upgrade, say: no snapshot fits, and nothing is compiled yet."""
    for what, environment in (("write", None), ("read", empty_cache(tmp_path))):
        done = subprocess.run(
            [sys.executable, "-c", LONG_LOG, tmp_path / "shop.db", what, policy],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
    assert json.loads(done.stdout.splitlines()[-1]) == [2701, 0]
