"""Workers in processes of their own, for tests that interrupt them: decide and convert with keys,
repeating until acknowledged.

python workers.py ADDRESS NAME STOP: works until the file STOP is there. Every acknowledged
request is a line of the output, a JSON list.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

from patientbandits import live

LEAST = 15
"""How often each decides at least."""


def insist(call, patience=120.0):
    """The call's answer, however often the store fails before; and how often that was."""
    failures, end = 0, time.monotonic() + patience
    while True:
        try:
            return call(), failures
        except live.UnavailableError:
            failures += 1
            if time.monotonic() > end:
                raise
            time.sleep(0.02)


def work(address: str, name: str, stop: Path) -> None:
    shop = live.open(address)
    button, j = shop.open("button"), 0
    while j < LEAST or not stop.exists():
        j += 1
        key = f"{name}-{j}"
        made, failures = insist(lambda key=key: button.decide(unit=name, key=key))
        print(json.dumps(["decided", key, made.id, made.arm, failures]), flush=True)
        if j % 2:
            value = (j % 5) / 4
            _, failures = insist(lambda made=made, value=value: button.convert(made.id, value))
            print(json.dumps(["converted", made.id, round(value * 10**6), failures]), flush=True)
        if j % 12 == 1:
            _, failures = insist(lambda made=made: button.retract(made.id))
            print(json.dumps(["retracted", made.id, failures]), flush=True)
    shop.close()


class Workers:
    """Several at once, from when all have begun to work until `finish`."""

    def __init__(self, address: str, names: list[str], folder: Path) -> None:
        self._stop = folder / "stop"
        self._outputs = [folder / f"{name}.jsonl" for name in names]
        command = [sys.executable, str(Path(__file__)), address]
        self._processes = []
        for name, output in zip(names, self._outputs, strict=True):
            with output.open("w") as file:
                self._processes.append(
                    subprocess.Popen([*command, name, str(self._stop)], stdout=file)
                )
        while not all(output.stat().st_size for output in self._outputs):
            if any(process.poll() for process in self._processes):
                self.kill()
                raise RuntimeError("a worker failed")
            time.sleep(0.05)

    def work_on(self) -> None:
        """Wait until one of them has got on, so that whatever comes next comes in its work."""
        from patience import eventually  # the workers themselves have not got it

        before = self._size()
        eventually(lambda: self._size() > before + 500)

    def _size(self) -> int:
        return sum(output.stat().st_size for output in self._outputs)

    def finish(self) -> list[list]:
        """What was acknowledged: [kind, ..., failures before]."""
        self._stop.touch()
        assert [process.wait(120) for process in self._processes] == [0] * len(self._processes)
        return [
            json.loads(line) for output in self._outputs for line in output.read_text().splitlines()
        ]

    def kill(self) -> None:
        for process in self._processes:
            process.kill()
            process.wait()


if __name__ == "__main__":
    work(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
