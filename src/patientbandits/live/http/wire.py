"""Commands and their outcomes between processes: what a worker asks of the writer, and back.

A frame is four bytes of length and a message in msgpack. Both ends run the same program, so a
class is named by its place in a list, and its fields follow in their order.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec

from patientbandits.live import errors as error_module
from patientbandits.live import outcomes as outcome_module
from patientbandits.live.commands import Command
from patientbandits.live.commands import commands as command_module
from patientbandits.live.errors import UnavailableError
from patientbandits.live.log import Experiment

LENGTH_BYTES = 4
LARGEST_FRAME = 64 * 1024 * 1024
ASK, WARM = 0, 1
"""messages of a worker: (ASK, number, commands); (WARM, number, settings)"""

TOLD, WARMED, READY = 0, 1, 2
"""messages of the writer: (TOLD, number of what was asked, outcomes, counts or None); (WARMED,
number, what is wrong or None); (READY,)"""

pack = msgspec.msgpack.Encoder().encode
unpack = msgspec.msgpack.Decoder().decode


class WriterCounts(NamedTuple):
    """What the one who writes has counted."""

    commits: int = 0
    experiment_failures: int = 0
    interpreted: int = 0
    clock_jump: float = 0.0
    log_ahead: float = 0.0


class CommandForm(NamedTuple):
    """How a kind of command is taken apart and put together."""

    make: Callable[..., Command]
    fields: Callable[[Command], Any]
    """all but the experiment: a tuple, or the value itself if there is one"""
    single: bool


def classes_of(module: Any, base: type) -> list[type]:
    """The module's own classes derived from ``base``, in an order that all processes agree on."""
    found = [value for value in vars(module).values() if isinstance(value, type)]
    own = [value for value in found if value.__module__ == module.__name__]
    return sorted((value for value in own if issubclass(value, base)), key=lambda c: c.__name__)


def form_of(kind: type[Command]) -> CommandForm:
    names = [*inspect.signature(kind).parameters][1:]
    names = [name for name in names if name not in ("outcome", "error")]
    fields = attrgetter(*names) if names else lambda command: ()
    return CommandForm(make=kind, fields=fields, single=len(names) == 1)


COMMAND_KINDS: list[type[Command]] = classes_of(command_module, Command)
COMMAND_FORMS = [form_of(kind) for kind in COMMAND_KINDS]
COMMAND_PLACES = {kind: place for place, kind in enumerate(COMMAND_KINDS)}

OUTCOME_KINDS: list[Any] = [
    *classes_of(outcome_module, tuple),
    *classes_of(command_module, tuple),
]
OUTCOME_PLACES = {kind: place for place, kind in enumerate(OUTCOME_KINDS)}

ERROR_KINDS = classes_of(error_module, Exception)
ERROR_PLACES = {kind: -1 - place for place, kind in enumerate(ERROR_KINDS)}
"""negative: so that an outcome and an error can be told apart"""


def packed_commands(commands: Iterable[Command]) -> list[tuple[int, Experiment, list[Any]]]:
    """Runs of commands alike: (place of their class, their experiment, fields of each)"""
    runs: list[tuple[int, Experiment, list[Any]]] = []
    kind: type[Command] | None = None
    experiment: Experiment | None = None
    fields: Callable[[Command], Any]
    for command in commands:
        if type(command) is not kind or command.experiment is not experiment:
            kind = type(command)
            experiment = command.experiment
            place = COMMAND_PLACES[kind]
            fields = COMMAND_FORMS[place].fields
            rows: list[Any] = []
            runs.append((place, experiment, rows))
        rows.append(fields(command))
    return runs


def unpacked_commands(runs: Iterable[Sequence[Any]]) -> list[Command]:
    commands: list[Command] = []
    for place, packed_experiment, rows in runs:
        form = COMMAND_FORMS[place]
        make = form.make
        experiment = known_experiment(*packed_experiment)
        if form.single:
            commands += [make(experiment, field) for field in rows]
        else:
            commands += [make(experiment, *fields) for fields in rows]
    return commands


@lru_cache(maxsize=10_000)
def known_experiment(*fields: Any) -> Experiment:
    return Experiment(*fields)


def packed_outcomes(commands: Iterable[Command]) -> list[tuple[int, list[Any]]]:
    """Runs of outcomes alike: (place of their class, each), or of errors, by their words"""
    runs: list[tuple[int, list[Any]]] = []
    last = None
    for command in commands:
        error = command.error
        if error is None:
            place = OUTCOME_PLACES[type(command.outcome)]
            told = command.outcome
        elif type(error) in ERROR_PLACES:
            place = ERROR_PLACES[type(error)]
            told = str(error)
        else:
            place = ERROR_PLACES[UnavailableError]
            told = f"{type(error).__name__}: {error}"
        if place != last:
            rows: list[Any] = []
            runs.append((place, rows))
            last = place
        rows.append(told)
    return runs


def take_outcomes(commands: Sequence[Command], runs: Iterable[Sequence[Any]]) -> None:
    """Give the commands what `packed_outcomes` made of their twins."""
    waiting = iter(commands)
    for place, rows in runs:
        if place >= 0:
            kind = OUTCOME_KINDS[place]
            for row in rows:
                next(waiting).outcome = kind._make(row)
        else:
            for words in rows:
                next(waiting).error = ERROR_KINDS[-1 - place](words)


def frame(message: Any) -> bytes:
    body = pack(message)
    return len(body).to_bytes(LENGTH_BYTES, "big") + body


class Frames:
    """Puts together what arrives in pieces."""

    def __init__(self) -> None:
        self._received = b""

    def feed(self, data: bytes) -> Iterator[Any]:
        """The messages that are whole now."""
        received = self._received + data if self._received else data
        at = 0
        while len(received) - at >= LENGTH_BYTES:
            length = int.from_bytes(received[at : at + LENGTH_BYTES], "big")
            if length > LARGEST_FRAME:
                raise ValueError(f"a frame of {length} bytes")
            end = at + LENGTH_BYTES + length
            if len(received) < end:
                break
            yield unpack(received[at + LENGTH_BYTES : end])
            at = end
        self._received = received[at:]
