"""How many files of the source each walk of docs/design.md passes.

    python -m tools.walks [WALK ...]

A walk passes a file if one of the functions in it runs between the walk's beginning and its end.
Everything is imported before. `_util/` and `errors` are listed, but not counted: they are to the
package what the standard library is.

decision   from a request on a socket to a durable line and the answer. The service is running, and
           the policy is compiled: `simulation/engine/replay.py` stands for it
figure     from `pb.simulate`, with a policy of one's own, to a curve on an axis; interpreted, since
           compiled code passes unseen
page       from the command line and two CSV files to a page
policy     from a class of one's own to the kernel that plays it: the files of functions that are
           handed the policy, one of its methods, its rule or the plan of its kernel
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import importlib
import io
import json
import math
import os
import pkgutil
import signal
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType
from typing import Any

import patientbandits as pb

SOURCE = Path(pb.__file__).parent
ROOMS = ("analysis", "cli", "inference", "live", "plotting", "policies", "problems", "simulation")
REQUESTS = 4
"""decisions of which a walk is what all pass, so that what the service does beside them is out"""


class Recorder:
    """Collects the files whose functions run, in every thread that begins after `start`."""

    def __init__(self, counts: Callable[[Any], bool] = lambda frame: True) -> None:
        """``counts``: tells of the frame of a call whether it counts."""
        self._counts = counts
        self._on = False
        self._files: set[str] = set()

    def start(self) -> None:
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    def stop(self) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    def _note(self, frame: Any, event: str, argument: Any) -> None:
        if self._on and event == "call" and self._counts(frame):
            self._files.add(frame.f_code.co_filename)

    def passed(self, walk: Callable[[], object]) -> set[str]:
        """The files that it passes, below the package."""
        self._files = set()
        self._on = True
        walk()
        self._on = False
        paths = [Path(file) for file in self._files]
        return {path.relative_to(SOURCE).as_posix() for path in paths if SOURCE in path.parents}


@dataclass(frozen=True)
class Optimist(pb.Policy):
    """The policy of docs/extending.md."""

    scale: float = 1.0

    def index(self, arm: Any, round: int) -> float:
        return arm.rewards / arm.pulls + math.sqrt(self.scale * math.log(round) / arm.pulls)


def decision(recorder: Recorder, folder: Path) -> set[str]:
    from patientbandits.live import open as open_shop
    from patientbandits.live.http.service import Options
    from patientbandits.live.operations import Keyring
    from patientbandits.live.server.run import listen, work

    walks: list[set[str]] = []
    with listen("127.0.0.1", 0) as bound, open_shop(str(folder / "shop.db")) as shop:
        token = Keyring(shop.store, shop.journal).create_first()
        # not PatientThompson: it is interpreted until it has been compiled aside
        shop.experiment("button", arms=["blue", "green"], policy="Thompson", window="30d")
        connection = http.client.HTTPConnection(*bound.getsockname())
        bound.listen()  # who asks before the server runs waits for it

        def decide() -> None:
            unit = json.dumps({"unit": os.urandom(8).hex()})
            path = "/v1/experiments/button/decisions"
            headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
            connection.request("POST", path, unit, headers)
            response = connection.getresponse()
            answer = response.read()
            if response.status != 201:
                raise RuntimeError(f"the decision was refused: {answer!r}")

        def ask() -> None:
            try:
                decide()  # what is kept from the first request on is there
                walks.extend(recorder.passed(decide) for _ in range(REQUESTS))
            finally:
                connection.close()
                os.kill(os.getpid(), signal.SIGTERM)

        asking = threading.Thread(target=ask)
        asking.start()
        work(shop, bound, Options(alerts_every=0, log_level="error"))
        asking.join()
    return set.intersection(*walks)


def figure(recorder: Recorder, folder: Path) -> set[str]:
    from matplotlib.figure import Figure

    problem = pb.Problem(means=[0.6, 0.8], delays=[pb.Pareto(1.0), pb.Pareto(0.3)])

    def draw() -> None:
        result = pb.simulate(problem, Optimist(2.0), 100, 2, seed=1, debug=True)
        result.plot(axis=Figure().subplots())

    return recorder.passed(draw)


def page(recorder: Recorder, folder: Path) -> set[str]:
    from patientbandits.analysis.events import write_example
    from patientbandits.cli import main

    files = [str(path) for path in write_example(folder)]
    command = ["analyse", *files, "--window", "30d", "--out", str(folder / "out"), "--quiet"]
    with contextlib.redirect_stdout(io.StringIO()):
        return recorder.passed(lambda: main(command))


def policy(recorder: Recorder, folder: Path) -> set[str]:
    import numpy as np

    from patientbandits.simulation.engine import Job

    problem = pb.Problem(means=[0.6, 0.8], delays=pb.Pareto(0.5))
    job = Job(problem, Optimist(2.0), np.array([100]), range(1), seed=1, anytime=False)
    del job.__dict__["rule"], job.__dict__["plan"]  # the world is there already
    return recorder.passed(lambda: job.kernel)


def handed_a_policy(frame: Any) -> bool:
    from patientbandits.policies.rule import Rule
    from patientbandits.simulation.engine import Job
    from patientbandits.simulation.engine.episode import KernelPlan

    kinds = (pb.Policy, Rule, KernelPlan, Job)
    values = frame.f_locals.values()
    return any(
        isinstance(value, kinds) or value in (Optimist, Optimist.index)
        for value in values
        if isinstance(value, (*kinds, type, FunctionType))
    )


WALKS = {"decision": decision, "figure": figure, "page": page, "policy": policy}


def import_all() -> None:
    for room in ROOMS:
        package = importlib.import_module(f"patientbandits.{room}")
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)


def is_tool(path: str) -> bool:
    return path.startswith("_util/") or path == "errors.py"


def walk(name: str) -> set[str]:
    """The files that the walk passes."""
    import_all()
    recorder = Recorder(handed_a_policy) if name == "policy" else Recorder()
    recorder.start()
    try:
        with tempfile.TemporaryDirectory() as folder:
            return WALKS[name](recorder, Path(folder))
    finally:
        recorder.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description="Count the files that each walk passes.")
    parser.add_argument("walks", nargs="*", metavar="WALK", help=", ".join(WALKS))
    for name in parser.parse_args().walks or WALKS:
        passed = walk(name)
        tools = {path for path in passed if is_tool(path)}
        print(f"{name}: {len(passed - tools)} files, and {len(tools)} of the tools")
        for path in sorted(passed):
            print(f"    {path}")


if __name__ == "__main__":
    main()
