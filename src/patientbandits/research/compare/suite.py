"""A case of the suite, and the kinds that cases are of."""

from __future__ import annotations

from dataclasses import dataclass

from patientbandits.errors import InputError, whole
from patientbandits.problems import Problem

HOPELESS = "hopeless"
SLOW_BEST = "slow arm best"
SLOW_WORST = "slow arm worst"
DIRECTIONS = (SLOW_BEST, SLOW_WORST)
PROBLEM_KINDS = {
    SLOW_BEST: "the better arm is the slow one",
    SLOW_WORST: "the worse arm is the slow one",
    "heavy tails": "delays have heavy tails, and some take longer than anybody waits",
    "same delays": "all arms have the same delays",
    "no delay": "rewards come at once",
    "light tails": "every reward comes within a known time, or delays have light tails",
    "rare": "rewards are rare (1 to 5 %)",
    "many arms": "there are ten arms or more",
    "values": "rewards are amounts, not just 0 or 1",
    "window": "only rewards within a window count",
    "drifting": "rates or delays change on the way",
    "batches": "what has come is heard of every few hundred rounds",
    "dependent": "the delay depends on the reward",
    "random": "nobody has chosen the problem: it was drawn at random",
    HOPELESS: "delays hide just what would tell the arms apart (Theorem 4)",
}
"""kind of problem -> how to recognise it"""

SUITE_RUNS = 120
QUICK_SUITE_RUNS = 20


@dataclass(frozen=True)
class Case:
    """A problem of the suite."""

    name: str
    what: str
    """one sentence for people"""
    tests: str
    """what it tests"""
    problem: Problem
    horizon: int
    kinds: tuple[str, ...] = ()
    """of `PROBLEM_KINDS`; a kind of your own is its own description"""
    runs: int = SUITE_RUNS
    quick: bool = False
    """whether --quick plays it"""

    def __post_init__(self) -> None:
        if not isinstance(self.problem, Problem):
            raise InputError(f"Case: problem must be a Problem; got problem={self.problem!r}.")
        whole("Case", "horizon", self.horizon, self.problem.arms)
        whole("Case", "runs", self.runs, 2)

    @property
    def counted(self) -> bool:
        """Whether regret says anything: not if all arms are equally good."""
        return any(max(phase.gaps) > 0 for _, phase in self.problem.phases)
