"""Finding a fault in a policy of one's own:
interpreted runs, and errors that name method and line.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import pytest
from cases import PROBLEMS, fit_for, policies, policy_names

import patientbandits as pb
from patientbandits.policies import POLICIES

TWO = pb.Problem([0.5, 0.6], pb.Geometric(0.3))


def line_of(method, text):
    """The number of the line of ``method`` that holds ``text``."""
    import inspect

    lines, first = inspect.getsourcelines(method)
    return first + next(j for j, line in enumerate(lines) if text in line)


@pytest.mark.parametrize("name", policy_names(names=POLICIES.keys() - {"BootstrappedThompson"}))
def test_interpreted_equals_compiled(name):
    """The same numbers; on many arms too, where a tree finds the best."""
    policy = policies(name)[0]
    for title in ("mixed", "30 arms", "no delay"):
        problem = fit_for(policy, PROBLEMS[title])
        settings = {"horizon": 60, "runs": 2, "seed": 4, "record": range(1, 61)}
        compiled = pb.simulate(problem, policy, **settings)
        debugged = pb.simulate(problem, policy, **settings, debug=True)
        assert np.array_equal(compiled.regret, debugged.regret), title
        assert np.array_equal(compiled.pulls, debugged.pulls), title


@dataclass(frozen=True)
class Talkative(pb.Policy):
    """Prints what it sees."""

    scale: float = 0.5

    def index(self, arm, round):
        print("arm", arm.number, "round", round)
        return arm.rewards + self.scale * arm.number


def test_prints_are_seen(capsys):
    pb.simulate(TWO, Talkative(), 4, 1, debug=True)
    assert "arm 1 round 3" in capsys.readouterr().out


class Slots(NamedTuple):
    values: np.ndarray


@dataclass(frozen=True)
class BeyondItsArray(pb.Policy):
    def memory(self, arms, capacity):
        return Slots(np.zeros(3))

    def index(self, memory, arm, round):
        return memory.values[round]


@dataclass(frozen=True)
class DividesByZero(pb.Policy):
    first_pulls: ClassVar[int] = 0

    def index(self, arm, round):
        mean = arm.rewards / arm.pulls
        return mean + 1.0 / round


def quotient(a, b):
    return a / b


@dataclass(frozen=True)
class HelperDividesByZero(pb.Policy):
    """The fault is in a plain function that a method calls, and in an array's number."""

    def memory(self, arms, capacity):
        return Slots(np.zeros(3))

    def refresh(self, memory, round):
        if round == 5:
            memory.values[0] = quotient(1.0, memory.values[1])

    def index(self, memory, arm):
        return arm.rewards


FAULTS = [
    (BeyondItsArray(), "index", line_of(BeyondItsArray.index, "values[round]"), "IndexError", 3),
    (DividesByZero(), "index", line_of(DividesByZero.index, "mean ="), "ZeroDivisionError", 1),
    (HelperDividesByZero(), "refresh", line_of(quotient, "a / b"), r"\w+", 5),
]


@pytest.mark.parametrize("debug", [False, True], ids=["compiled", "interpreted"])
@pytest.mark.parametrize(
    ("policy", "method", "line", "error", "round_"), FAULTS, ids=lambda value: str(value)[:20]
)
def test_faults_are_told_by_method_and_line(policy, method, line, error, round_, debug):
    where = rf"line {line} of test_faults\.py, round {round_} of run 7"
    message = rf"^{policy.owner}: {method} must be defined .*; got {error}: .* \({where}\)\.$"
    with pytest.raises(pb.InputError, match=message):
        pb.simulate(TWO, policy, 20, 6, first_run=7, workers=1, debug=debug)


def test_no_fault_where_nothing_is_wrong():
    """The control: a user's policy that stays within its array."""

    assert pb.simulate(TWO, BeyondItsArray(), 2, 2).pulls.sum() == 4


@dataclass(frozen=True)
class NotCompilable(pb.Policy):
    def index(self, arm, round):
        names = {"a": arm.rewards}
        return names.missing()


def helper_with_text(x):
    return x + "one"


@dataclass(frozen=True)
class HelperNotCompilable(pb.Policy):
    def bonus(self, pulls, round):
        return helper_with_text(pulls)


@dataclass(frozen=True)
class Misspelt(pb.Policy):
    def index(self, arm, round):
        return arm.rewards / rounds  # noqa: F821


@pytest.mark.parametrize(
    ("policy", "method", "line"),
    [
        (NotCompilable(), "index", line_of(NotCompilable.index, "missing")),
        (Misspelt(), "index", line_of(Misspelt.index, "def index")),
        (HelperNotCompilable(), "bonus", line_of(helper_with_text, '"one"')),
    ],
    ids=["method", "misspelt", "helper"],
)
def test_a_compile_error_names_method_and_line(policy, method, line):
    message = (
        rf"^{policy.owner}: .* numba can compile; got: .*\({method}, line {line} of test_faults"
    )
    with pytest.raises(pb.InputError, match=message):
        pb.simulate(TWO, policy, 20, 2)


@dataclass(frozen=True)
class LogOfZero(pb.Policy):
    def index(self, arm, round):
        return math.log(arm.rewards)


def test_what_only_an_interpreter_finds():
    """The logarithm of 0 is minus infinity when compiled; debug=True shows where it is taken."""
    with pytest.raises(pb.InputError, match=r"^LogOfZero: index must be defined .*ValueError"):
        pb.simulate(TWO, LogOfZero(), 20, 1, debug=True)


SCRIPT = """
import patientbandits as pb
problem = pb.Problem([0.5, 0.6, 0.4], [pb.Pareto(0.5), pb.Geometric(0.1), pb.Fixed(3)])
for policy in (pb.PatientBandits(0.5), pb.Thompson(), pb.PatientKL(0.3)):
    print(pb.simulate(problem, policy, 80, 3, seed=2).regret.sum().hex())
"""


def test_numba_switched_off():
    """NUMBA_DISABLE_JIT=1: the same numbers, from the interpreter alone."""
    printed = []
    for off in ("0", "1"):
        environment = {**os.environ, "NUMBA_DISABLE_JIT": off}
        command = [sys.executable, "-W", "error", "-c", SCRIPT]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        printed.append(done.stdout)
    assert printed[0] == printed[1]
    assert len(set(printed[0].split())) == 3
