"""`python -m patientbandits.live.warm`: compile every policy, for an image or before a start."""

from __future__ import annotations

from patientbandits.errors import InputError
from patientbandits.live.given_settings import default_policy, new_settings
from patientbandits.live.policy_memory import have_compiled
from patientbandits.policies import POLICIES


def warm_all() -> None:
    """Each policy that can decide live without parameters, and the default."""
    for policy in [default_policy().describe(), *({"policy": name} for name in POLICIES)]:
        try:
            have_compiled(new_settings(["a", "b"], policy))
        except InputError:  # it needs parameters, or is not for live decisions
            continue
        print(policy["policy"], flush=True)


if __name__ == "__main__":
    warm_all()
