"""A real server in a process of its own, on a free port, with real sockets."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx

SOURCE = str(Path(__file__).parents[2] / "src")


def command(*arguments, **more):
    """`patientbandits ARGUMENTS`, run to its end."""
    return subprocess.run(
        [sys.executable, "-m", "patientbandits.cli", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        env=environment(),
        **more,
    )


def environment():
    return os.environ | {"PYTHONPATH": SOURCE, "PYTHONUNBUFFERED": "1"}


LONGEST_START = 120.0
"""seconds, on a machine that does much else"""


class Running:
    """`patientbandits serve`; ``api`` speaks to it with the first key."""

    def __init__(self, db, *arguments, key=None, program=("-m", "patientbandits.cli"), before=()):
        self.db = str(db)
        self.process = subprocess.Popen(
            [
                *before,
                sys.executable,
                *program,
                "serve",
                "--db",
                self.db,
                "--port",
                "0",
                *map(str, arguments),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
        )
        self.printed, self.log = [], []
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        self.key, self.url = key, None
        for line in self.process.stdout:
            self.printed.append(line)
            if found := re.search(r"pb_\S+", line):
                self.key = found[0]
            if found := re.search(r"http://\S+", line):
                self.url = found[0]
                break
        assert self.url, "".join(self.log)
        self.api = self.client(self.key)
        self.until_ready()

    def _listen(self):
        for line in self.process.stderr:
            self.log.append(line)

    def client(self, key):
        return httpx.Client(
            base_url=self.url,
            headers={"authorization": f"Bearer {key}"} if key else {},
            timeout=120,
            trust_env=False,
        )

    def until_ready(self):
        end = time.monotonic() + LONGEST_START
        while self.process.poll() is None and time.monotonic() < end:
            try:
                if self.api.get("/readyz").status_code == 200:
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.05)
        raise AssertionError("".join(self.log))

    def stop(self, how=signal.SIGTERM):
        """The exit code."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        code = self.process.wait(120)
        self._listener.join(120)
        self.api.close()
        self.process.stdout.close()
        self.process.stderr.close()
        return code

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.stop()
