"""The kernels' disk cache, with real processes: found again by the next one, never stale."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import types

import numpy as np
import pytest

from patientbandits.simulation.engine.compile import UndigestibleError, digest

pytestmark = pytest.mark.slow

SCRIPT = """
import json
from dataclasses import dataclass
import patientbandits as pb
from helper import f
CONSTANT = 0.5

@dataclass(frozen=True)
class Mine(pb.Policy):
    power: float = 0.5

    def bonus(self, pulls, round):
        return CONSTANT * f(round, pulls) ** self.power

result = pb.simulate(pb.Problem([0.5, 0.6], pb.Pareto(0.5)), Mine(), 300, 5, workers=1)

from patientbandits.simulation.engine.episode import KernelPlan
from patientbandits.simulation.engine.lanes import lanes_kernel
from patientbandits.policies.base import rule_of
kernel = lanes_kernel(KernelPlan.of(rule_of(Mine(), 2, True), Mine().memory(2, 1), True, False))
print(json.dumps({
    "pulls": result.pulls.tolist(),
    "compiled": len(kernel.nopython_signatures),
    "hits": sum(kernel.stats.cache_hits.values()),
    "misses": sum(kernel.stats.cache_misses.values()),
}))
"""
HELPER = "def f(t, n):\n    return t / n\n"


class Scripts:
    """A folder with a user's script, a module that it imports from, and a cache of its own."""

    def __init__(self, folder):
        self.folder = folder
        self.write("mine.py", SCRIPT)
        self.write("helper.py", HELPER)

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def run(self, *arguments):
        environment = {
            **os.environ,
            "NUMBA_CACHE_DIR": str(self.folder / "cache"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        done = subprocess.run(
            [sys.executable, "mine.py", *arguments],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def files(self, ending, name="lanes"):
        return sorted((self.folder / "cache").rglob(f"{name}-*.{ending}"))


@pytest.fixture
def scripts(tmp_path):
    return Scripts(tmp_path)


def test_found_again_and_never_stale(scripts):
    first = scripts.run()
    assert (first["compiled"], first["hits"], first["misses"]) == (1, 0, 1)
    assert len(scripts.files("nbc")) == 1

    second = scripts.run()
    assert second == {**first, "hits": 1, "misses": 0}
    assert len(scripts.files("nbc")) == 1

    scripts.write("mine.py", SCRIPT.replace("CONSTANT = 0.5", "CONSTANT = 0.05"))
    constant = scripts.run()
    assert constant["pulls"] != first["pulls"]
    assert constant["misses"] == 1

    scripts.write("mine.py", SCRIPT)
    scripts.write("helper.py", HELPER.replace("t / n", "0.2 * t / n"))
    assert scripts.run()["pulls"] not in (first["pulls"], constant["pulls"])
    assert len(scripts.files("nbc")) == 3

    scripts.write("helper.py", HELPER)
    assert scripts.run() == second  # as it was: found under its old name


def test_new_parameters_need_no_new_kernel_and_damage_is_no_obstacle(scripts):
    first = scripts.run()
    scripts.write(
        "mine.py", "# A comment.\n" + SCRIPT.replace("power: float = 0.5", "power: float = 0.2")
    )
    other = scripts.run()
    assert other["pulls"] != first["pulls"]
    assert (other["hits"], other["misses"]) == (1, 0)

    scripts.write("mine.py", SCRIPT)
    for ending, damage in (
        ("nbc", lambda content: content[:1000]),
        ("nbi", lambda content: b"not an index"),
    ):
        for path in scripts.files(ending):
            path.write_bytes(damage(path.read_bytes()))
        assert scripts.run() == first  # compiled once more
    assert scripts.run() == {**first, "hits": 1, "misses": 0}  # and kept


SHARED = """
import json
import sys
from dataclasses import dataclass
from typing import Any, NamedTuple
import numpy as np
import patientbandits as pb
from helper import slow
from patientbandits.simulation.engine.compile import shared

class Level(NamedTuple):
    level: Any

@dataclass(frozen=True)
class Mine(pb.Policy):
    def memory(self, arms, capacity):
        return Level(np.zeros(arms))

    def refresh(self, memory, round):
        slow(memory.level, round)

    def index(self, memory, arm, round):
        return memory.level[arm.number] / (1.0 + arm.pulls)

anytime = "anytime" in sys.argv
result = pb.simulate(pb.Problem([0.5, 0.6]), Mine(), 300, 5, workers=1, anytime=anytime)
found = shared(slow).stats
print(json.dumps({
    "pulls": result.pulls.tolist(),
    "hits": sum(found.cache_hits.values()),
    "misses": sum(found.cache_misses.values()),
}))
"""
SLOW = """
from patientbandits._util.codegen import compile_standalone

def inner(level, arm, round):
    level[arm] = round * (arm + 1.0)

@compile_standalone
def slow(level, round):
    for arm in range(len(level)):
        inner(level, arm, round)
"""


def test_what_is_shared_is_compiled_once_and_found_by_every_kernel(scripts):
    scripts.write("mine.py", SHARED)
    scripts.write("helper.py", SLOW)
    first = scripts.run()
    assert (first["hits"], first["misses"]) == (0, 1)
    assert scripts.run() == {**first, "hits": 1, "misses": 0}
    other = scripts.run("anytime")  # a kernel of its own, with the same shared function
    assert (other["hits"], other["misses"]) == (1, 0)

    for path in scripts.files("nbc", "shared-slow"):
        path.unlink()
    assert scripts.run() == first  # compiled again, and the kernel that calls it still works
    assert scripts.run() == {**first, "hits": 1, "misses": 0}

    scripts.write("helper.py", SLOW.replace("arm + 1.0", "arm + 3.0"))
    changed = scripts.run()
    assert changed["pulls"] != first["pulls"]
    assert changed["misses"] == 1


POLICY = """
import enum
import math
import package.inner
from typing import NamedTuple
TABLE = np.arange(3.0)
TUPLE = (1.0, (2.0, 3.0))
class Kind(enum.IntEnum):
    GOOD = 1
def helper(x, factor=2.0):
    return math.sqrt(x) * factor + TABLE[0]
def outer():
    closed = 4.0
    def policy(pulls):
        return helper(pulls) + package.inner.g(pulls) + Kind.GOOD.value + TUPLE[1][0] + closed
    return policy
"""
INNER = "def g(n):\n    return h(n)\ndef h(n):\n    return 0.1 / n\n"


def digest_of(policy=POLICY, inner=INNER):
    """The digest of ``policy``, executed afresh."""
    package, module = types.ModuleType("package"), types.ModuleType("package.inner")
    exec(inner, module.__dict__)
    package.inner = module
    scope = {"np": np, "__name__": "mine"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "package", package)
        patch.setitem(sys.modules, "package.inner", module)
        exec(policy, scope)
    return digest(scope["outer"]())


def test_all_that_a_function_reaches_is_in_its_digest():
    changes = [
        ("TABLE = np.arange(3.0)", "TABLE = np.arange(4.0)"),
        ("(2.0, 3.0)", "(2.0, 3.5)"),
        ("GOOD = 1", "GOOD = 2"),
        ("factor=2.0", "factor=2.5"),
        ("math.sqrt(x)", "math.log(x)"),
        ("closed = 4.0", "closed = 5.0"),
        ("+ closed", "- closed"),
    ]
    digests = [digest_of(), digest_of(inner=INNER.replace("0.1", "0.2"))] + [
        digest_of(POLICY.replace(*change)) for change in changes
    ]
    assert len(set(digests)) == len(digests)
    assert digest_of() == digests[0] == digest_of("# a comment\n" + POLICY)


def test_what_cannot_be_known_has_no_digest():
    with pytest.raises(UndigestibleError):
        digest_of(POLICY.replace("TABLE = np.arange(3.0)", "TABLE = {0: 1.0}"))
