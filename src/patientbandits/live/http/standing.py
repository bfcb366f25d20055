"""Answers that stand for a while: what takes long to find out is not found out again at once.

The longer a log, the longer its reports take; however many pages are open, they may take only a
small share of the time that decisions need too.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock
from typing import Any, NamedTuple

from patientbandits.live.experiment import ExperimentHandle
from patientbandits.live.http.allocator import give_back
from patientbandits.live.settings import Settings

SLOW = 0.1
"""processor seconds: what takes less is found out whenever it is asked for"""

REST_TIMES = 20.0
"""times as long as it took, an answer stands"""

MOST_STANDING = 1000

Question = tuple[int | str | None, ...]
"""the experiment's number, what is asked, and how"""


class StandingAnswer(NamedTuple):
    answer: Any
    settings: Settings
    """an answer stands only as long as they do"""
    until: float


class StandingAnswers:
    """Who asks the same at once shares one piece of work before it comes here: see `SharedWork`."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        used: Callable[[], float] = time.thread_time,
    ) -> None:
        self._clock = clock
        self._used = used
        """processor seconds of this thread"""
        self._standing: dict[Question, StandingAnswer] = {}
        self._lock = Lock()

    def answer(self, handle: ExperimentHandle, asked: Question, work: Callable[[], Any]) -> Any:
        """What ``work`` gives, or gave a moment ago; in a thread for reading."""
        whole = (handle.experiment.id, *asked)
        settings = handle.settings
        found = self._standing.get(whole)
        if found is not None and found.settings == settings and self._clock() < found.until:
            return found.answer
        began = self._used()
        answer = work()
        took = self._used() - began
        if took >= SLOW:
            give_back()
            self._keep(whole, StandingAnswer(answer, settings, self._clock() + REST_TIMES * took))
        return answer

    def _keep(self, asked: Question, found: StandingAnswer) -> None:
        now = self._clock()
        with self._lock:
            standing = {key: one for key, one in self._standing.items() if one.until > now}
            if len(standing) < MOST_STANDING:
                standing[asked] = found
            self._standing = standing
