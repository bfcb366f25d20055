"""Commands and their outcomes between processes: what a worker asks of the writer, and back.

A frame is four bytes of length and a message in msgpack. Both ends run the same program, so a
class is named by its place in a list, and its fields follow in their order.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec

from patientbandits.live import commands as command_module
from patientbandits.live import errors as error_module
from patientbandits.live import outcomes as outcome_module
from patientbandits.live.commands import Command
from patientbandits.live.errors import UnavailableError
from patientbandits.live.store.base import Experiment

LENGTH_BYTES = 4
LARGEST_FRAME = 64 * 1024 * 1024
ASK, WARM = 0, 1
"""messages of a worker: (ASK, requests), each (its number, commands); (WARM, number, settings)"""

TOLD, WARMED, READY = 0, 1, 2
"""messages of the writer: (TOLD, answers, counts or None), each (the request's number, outcomes);
(WARMED, number, what is wrong or None); (READY,)"""

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


def packed_command(command: Command) -> tuple[Any, ...]:
    """(place of its class, its experiment, fields ...)"""
    place = COMMAND_PLACES[type(command)]
    form = COMMAND_FORMS[place]
    fields = form.fields(command)
    if form.single:
        fields = (fields,)
    return (place, command.experiment, *fields)


def unpacked_command(packed: Sequence[Any]) -> Command:
    place, experiment, *fields = packed
    return COMMAND_FORMS[place].make(known_experiment(*experiment), *fields)


@lru_cache(maxsize=10_000)
def known_experiment(*fields: Any) -> Experiment:
    return Experiment(*fields)


def packed_outcome(command: Command) -> tuple[Any, ...]:
    """(place of the class of its outcome, fields ...), or (place of the error's class, words)"""
    error = command.error
    if error is None:
        return (OUTCOME_PLACES[type(command.outcome)], *command.outcome)
    if type(error) in ERROR_PLACES:
        return (ERROR_PLACES[type(error)], str(error))
    return (ERROR_PLACES[UnavailableError], f"{type(error).__name__}: {error}")


def take_outcome(command: Command, packed: Sequence[Any]) -> None:
    """Give the command what `packed_outcome` made of its twin."""
    place = packed[0]
    if place >= 0:
        command.outcome = OUTCOME_KINDS[place](*packed[1:])
    else:
        command.error = ERROR_KINDS[-1 - place](packed[1])


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
