"""Who does the work: threads, processes, or the workers of a Dask cluster.

An executor carries out calls of one function and gives the results as they come, in any order.
Threads and processes are joblib's. A cluster is asked through its own client, not through joblib's:
that one waits for ever for a call whose workers died, and here such a call is an error.
"""

from __future__ import annotations

import pickle
import re
import signal
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from multiprocessing import resource_tracker
from typing import Any, NamedTuple

from joblib import Parallel, cpu_count, delayed

from patientbandits.errors import InputError, whole

LOCAL = {"threads": "threading", "processes": "loky"}
SCHEDULER = re.compile(r"((tcp|tls|ws|wss|ucx)://)?[^\s/]+:\d+")
CONNECT_SECONDS = 5
WORKER_SECONDS = 5
Function = Callable[..., Any]
Call = tuple[Any, ...]
Results = Generator[Any, None, None]


class Executor(NamedTuple):
    """Carries out calls; a few of them may share the cores."""

    cores: int
    """1 on a cluster, which does not say"""
    carry_out: Callable[[Function, Sequence[Call]], Results]


@contextmanager
def executor(workers: int | None = None, on: str = "threads") -> Iterator[Executor]:
    """``workers`` threads or processes, by default one per core, or the workers of a cluster.

    on  "threads", "processes", or where the cluster's scheduler is
    """
    if on in LOCAL:
        if workers is None:
            workers = cpu_count()
        size = whole("sweep", "workers", workers, 1)
        yield Executor(size, lambda function, calls: _locally(function, calls, size, LOCAL[on]))
        return
    if not isinstance(on, str) or not SCHEDULER.fullmatch(on):
        known = ", ".join(LOCAL)
        raise InputError(
            f"sweep: on must be one of {known}, or the address of a Dask scheduler "
            f"such as tcp://host:8786; got on={on!r}."
        )
    if workers is not None:
        raise InputError(
            "sweep: workers must not be given with a cluster, which has its own; "
            f"got workers={workers!r}."
        )
    with _connected(on) as client:
        yield Executor(1, lambda function, calls: _remotely(function, calls, client))


def _locally(function: Function, calls: Sequence[Call], size: int, backend: str) -> Results:
    parallel = Parallel(
        size, backend=backend, batch_size=1, max_nbytes=None, return_as="generator_unordered"
    )
    with _interrupts_blocked(backend):
        results = parallel(delayed(function)(*call) for call in calls)
    try:
        for result in results:  # noqa: UP028  # `yield from` would close it with warnings on
            yield result
    except BrokenExecutor as error:
        raise ChildProcessError(
            f"sweep: a worker process died (out of memory?): {type(error).__name__}"
        ) from error
    except pickle.PicklingError as error:
        reason = error.__cause__ or error
        raise InputError(
            f"sweep: problem and policy must be picklable to leave this process; got: {reason}"
        ) from error
    finally:
        with warnings.catch_warnings():
            # interrupted: joblib deplores that not all results were fetched
            warnings.simplefilter("ignore")
            results.close()


@contextmanager
def _interrupts_blocked(backend: str) -> Iterator[None]:
    """Start worker processes that do not hear Ctrl-C, which the terminal sends to all.

    This process alone hears it and ends the others; each of them would print a traceback. They
    inherit the mask from the moment they start, before any code of theirs could set one. An
    interrupt that comes meanwhile waits until the mask is taken off.
    """
    if backend != "loky" or not hasattr(signal, "pthread_sigmask"):  # threads; Windows
        yield
        return
    # multiprocessing starts its tracker with the first worker, and takes every mask off then
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _connected(scheduler: str) -> Iterator[Any]:
    try:
        from distributed import Client
    except ImportError:
        raise InputError(
            "sweep: a cluster needs Dask's package `distributed`: "
            "pip install patientbandits[cluster]"
        ) from None
    try:
        client = Client(scheduler, timeout=CONNECT_SECONDS, set_as_default=False)
    except OSError as error:
        reason = str(error).splitlines()[0]
        raise InputError(
            f"sweep: a Dask scheduler must answer at {scheduler!r}; got: {reason}"
        ) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=WORKER_SECONDS)
        except TimeoutError:
            raise InputError(
                f"sweep: the cluster at {scheduler!r} must have a worker; "
                f"got none in {WORKER_SECONDS} s."
            ) from None
        yield client


def _remotely(function: Function, calls: Sequence[Call], client: Any) -> Results:
    from distributed import KilledWorker, as_completed

    futures = [client.submit(function, *call, pure=False) for call in calls]
    try:
        for future, result in as_completed(futures, with_results=True, loop=client.loop):
            if future.status != "finished":
                where = client.scheduler.address
                raise ConnectionError(f"sweep: the scheduler at {where!r} is gone")
            yield result
    except KilledWorker as error:
        raise ChildProcessError(f"sweep: {error}") from error
