"""The kernel over a log decides as the loop does."""

from __future__ import annotations

import numpy as np
import pytest

import patientbandits as pb
from patientbandits.policies.base import rule_of
from patientbandits.simulation.engine.replay import (
    CONVERSION,
    DECISION,
    EVENT,
    MILLIONTHS,
    UNDECIDED,
    ArmTally,
    chance_for,
    compiled_chance,
    kernel_for_replay,
    plain_replay,
)
from patientbandits.simulation.engine.shares import NO_SHARES


@pytest.mark.parametrize(
    "policy",
    [pb.BootstrappedThompson(), pb.OTFLinUCB(20), pb.PatientBandits(0.3, bias="aged")],
    ids=lambda policy: policy.label,
)
def test_step_by_step_equals_the_loop(policy):
    """The live kernel, with the random bits that `refresh` asks for."""
    rule = rule_of(policy, 3, horizon_known=False)
    memory = policy.memory(3, 200)
    kernel = kernel_for_replay(plain_replay(rule, memory))
    tally = ArmTally.empty(3)
    chance = compiled_chance(chance_for(5, 3))
    known = (tuple(rule.numbers), tuple(memory), tally, chance, NO_SHARES)
    learner = pb.Bandit(policy, range(3), seed=5)
    generator = np.random.default_rng(2)
    for t in range(1, 151):
        event = np.array([(DECISION, UNDECIDED, t, float(t), 0.0, 0.0, 0, 0.0, 0)], EVENT).view(
            np.recarray
        )
        assert kernel(*known, event, True) == (0, 0)
        pull = learner.pull()
        assert event.arm[0] == pull.arm
        if generator.random() < (0.3, 0.4, 0.6)[pull.arm]:
            event = np.array(
                [(CONVERSION, pull.arm, t, t + 1.0, float(t), 1.0, MILLIONTHS, 0.0, 0)], EVENT
            ).view(np.recarray)
            kernel(*known, event, True)
            learner.reward(pull.id, 1.0)
    assert min(learner.pulls.values()) > 0
