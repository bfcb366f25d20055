"""Running the service: sockets, signals, exit codes."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import sys
from collections.abc import Iterator

import uvicorn

from patientbandits.errors import InputError, positive, require, whole
from patientbandits.live import shop as library
from patientbandits.live.http.hosts import loopback
from patientbandits.live.http.observe import Log
from patientbandits.live.http.protocol import Protocol
from patientbandits.live.http.service import Options, Service
from patientbandits.live.http.workers import supervise
from patientbandits.live.keys import Keyring

FAILED = 1
"""exit code if the database failed"""

KEEP_ALIVE = 75
DRAIN_SECONDS = 0.5
"""how long clients are told that the connection closes before it does"""


class Server(uvicorn.Server):
    """Stops in good order: first every answer says that the connection will close, then idle connections are closed."""

    service: Service

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.stop)
        yield

    def stop(self) -> None:
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.service.draining = True
        for server in self.servers:
            server.close()
        await asyncio.sleep(DRAIN_SECONDS)
        await super().shutdown(sockets)


def listen(host: str, port: int) -> socket.socket:
    """A bound socket."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with contextlib.ExitStack() as stack:
            bound = stack.enter_context(socket.socket(family, kind, protocol))
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind(address)
            stack.pop_all()  # it stays open
    except (OSError, UnicodeError) as error:
        raise InputError(
            f"serve: cannot listen on {host!r}, port {port}: {getattr(error, 'strerror', None) or error}."
        ) from None
    return bound


def serve(db: str, host: str, port: int, workers: int, options: Options) -> int:
    """Serve until told to stop; the exit code."""
    if not options.keys and not loopback(host):
        raise InputError(
            f"serve: without keys, only this machine may reach the service: host must be a loopback address; got host={host!r}."
        )
    require(0 <= port < 2**16, "serve", "port must be in 0..65535", port=port)
    whole("serve", "workers", workers, 1)
    whole("serve", "queue", options.queue, 1)
    if options.rate is not None:
        positive("serve", "rate", options.rate)
    if workers > 1 and not db.startswith(("postgresql://", "postgres://")):
        raise InputError(
            f"serve: SQLite has one writer: workers must be 1, or use PostgreSQL; got workers={workers}."
        )
    with listen(host, port) as bound:
        with library.open(db) as shop:
            if options.keys:
                token = Keyring(shop).create_first()
                if token is not None:
                    print(f"first key, scope admin, shown only now: {token}", flush=True)
            address = bound.getsockname()
            shown = f"[{address[0]}]" if ":" in address[0] else address[0]
            print(f"listening on http://{shown}:{address[1]}", flush=True)
            if workers == 1:
                return work(shop, bound, options)
        return supervise(workers, run_worker, (db, bound, options), Log(options.log_level))


def run_worker(db: str, bound: socket.socket, options: Options) -> None:
    """One of several processes."""
    with library.open(db) as shop:
        code = work(shop, bound, options)
    sys.exit(code)


def work(shop: library.Shop, bound: socket.socket, options: Options) -> int:
    """Answer requests until told to stop."""
    holder: list[Server] = []
    service = Service(shop, options, lambda: holder[0].stop())
    config = uvicorn.Config(
        service,
        http=Protocol,
        loop="uvloop" if sys.platform != "win32" else "asyncio",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=30,
    )
    server = Server(config)
    server.service = service
    holder.append(server)
    server.run([bound])
    return FAILED if shop.journal.failure is not None else 0
