"""What the live service needs beyond a plain install, and how to say that it is missing."""

from __future__ import annotations

from importlib.util import find_spec

from patientbandits.errors import InputError

ALWAYS_NEEDED = ("msgspec", "apsw")
FOR_SERVING = ("uvicorn", "httptools", "prometheus_client")


def require_packages(*names: str) -> None:
    """``names``, and what always is needed."""
    missing = [name for name in (*ALWAYS_NEEDED, *names) if find_spec(name) is None]
    if missing:
        raise InputError(
            f"live: this needs {', '.join(missing)}; pip install 'patientbandits[live]'."
        )
