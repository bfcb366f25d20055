"""Old pulls joined to bunches: against a list of pulls, and what it costs."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

import numpy as np
import pytest

import patientbandits as pb
from patientbandits.inference.posterior.grid import bin_at
from patientbandits.live.policy.memory import grown
from patientbandits.policies.parts import late_counts
from patientbandits.policies.parts.late_counts import BUNCHES_USED, IN_BUNCHES, grow_older
from patientbandits.policies.patient_thompson import work_in

ARMS = 3


@dataclass
class Pull:
    arm: int
    time: float
    bin: int = 0
    waits: bool = True


class ListOfPulls:
    """The definition: joined pulls have one time, the mean of theirs, and the bin of the oldest;
    a pull's bin is that of its age, or the one it was in before if that is later."""

    def __init__(self, edges, recent, block, spare):
        self.edges = edges
        self.recent = recent
        self.block = block
        self.spare = spare
        self.pulls = []
        self.joined = 0
        self.bunches = 0

    def begin(self, arm, time):
        if len(self.pulls) + 1 - self.joined >= self.recent:
            self.join(self.joined + self.block, time)
        self.pulls.append(Pull(arm, time))

    def join(self, last, time):
        while self.joined < last:
            first = self.pulls[self.joined]
            full = self.bunches >= 2 * ((self.joined + 1) // self.block) + self.spare
            span = math.inf if full else 0.01 * (time - first.time)
            bunch = self.pulls[self.joined : last]
            bunch = [pull for pull in bunch if pull.time - first.time <= span]
            mean = sum(pull.time for pull in bunch) / len(bunch)
            for pull in bunch:
                pull.time = mean
                pull.bin = first.bin
            self.joined += len(bunch)
            self.bunches += 1

    def grow_older(self, time):
        for pull in self.pulls:
            pull.bin = max(pull.bin, bin_at(self.edges, time - pull.time))

    def waiting(self, shape, value):
        counts = np.zeros(shape)
        for pull in self.pulls:
            if pull.waits:
                counts[pull.arm, pull.bin] += value(pull)
        return counts


def clock(pick):
    """Bursts, a quiet hour, now and then a pause of weeks."""
    now = 1.7e9
    while True:
        now += pick.choice([0.0, 0.0, 0.0, 0.02, 0.4, 5.0])
        if pick.random() < 0.03:
            now += pick.choice([60.0, 3600.0, 2e6])
        yield now


def small(monkeypatch, recent=64, block=8, spare=4):
    monkeypatch.setattr(late_counts, "RECENT", recent)
    monkeypatch.setattr(late_counts, "JOINED_AT_ONCE", block)
    monkeypatch.setattr(late_counts, "JOINED_FOR_AN_ARM", 1)
    monkeypatch.setattr(late_counts, "SPARE_BUNCHES", spare)
    return recent, block, spare


@pytest.mark.parametrize("window", [None, 5000.0])
@pytest.mark.parametrize("spare", [1, 400])
def test_bunches_against_a_list(monkeypatch, window, spare):
    """Conversions and retractions of old and new pulls; bunches split by pauses, and full ones."""
    pick = random.Random(11)
    constants = small(monkeypatch, spare=spare)
    policy = pb.PatientThompson(window=window)
    memory = policy.memory(ARMS, 1500)
    numbers = policy.numbers(ARMS)
    kind = type(policy)
    twin = ListOfPulls(memory.edges, *constants)
    taken_back = 0
    paid = {}
    for number, now in zip(range(1, 1501), clock(pick), strict=False):
        for id in pick.sample(range(1, number), min(number - 1, 2)):
            pull = twin.pulls[id - 1]
            arm = pb.Arm(pull.arm, 1, 1.0)
            if pull.waits and pick.random() < 0.3:
                paid[id] = min(pick.random() * 1000.0, window or math.inf)
                kind.arrived(numbers, memory, arm, id, paid[id], 1.0)
                pull.waits = False
            elif id in paid and pick.random() < 0.3:
                kind.retracted(numbers, memory, arm, id, paid.pop(id), 1.0)
                pull.waits = True
                taken_back += id <= memory.marks[IN_BUNCHES]
        if pick.random() < 0.5:
            grow_older(memory, now)
            twin.grow_older(now)
        chosen = pick.randrange(ARMS)
        kind.pulled(numbers, memory, pb.Arm(chosen, 1, 0.0), number, now)
        twin.begin(chosen, now)
        shape = memory.waiting.shape
        assert np.array_equal(memory.waiting, twin.waiting(shape, lambda pull: 1.0)), number
        started = twin.waiting(shape, lambda pull: pull.time - memory.begun[0])
        assert np.allclose(memory.started, started, rtol=1e-9, atol=1e-3), number
    assert memory.marks[IN_BUNCHES] == twin.joined >= 1400
    assert memory.marks[BUNCHES_USED] == twin.bunches < len(memory.bunch_end)
    assert taken_back > 50


def test_joined_pulls_are_near_their_own_age(monkeypatch):
    """Cumulative counts by age, at a steady pace: those of the whole history at ages 1 % apart."""
    small(monkeypatch, recent=1024, block=8, spare=4)
    policy = pb.PatientThompson()
    memory = policy.memory(1, 5000)
    times = np.cumsum(np.random.default_rng(3).exponential(1.0, 5000))
    for number, now in enumerate(times, 1):
        type(policy).pulled(policy.numbers(1), memory, pb.Arm(0, 1, 0.0), number, now)
        grow_older(memory, now)
    assert memory.marks[IN_BUNCHES] > 3900
    for edge, end in enumerate(memory.edges[:-1]):
        younger = memory.waiting[0, : edge + 1].sum()
        low = np.count_nonzero(now - times <= end * 0.99)
        high = np.count_nonzero(now - times <= end * 1.01)
        assert low - 1 <= younger <= high + 1, end


def kept_bytes(pulls, arms):
    return sum(array.nbytes for array in pb.PatientThompson().memory(arms, pulls))


@pytest.mark.parametrize(("arms", "most"), [(2, 1), (100, 3), (1000, 3)])
def test_a_pull_more_takes_little(arms, most):
    """Bytes, beyond those that are kept one by one, which take twelve."""
    older = 2**22 - 2**18
    assert kept_bytes(2**22, arms) - kept_bytes(2**18, arms) < most * older
    assert kept_bytes(2**17, arms) - kept_bytes(2**16, arms) >= 12 * 2**16


def test_the_ring_survives_growing(monkeypatch):
    """Room is doubled while pulls come: as if all of it had been there from the beginning."""
    small(monkeypatch)
    policy = pb.PatientThompson()
    numbers = policy.numbers(2)
    memory = policy.memory(2, 16)
    whole = policy.memory(2, 1024)
    capacity = 16
    for number, now in zip(range(1, 1025), clock(random.Random(2)), strict=False):
        if number > capacity:
            capacity *= 2
            memory = grown(memory, policy.memory(2, capacity))
        for one in (memory, whole):
            type(policy).pulled(numbers, one, pb.Arm(number % 2, 1, 0.0), number, now)
            grow_older(one, now)
    for name, one, other in zip(memory._fields, memory, whole, strict=True):
        assert np.array_equal(one, other, equal_nan=True), name


def last_memory(monkeypatch, seed, **how):
    """What a run's policy remembers in the end."""
    made = []
    kind = pb.PatientThompson
    original = kind.memory
    with monkeypatch.context() as patch:
        patch.setattr(
            kind, "memory", lambda *about: made.append(original(*about)) or made[-1], raising=True
        )
        problem = pb.Problem([0.5, 0.4], [pb.Pareto(0.5), pb.Geometric(0.1)])
        result = pb.simulate(problem, kind(), 1500, 1, seed=seed, **how)
    return made[-1], result


@pytest.mark.parametrize("seed", [3, 4])
def test_compiled_and_interpreted_agree_on_bunches(monkeypatch, seed):
    """Whatever is remembered in the end; pulls that wait have nearly the times they have whole."""
    whole, _ = last_memory(monkeypatch, seed)
    small(monkeypatch, recent=256, block=16)
    joined, result = last_memory(monkeypatch, seed)
    twin, interpreted = last_memory(monkeypatch, seed, debug=True)
    assert joined.marks[BUNCHES_USED] > 50
    assert whole.marks[BUNCHES_USED] == 0
    for name, one, other in zip(joined._fields, joined, twin, strict=True):
        if name != "model":
            assert np.array_equal(one, other, equal_nan=one.dtype.kind == "f"), name
    works = [work_in(memory.model, memory.model_places) for memory in (joined, twin)]
    for name, one, other in zip(works[0]._fields, *works, strict=True):
        if name != "spare":  # room for terms that loops have in turn, and NumPy all at once
            assert np.array_equal(one, other), name
    assert np.array_equal(result.regret, interpreted.regret)
    assert np.array_equal(joined.waiting.sum(1), whole.waiting.sum(1))  # the choices are the same
    assert np.allclose(joined.started.sum(1), whole.started.sum(1), rtol=0.02)
