"""`python -m patientbandits.live.warm`: compile every policy, for an image or before a start.

With `-` only the policy of the settings on standard input: for a server, see `compiling`.
"""

from __future__ import annotations

import os
import sys
import threading
import time

from patientbandits.errors import InputError
from patientbandits.live.policy import FROM_INPUT, have_compiled
from patientbandits.live.settings import default_policy, new_settings, stored_settings
from patientbandits.policies import POLICIES

NICENESS = 10
"""of a process that compiles for a server"""


def warm_all() -> None:
    """Compile each policy that can decide live without parameters, and the default."""
    for policy in [default_policy().describe(), *({"policy": name} for name in POLICIES)]:
        try:
            have_compiled(new_settings(["a", "b"], policy))
        except InputError:  # it needs parameters, or is not for live decisions
            continue
        print(policy["policy"], flush=True)


def warm_for_server() -> None:
    """Compile the policy of the settings on standard input."""
    threading.Thread(target=exit_without, args=[os.getppid()], daemon=True).start()
    os.nice(NICENESS)
    have_compiled(stored_settings(sys.stdin.read()))


def exit_without(parent: int) -> None:
    """Exit when the parent process is gone: nobody waits for the code any more."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


if __name__ == "__main__":
    if sys.argv[1:] == [FROM_INPUT]:
        warm_for_server()
    else:
        warm_all()
