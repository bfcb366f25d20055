"""QPM-D: its queues, its content, what delays cost it."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from cases import LAW, PROBLEMS

import patientbandits as pb
from patientbandits.policies.base import rule_of
from patientbandits.policies.qpmd import enqueue
from patientbandits.simulation.result import Result

pytestmark = pytest.mark.slow

HEAVY = PROBLEMS["heavy tails"].with_feedback("reports")


def test_qpmd_is_content_and_travels(tmp_path):
    policy = pb.QPMD(pb.DUCB(LAW, 20))
    assert pickle.loads(pickle.dumps(policy)) == policy
    assert policy.label == f"QPMD({policy.base.label})"
    result = pb.simulate(HEAVY, policy, 50, 2)
    result.save(tmp_path / "r.npz")
    assert Result.load(tmp_path / "r.npz").policy == policy
    kinds = [pb.QPMD(base) for base in (pb.UCB1(), pb.MOSS(), pb.KLUCB(), pb.KLUCB(1.0))]
    addresses = [pb.Simulation(HEAVY, kind, 50).piece_name(0, 5) for kind in kinds]
    assert len(set(addresses)) == 4
    assert addresses == [pb.Simulation(HEAVY, kind, 50).piece_name(0, 5) for kind in kinds]
    assert (
        rule_of(pb.QPMD(pb.KLUCB()), 2, True).hooks
        == rule_of(pb.QPMD(pb.KLUCB(1.0)), 2, True).hooks
    )  # one kernel


def test_qpmd_loses_little_to_delays_where_waiting_costs():
    """Joulani's bound: the base's regret plus gap times the pulls under way,
    here at most 40 of each arm.
    """
    late = pb.Problem([0.3, 0.7], pb.Fixed(40), feedback="reports")
    base = pb.simulate(late.without_delays(), pb.UCB1(), 2000, 100, seed=1)
    queued = pb.simulate(late, pb.QPMD(pb.UCB1()), 2000, 100, seed=1)
    assert 0 < queued.mean()[-1] - base.mean()[-1] <= 0.4 * 40


def test_queues_are_in_order_of_arrival_then_of_pull():
    memory = pb.QPMD(pb.UCB1()).memory(2, 50)
    generator = np.random.default_rng(1)
    waiting, time = [], 0.0
    for pull in generator.permutation(50) + 1:
        time += float(generator.random() < 0.3)
        memory.arrived_at[pull] = time
        enqueue(memory, 1, int(pull))
        waiting.append((time, int(pull)))
    listed, pull = [], memory.first[1]
    while pull:
        listed.append(int(pull))
        pull = memory.after[pull]
    assert listed == [pull for _, pull in sorted(waiting)]
    assert memory.last[1] == listed[-1]
    assert memory.first[0] == memory.last[0] == 0
