"""Compile a policy in a process of its own, which leaves the code in the cache on disk.

The compiler takes tens of seconds and up to half a gigabyte, which it never gives back; a server
needs neither its time nor its memory, only what it has made.
"""

from __future__ import annotations

import subprocess
import sys

from patientbandits.live.settings import Settings, settings_text

LONGEST_COMPILATION = 600.0
"""seconds"""

FROM_INPUT = "-"
"""tells `warm` that one policy's settings come by standard input"""


class OwnProcess:
    """A switch: this process has policies compiled by another one: a server does."""

    used = False


def compile_elsewhere(settings: Settings) -> bool:
    """Have another process compile the policy; False: it must be compiled here."""
    if not OwnProcess.used:
        return False
    command = [sys.executable, "-m", "patientbandits.live.warm", FROM_INPUT]
    try:
        done = subprocess.run(
            command,
            input=settings_text(settings).encode(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=LONGEST_COMPILATION,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
