"""A Bayesian variant of D-TS (Wang et al., WWW 2022; see `d_ts`).

The weights of the E step stand for the outcomes that are not known yet. A pull that waits is to w a
conversion to come and to 1 - w a failure:

    M   r = y / (sum of the y delays seen + sum of w x),
        p = (1 + y + sum of w) / (2 + pulls),   the posterior mean under a uniform prior

Draws come from Beta(1 + y, 1 + sum of 1 - w): the conversions seen and the failures to be expected
are data, what is still open is not. Constants are those of `d_ts`. It is ours: the authors' fully
Bayesian policy integrates over p and r on a grid and pulls by the posterior's median.
"""

from __future__ import annotations

from dataclasses import dataclass

from patientbandits.policies.d_ts import DTS, LEAST_TIME, ExponentialFits, expect_late, fit_is_due


def count_pulls(memory: ExponentialFits) -> None:
    """``matured``: the pulls of each arm."""
    memory.matured[:] = 0.0
    for pull in range(1, memory.last_pull[0] + 1):
        memory.matured[memory.arm_of[pull]] += 1.0


@dataclass(frozen=True)
class DTSBayes(DTS):
    """A draw from Beta(1 + y, 1 + sum of 1 - w), w the chance that a pull that waits converts yet

    See the module. Parameters as of `DTS`.
    """

    @staticmethod
    def refresh(self: DTS.Numbers, memory: ExponentialFits, time: float) -> None:
        if not fit_is_due(memory, time, self.batch, self.warmup):
            return
        count_pulls(memory)
        for _ in range(int(self.steps)):
            expect_late(memory, time)
            for i in range(len(memory.rate)):
                exposed = max(memory.delays[i] + memory.waited[i], LEAST_TIME)
                memory.speed[i] = max(memory.conversions[i], 0.5) / exposed
                expected = 1.0 + memory.conversions[i] + memory.late[i]
                memory.rate[i] = expected / (2.0 + memory.matured[i])
        expect_late(memory, time)
        for i in range(len(memory.rate)):
            conversions = memory.conversions[i]
            failures = memory.matured[i] - conversions - memory.late[i]
            memory.shapes[i, 0] = 1.0 + conversions
            memory.shapes[i, 1] = 1.0 + max(failures, 0.0)
