"""`python -m patientbandits.live.warm`: compile every policy for live decisions, for an image or before a start."""

from __future__ import annotations

from patientbandits.errors import InputError
from patientbandits.live.settings import Settings, checked, default_policy
from patientbandits.live.state import warm
from patientbandits.policies import POLICIES


def main() -> None:
    described = [default_policy().describe(), *({"policy": name} for name in POLICIES)]
    for policy in described:
        try:
            warm(checked(Settings(("a", "b"), policy)))
        except InputError:  # it needs parameters, or is not for live decisions
            continue
        print(policy["policy"], flush=True)


if __name__ == "__main__":
    main()
