"""Running the service: sockets, signals, exit codes."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from patientbandits._util.allocator import tune_malloc
from patientbandits.errors import InputError, require, whole
from patientbandits.live import shop as library
from patientbandits.live.http.auth import checked_origin, loopback
from patientbandits.live.http.limits import check_rates
from patientbandits.live.http.logs import log_event, set_up_logs
from patientbandits.live.http.routes import PAGES, ROUTES
from patientbandits.live.http.service import App, Options, Service
from patientbandits.live.http.traces import exported_traces
from patientbandits.live.operations import Keyring
from patientbandits.live.server.protocol import MOST_CONNECTIONS, HTTPProtocol, ServerState
from patientbandits.live.server.writer import Writer
from patientbandits.live.storage import exclusive_lock

FAILED = 1
"""exit code if the database failed"""

BACKLOG = 2048
SMALL_BACKLOG = 128
"""connections that wait to be accepted"""

FILES = 128
"""open files that are left to the database and to everything else but connections"""

DRAIN_SECONDS = 0.5
"""how long clients are told that the connection closes before it does"""

LONGEST_DRAIN = 7.0
"""seconds for requests under way, after that"""

CHECK_EVERY = 0.05
"""seconds between looks at what is still under way"""


class Capacity(NamedTuple):
    connections: int
    backlog: int


def raise_file_limit(needed: int) -> int:
    """Have so many open files allowed if possible; how many are."""
    if sys.platform == "win32":
        return needed
    import resource

    allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if allowed == resource.RLIM_INFINITY or allowed >= needed:
        return needed
    if most != resource.RLIM_INFINITY:
        needed = min(needed, most)
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, most))
    return needed


def connection_capacity(files: int) -> Capacity:
    """How many connections may be open, and wait, where so many files may be open.

    All that wait are accepted at once, before the first of them can be refused.
    """
    if files >= MOST_CONNECTIONS + BACKLOG + FILES:
        return Capacity(MOST_CONNECTIONS, BACKLOG)
    most = files - SMALL_BACKLOG - FILES
    require(most > 0, "serve", f"open files (ulimit -n) must be > {SMALL_BACKLOG + FILES}", n=files)
    return Capacity(min(most, MOST_CONNECTIONS), SMALL_BACKLOG)


class Server:
    """Stops in good order: first every answer says that the connection will close, then idle
    connections are closed, and what is under way is answered."""

    def __init__(self, shop: library.Shop, options: Options) -> None:
        self._shop = shop
        self._stopping = asyncio.Event()
        self._service = Service(shop, options, self.stop)
        if options.traces:
            self._service.traces = exported_traces()
        self._capacity = connection_capacity(raise_file_limit(MOST_CONNECTIONS + BACKLOG + FILES))
        app = App(self._service, (*ROUTES, *PAGES))
        self._state = ServerState(app, self._capacity.connections)

    def stop(self) -> None:
        self._stopping.set()

    def _on_signal(self, number: signal.Signals) -> None:
        log_event("stopping", signal=number.name)
        self.stop()

    async def run(self, bound: socket.socket) -> None:
        """Answer requests until told to stop."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            with contextlib.suppress(NotImplementedError):  # Windows
                loop.add_signal_handler(number, self._on_signal, number)
        queue = self._service.options.queue
        await self._service.start(Writer(self._shop, queue, self.stop))
        ticking = loop.create_task(self._tick())
        listener = await loop.create_server(
            lambda: HTTPProtocol(self._state), sock=bound, backlog=self._capacity.backlog
        )
        await self._stopping.wait()
        listener.close()
        await self._drain()
        ticking.cancel()
        await self._service.stop()

    async def _tick(self) -> None:
        """Once a second: the date, and what takes too long."""
        loop = asyncio.get_running_loop()
        while True:
            self._state.renew_date()
            self._state.check(loop.time())
            await asyncio.sleep(1.0)

    async def _drain(self) -> None:
        self._service.draining = True
        self._state.draining = True
        await asyncio.sleep(DRAIN_SECONDS)
        for connection in list(self._state.connections):
            connection.close_if_idle()
        loop = asyncio.get_running_loop()
        end = loop.time() + LONGEST_DRAIN
        while self._state.connections and loop.time() < end:
            await asyncio.sleep(CHECK_EVERY)
        for connection in list(self._state.connections):
            connection.abort()


def listen(host: str, port: int) -> socket.socket:
    """A bound socket."""
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = addresses[0]
        with contextlib.ExitStack() as stack:
            bound = stack.enter_context(socket.socket(family, kind, protocol))
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind(address)
            stack.pop_all()  # it stays open
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise InputError(f"serve: cannot listen on {host!r}, port {port}: {why}.") from None
    return bound


def check_options(host: str, port: int, options: Options) -> None:
    if not options.keys and not loopback(host):
        raise InputError(
            "serve: without keys, only this machine may reach the service: "
            f"host must be a loopback address; got host={host!r}."
        )
    require(0 <= port < 2**16, "serve", "port must be in 0..65535", port=port)
    whole("serve", "queue", options.queue, 1)
    require(options.alerts_every >= 0, "serve", "alerts must be >= 0", alerts=options.alerts_every)
    check_rates(options.rates)
    if options.traces:
        exported_traces().close()  # says what is missing before anything is begun
    for origin in options.origins:
        checked_origin(origin)


def serve(db: str, host: str, port: int, options: Options) -> int:
    """Serve until told to stop; the exit code."""
    check_options(host, port, options)
    with exclusive_lock(db, "serve"), listen(host, port) as bound, library.open(db) as shop:
        if options.keys:
            first = read_first_key(options.first_key)
            token = Keyring(shop.store, shop.journal).create_first(first)
            if token is not None and first is None:
                print(f"first key, scope admin, shown only now: {token}", flush=True)
        print(f"listening on {shown_url(bound)}", flush=True)
        return work(shop, bound, options)


def read_first_key(path: str) -> str | None:
    """The key in this file, if one is named."""
    if not path:
        return None
    try:
        return Path(path).read_text("ascii").strip()
    except (OSError, ValueError) as error:
        raise InputError(f"serve: the first key cannot be read from {path!r}: {error}.") from None


def shown_url(bound: socket.socket) -> str:
    host, port = bound.getsockname()[:2]
    if ":" in host:
        host = f"[{host}]"
    return f"http://{host}:{port}"


def work(shop: library.Shop, bound: socket.socket, options: Options) -> int:
    """Answer requests until told to stop; the exit code."""
    tune_malloc()
    set_up_logs(options.log_level)

    async def serve_shop() -> None:
        await Server(shop, options).run(bound)

    with asyncio.Runner(loop_factory=event_loop()) as runner:
        runner.run(serve_shop())
    log_event("stopped")
    return FAILED if shop.journal.failure is not None else 0


def event_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """uvloop's, where there is one."""
    if sys.platform == "win32":
        return None
    import uvloop

    return uvloop.new_event_loop
