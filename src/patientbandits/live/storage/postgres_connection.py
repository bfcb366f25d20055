"""Connections to PostgreSQL, with all that will be relied upon read back."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from patientbandits.errors import InputError
from patientbandits.live.errors import UnavailableError
from patientbandits.live.storage.conninfo import without_secrets

try:
    import psycopg as psycopg
except ImportError as error:  # pragma: no cover
    raise InputError(
        "live: PostgreSQL needs more packages; install patientbandits[postgres]."
    ) from error

NETWORK = {
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}
SESSION = (
    "SET lock_timeout = '10s'; SET idle_in_transaction_session_timeout = '60s'; "
    "SET plan_cache_mode = force_custom_plan"
)
"""A worker that hangs does not hold the others up for ever; a plan made for an empty log is not
kept for a long one."""

DURABLE = {"synchronous_commit": "off", "fsync": "off", "full_page_writes": "off"}
"""Settings that would lose what was acknowledged, or all."""


def connect(location: str, options: dict[str, Any]) -> psycopg.Connection:
    """``options``: what ``location`` stands for."""
    with postgres_errors(location):
        connection = psycopg.connect(**{**NETWORK, **options}, autocommit=True)
    try:
        with postgres_errors():
            connection.execute(SESSION)
        check_durable(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def check_durable(connection: psycopg.Connection) -> None:
    statement = "SELECT name, setting FROM pg_settings WHERE name = ANY(%s)"
    with postgres_errors():
        found = connection.execute(statement, (list(DURABLE),)).fetchall()
    for name, setting in found:
        if setting == DURABLE[name]:
            raise UnavailableError(
                f"{name} is {setting}, so what is acknowledged could be lost; set it to on"
            )


@contextlib.contextmanager
def postgres_errors(connecting_to: str | None = None) -> Iterator[None]:
    """PostgreSQL's errors in our words, without the data that its details quote."""
    try:
        yield
    except psycopg.Error as error:
        words = error.diag.message_primary or str(error)
        if connecting_to is None:
            told = f"{type(error).__name__}: {' '.join(words.split())}"
            raise UnavailableError(f"the database failed: {told}") from error
        # its own words are not kept beside ours: they might quote a part of the password
        told = f"{type(error).__name__}: {without_secrets(words, connecting_to)}"
        raise UnavailableError(f"the database failed: {told}") from None
