"""A real Chromium, told what to do through a pipe by its own protocol (DevTools)."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import signal
import time
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
BROWSER = next((path for name in NAMES if (path := shutil.which(name))), None)
NEEDS_BROWSER = pytest.mark.skipif(
    BROWSER is None, reason="THE DASHBOARD IS NOT TESTED: no Chromium here (.ci/run installs it)"
)
QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
PATIENCE = 120.0
"""seconds; the machine may be busy"""


class Browser:
    """One window; ``console`` is what was written there, and what went wrong."""

    def __init__(self, folder: Path) -> None:
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        folder.mkdir(parents=True, exist_ok=True)
        self._pid = os.posix_spawn(
            BROWSER,
            [BROWSER, *QUIET, f"--user-data-dir={folder}", "about:blank"],
            os.environ | {"HOME": str(folder)},
            file_actions=[
                (os.POSIX_SPAWN_DUP2, to_browser, 3),
                (os.POSIX_SPAWN_DUP2, from_browser, 4),
                (os.POSIX_SPAWN_OPEN, 2, str(folder / "stderr"), os.O_WRONLY | os.O_CREAT, 0o600),
            ],
        )
        os.close(to_browser)
        os.close(from_browser)
        self._rest = b""
        self._number = 0
        self._session = None
        self.console: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Runtime", "Log", "Page"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_) -> None:
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        os.close(self._write)
        os.close(self._read)

    def call(self, method: str, **parameters):
        """Ask the browser for something, and wait for its answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + PATIENCE
        while True:
            told = self._next(until)
            if told.get("id") == self._number:
                assert "error" not in told, told
                return told["result"]
            self._listen(told)

    def _next(self, until: float) -> dict:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._read], [], [], max(until - time.monotonic(), 0))
            assert ready, "the browser does not answer"
            self._rest += os.read(self._read, 1 << 20)
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)

    def _listen(self, told: dict) -> None:
        method, found = told.get("method"), told.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.console.append(str(found["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled":
            self.console.append(str(found["args"]))
        elif method == "Log.entryAdded":
            self.console.append(f"{found['entry']['text']} {found['entry'].get('url')}")

    def open(self, url: str, width: int = 1280, height: int = 900) -> None:
        phone = width < 600
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=phone,
        )
        self.call("Page.navigate", url=url)

    def value(self, script: str):
        """What the script is worth in the page."""
        found = self.call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def until(self, script: str) -> None:
        """Wait for it to become true."""
        end = time.monotonic() + PATIENCE
        while not self.value(script):
            assert time.monotonic() < end, (script, self.value("document.body.innerText"))
            time.sleep(0.05)

    def says(self, words: str) -> None:
        """Wait for the words to be on the page."""
        self.until(f"Boolean(document.body?.innerText.includes({words!r}))")

    def text(self, selector: str = "body") -> str:
        return self.value(f"document.querySelector({selector!r}).innerText")

    def click(self, words: str) -> None:
        """Press the button that says so."""
        find = f"[...document.querySelectorAll('button')].find((b) => b.textContent === {words!r})"
        self.until(f"Boolean({find})")
        self.value(f"{find}.click()")

    def picture(self, path: Path) -> None:
        """The whole page as PNG."""
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))
