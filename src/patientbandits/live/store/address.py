"""Addresses of PostgreSQL databases, and what may be said of them: never the password."""

from __future__ import annotations

import re
from typing import Any

from patientbandits.errors import InputError

SHOWN = ("host", "port", "user", "dbname")


def parsed(address: str) -> dict[str, Any]:
    """libpq's options that ``address`` stands for."""
    import psycopg

    rule = "live: the address must be postgresql://user:password@host:port/database, special characters percent-encoded"
    try:
        options = psycopg.conninfo.conninfo_to_dict(address)
    except psycopg.Error:
        raise InputError(
            f"{rule}."
        ) from None  # libpq's words would quote a part of it, perhaps of the password
    ports = str(options.get("port") or "5432").split(",")
    if "@" in str(options.get("host") or "") or not all(port.isdigit() for port in ports):
        raise InputError(f"{rule}.")
    return options


def described(options: dict[str, Any]) -> str:
    """The options, fit to be shown."""
    host, port, user, name = (str(options.get(part) or "") for part in SHOWN)
    return f"postgresql://{f'{user}@' if user else ''}{host or 'localhost'}{f':{port}' if port else ''}/{name}"


def safely(text: str, address: str) -> str:
    """``text`` in one line, if no part of it can be a part of the password."""
    import psycopg

    secret = str(psycopg.conninfo.conninfo_to_dict(address).get("password") or "")
    typed = re.search(r"://[^/?]*?:(.*)@", address)
    pieces = [secret, *re.split(r"[:/@?#&]", typed[1] if typed else "")]
    if any(piece and piece in text for piece in pieces):
        return "it cannot be reached; why is not shown, since the words hold a part of the password"
    return " ".join(text.split())
