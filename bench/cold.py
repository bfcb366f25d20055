"""How long a policy's first run takes where nothing has been compiled before."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from bench.table import Row

POLICIES = (
    "PatientBandits(0.3)",
    "AdaptPatientBandits(0.7, 0.1, 0.6)",
    "DUCB(pb.Pareto(0.7), 50)",
    "DUCB(pb.Pareto(0.7), None, 'uncensored')",
    "DKLUCB(pb.Pareto(0.7), 50)",
    "PatientKL(0.3)",
    "UCB1()",
    "KLUCB()",
    "MOSS()",
    "Thompson()",
    "PatientThompson()",
)

PROGRAM = """
import time
import patientbandits as pb
problem = pb.Problem([0.6, 0.8], [pb.Pareto(1.0), pb.Pareto(0.3)])
began = time.process_time()
pb.simulate(problem, pb.{policy}, horizon=10, runs={runs}, workers=1)
print(time.process_time() - began)
"""


def seconds(policy: str, runs: int) -> float:
    """Of the processor, in a process of its own with an empty cache."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", PROGRAM.format(policy=policy, runs=runs)]
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return float(done.stdout)


def rows(quick: bool) -> list[Row]:
    """Many runs: those of policies without memory are played in lanes."""
    policies = POLICIES[:1] if quick else POLICIES
    return [
        Row(policy.replace("pb.", ""), seconds(policy, 2), at_most=3, unit=" s")
        for policy in policies
    ]
