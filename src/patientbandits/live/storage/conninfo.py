"""Locations of PostgreSQL databases, and what may be said of them: never the password."""

from __future__ import annotations

import re
from typing import Any

from patientbandits.errors import InputError

RULE = (
    "live: the address must be postgresql://user:password@host:port/database, "
    "special characters percent-encoded"
)
UNTOLD = "it cannot be reached; why is not shown, since the words hold a part of the password"


def connection_options(location: str) -> dict[str, Any]:
    """libpq's options that ``location`` stands for."""
    import psycopg

    try:
        options = psycopg.conninfo.conninfo_to_dict(location)
    except psycopg.Error:
        # libpq's words would quote a part of it, perhaps of the password
        raise InputError(f"{RULE}.") from None
    ports = str(options.get("port") or "5432").split(",")
    if "@" in str(options.get("host") or "") or not all(port.isdigit() for port in ports):
        raise InputError(f"{RULE}.")
    return options


def without_password(options: dict[str, Any]) -> str:
    """The options, fit to be shown."""
    host = str(options.get("host") or "localhost")
    name = str(options.get("dbname") or "")
    if options.get("port"):
        host = f"{host}:{options['port']}"
    if options.get("user"):
        host = f"{options['user']}@{host}"
    return f"postgresql://{host}/{name}"


def without_secrets(text: str, location: str) -> str:
    """``text`` in one line, if no part of it can be a part of the password."""
    import psycopg

    secret = str(psycopg.conninfo.conninfo_to_dict(location).get("password") or "")
    typed = re.search(r"://[^/?]*?:(.*)@", location)
    pieces = [secret]
    if typed:
        pieces += re.split(r"[:/@?#&]", typed[1])
    if any(piece and piece in text for piece in pieces):
        return UNTOLD
    return " ".join(text.split())
