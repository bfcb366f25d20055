"""Running the service: sockets, signals, exit codes."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import sys
import tempfile
from collections.abc import Iterator

import uvicorn

from patientbandits.errors import InputError, positive, require, whole
from patientbandits.live import shop as library
from patientbandits.live.http.access import loopback
from patientbandits.live.http.allocator import settle_allocator
from patientbandits.live.http.app import App
from patientbandits.live.http.cors import checked_origin
from patientbandits.live.http.logs import log_event, set_up_logs
from patientbandits.live.http.protocol import OurProtocol
from patientbandits.live.http.service import Options, Service
from patientbandits.live.http.supervisor import WRITE_FAILED, Role, supervise
from patientbandits.live.http.traces import exported_traces
from patientbandits.live.http.writer_process import run_writer
from patientbandits.live.operations import Keyring
from patientbandits.live.storage import alone_with

FAILED = 1
"""exit code if the database failed"""

KEEP_ALIVE = 75
DRAIN_SECONDS = 0.5
"""how long clients are told that the connection closes before it does"""


class Server(uvicorn.Server):
    """Stops in good order: first every answer says that the connection will close, then idle
    connections are closed."""

    service: Service

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.told_to_stop, number)
        yield

    def told_to_stop(self, number: signal.Signals) -> None:
        log_event("stopping", signal=number.name)
        self.stop()

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
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = found[0]
        with contextlib.ExitStack() as stack:
            bound = stack.enter_context(socket.socket(family, kind, protocol))
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind(address)
            stack.pop_all()  # it stays open
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise InputError(f"serve: cannot listen on {host!r}, port {port}: {why}.") from None
    return bound


def check_options(db: str, host: str, port: int, workers: int, options: Options) -> None:
    if not options.keys and not loopback(host):
        raise InputError(
            "serve: without keys, only this machine may reach the service: "
            f"host must be a loopback address; got host={host!r}."
        )
    require(0 <= port < 2**16, "serve", "port must be in 0..65535", port=port)
    whole("serve", "workers", workers, 1)
    whole("serve", "queue", options.queue, 1)
    require(options.alerts_every >= 0, "serve", "alerts must be >= 0", alerts=options.alerts_every)
    if options.rate is not None:
        positive("serve", "rate", options.rate)
    if options.traces:
        exported_traces().close()  # says what is missing before anything is begun
    for origin in options.origins:
        checked_origin(origin)
    if workers > 1 and not hasattr(socket, "AF_UNIX"):
        raise InputError(f"serve: on this system workers must be 1; got workers={workers}.")


def serve(db: str, host: str, port: int, workers: int, options: Options) -> int:
    """Serve until told to stop; the exit code."""
    check_options(db, host, port, workers, options)
    with alone_with(db, "serve"), listen(host, port) as bound:
        with library.open(db) as shop:
            if options.keys:
                token = Keyring(shop.store, shop.journal).create_first()
                if token is not None:
                    print(f"first key, scope admin, shown only now: {token}", flush=True)
            print(f"listening on {shown_url(bound)}", flush=True)
            if workers == 1:
                return work(shop, bound, options)
        set_up_logs(options.log_level)
        return serve_with(workers, db, bound, options)


def serve_with(workers: int, db: str, bound: socket.socket, options: Options) -> int:
    """One process writes, ``workers`` speak HTTP; the exit code."""
    share = options._replace(queue=max(options.queue // workers, 1))
    with tempfile.TemporaryDirectory(prefix="patientbandits-") as folder:
        address = f"{folder}/writer"
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as inner:
            inner.bind(address)
            inner.listen(workers)  # from now on: a worker may come before the writer is there
            writer = Role("writer", run_writer, (db, inner, options.queue, options.log_level))
            worker = Role("worker", run_worker, (db, bound, share, address))
            others = share._replace(alerts_every=0.0)  # one looks for all of them
            other = Role("worker", run_worker, (db, bound, others, address))
            return supervise([writer, worker, *[other] * (workers - 1)])


def shown_url(bound: socket.socket) -> str:
    host, port = bound.getsockname()[:2]
    if ":" in host:
        host = f"[{host}]"
    return f"http://{host}:{port}"


def run_worker(db: str, bound: socket.socket, options: Options, writer_address: str) -> int:
    """One of several processes before the one that writes."""
    with library.open(db) as shop:
        return WRITE_FAILED if work(shop, bound, options, writer_address) else 0


def work(
    shop: library.Shop,
    bound: socket.socket,
    options: Options,
    writer_address: str | None = None,
) -> int:
    """Answer requests until told to stop."""
    settle_allocator()
    set_up_logs(options.log_level)
    service = Service(shop, options, lambda: server.stop(), writer_address)
    if options.traces:
        service.traces = exported_traces()
    config = uvicorn.Config(
        App(service),
        http=OurProtocol,
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
    server.run([bound])
    log_event("stopped")
    return FAILED if shop.journal.failure is not None else 0
