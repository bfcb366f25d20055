"""A policy's replay, interpreted or compiled, whichever is at hand.

A policy that is `portable` decides the same to the last bit either way. It is interpreted at first,
without waiting for the compiler; a long stretch of events is compiled for, and so is, aside, what
has taken long enough. Any other policy is compiled before its first event.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from threading import Lock, Thread
from typing import Any, NamedTuple

import numpy as np

from patientbandits.policies.base import Chance, Policy, is_portable
from patientbandits.policies.rule import Rule
from patientbandits.simulation.engine.compile import compiler_is_off, digest_or_none, is_on_disk
from patientbandits.simulation.engine.replay import (
    ArmTally,
    compiled_chance,
    kernel_for_replay,
    plain_replay,
)
from patientbandits.simulation.engine.shares import NO_SHARES, ShareBook

MANY_EVENTS = 2000
"""A longer stretch is worth the compiler's time."""

INTERPRETED_SECONDS = 2.0
"""So much time spent interpreting is worth it too."""


class Known(NamedTuple):
    """What a policy decides from: changed by its events."""

    numbers: tuple[float, ...]
    arrays: tuple[Any, ...]
    tally: ArmTally
    chance: Chance
    shares: ShareBook = NO_SHARES


class Program:
    """One kind of policy's; all its experiments share it."""

    def __init__(self, plain: Callable[..., Any], portable: bool) -> None:
        self._plain = plain
        self.portable = portable
        """whether it can be interpreted until it is compiled"""
        self._seconds = 0.0
        self._lock = Lock()
        self._asked = False
        self.is_compiled = False
        """whether compiled code is at hand"""
        self.digest = digest_or_none(plain)
        """of its content, or None if it cannot be known"""

    def run(self, known: Known, events: Any, deciding: bool) -> tuple[int, int]:
        """Carry out ``events``; returns what `plain_replay` does."""
        if self.is_compiled or not self.portable or len(events) > MANY_EVENTS:
            return self._run_compiled(known, events, deciding)
        began = time.thread_time()
        found = self._run_plain(known, events, deciding)
        self._seconds += time.thread_time() - began
        return found

    def _run_plain(self, known: Known, events: Any, deciding: bool) -> tuple[int, int]:
        with np.errstate(all="ignore"):  # as compiled code: infinite or not a number
            return self._plain(*known, events.view(np.recarray), deciding)

    def _run_compiled(self, known: Known, events: Any, deciding: bool) -> tuple[int, int]:
        if compiler_is_off():
            return self._run_plain(known, events, deciding)
        kernel = kernel_for_replay(self._plain)
        known = known._replace(chance=compiled_chance(known.chance))
        found: tuple[int, int] = kernel(*known, events.view(np.recarray), deciding)
        self.is_compiled = True
        return found

    @property
    def needs_compiler(self) -> bool:
        """Whether compiled code is neither at hand nor on the disk."""
        if self.is_compiled or compiler_is_off():
            return False
        return not is_on_disk(kernel_for_replay(self._plain))

    def compile(self, example: Known, events: Any) -> None:
        """Have compiled code at hand, by carrying out an example."""
        self._run_compiled(example, events, True)

    def compile_if_worth_it(self, example: Callable[[], None]) -> None:
        """In a thread of its own call ``example``, which calls `compile`; once."""
        if self.is_compiled or self._seconds < INTERPRETED_SECONDS:
            return
        with self._lock:
            if self._asked:
                return
            self._asked = True
        Thread(target=example, name="compiler", daemon=True).start()


def program_of(
    policy: Policy, rule: Rule, memory: tuple[Any, ...], shared: bool = False
) -> Program:
    """The program of policies of this kind; ``shared``: for experiments with shares."""
    return _program(plain_replay(rule, memory, shared), is_portable(policy))


@cache
def _program(plain: Callable[..., Any], portable: bool) -> Program:
    return Program(plain, portable)
