"""Times are measured once and kept; progress is told in time."""

from __future__ import annotations

import json

import pytest

import patientbandits as pb
from patientbandits.research.compare import timing
from patientbandits.research.compare.timing import Batch, grouped, play_batches, timings, usual_time
from patientbandits.simulation import Simulation

PAIR = pb.Problem([0.2, 0.8])
THREE = pb.Problem([0.2, 0.5, 0.8])


def simulation(policy: pb.Policy = pb.UCB1(), problem: pb.Problem = PAIR) -> Simulation:  # noqa: B008
    return Simulation(problem, policy, 50, runs=4)


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[Simulation]:
    """The simulations that were timed; each seems to take a microsecond more per round."""
    seen: list[Simulation] = []

    def measure(one: Simulation) -> float:
        seen.append(one)
        return 1e-6 * len(seen)

    monkeypatch.setattr(timing, "seconds_per_round", measure)
    return seen


def test_each_policy_is_timed_once(tmp_path, measured) -> None:
    simulations = {("UCB1", 2): simulation(), ("KLUCB", 2): simulation(pb.KLUCB())}
    first = timings(simulations, tmp_path)
    assert first == {("UCB1", 2): 1e-6, ("KLUCB", 2): 2e-6}
    assert {one.horizon for one in measured} == {timing.TIMED_ROUNDS}
    assert timings(simulations, tmp_path) == first
    assert len(measured) == 2, "the second time it is read"
    other = timings({("DUCB", 2): simulation(pb.DUCB(pb.Pareto(1.0), 10))}, tmp_path)
    again = timings({("DUCB", 2): simulation(pb.DUCB(pb.Pareto(1.0), 20))}, tmp_path)
    assert other != again, "with other parameters it is another policy"


@pytest.mark.parametrize("damage", ["", "{", "\0"])
def test_a_damaged_file_is_measured_anew(tmp_path, measured, damage: str) -> None:
    (tmp_path / "seconds_per_round.json").write_text(damage)
    assert timings({("UCB1", 2): simulation()}, tmp_path) == {("UCB1", 2): 1e-6}
    assert list(json.loads((tmp_path / "seconds_per_round.json").read_text()).values()) == [1e-6]


def test_groups_take_the_same_time_per_round() -> None:
    plan = {
        ("a", "UCB1"): simulation(),
        ("b", "UCB1"): simulation(problem=THREE),
        ("c", "UCB1"): simulation(),
        ("a", "KLUCB"): simulation(pb.KLUCB()),
    }
    groups = grouped(plan)
    assert list(groups) == [("UCB1", 2), ("UCB1", 3), ("KLUCB", 2)]
    assert list(groups["UCB1", 2]) == [("a", "UCB1"), ("c", "UCB1")]


def test_policies_that_were_not_timed_take_the_usual_time() -> None:
    clock = {("UCB1", 2): 3e-6}
    assert usual_time([simulation()], clock) == 3e-6
    both = usual_time([simulation(), simulation(pb.KLUCB())], clock)
    assert both == pytest.approx((3e-6 + timing.USUAL_SECONDS) / 2)


def test_progress_is_told_in_nanoseconds(tmp_path) -> None:
    totals: list[int] = []
    done: list[int] = []

    def start(total: int):
        totals.append(total)
        return done.append

    batches = [Batch([simulation()], 1e-6), Batch([simulation(pb.KLUCB())], 3e-6)]
    ((first,), (second,)) = play_batches(batches, tmp_path, start, workers=1)
    assert totals == [4 * 50 * (1000 + 3000)]
    assert sum(done) == totals[0]
    assert (len(first), len(second)) == (4, 4)
