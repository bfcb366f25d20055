"""So many requests per second and key: a bucket of tokens that fills at the rate, and holds one second's worth."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from patientbandits.live.http.problems import ProblemError
from patientbandits.live.keys import Key


class Limits:
    def __init__(self, rate: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._clock = rate, clock
        self._buckets: dict[str, tuple[float, float]] = {}
        """key: (tokens, when)"""

    def take(self, key: Key | None, tokens: int) -> None:
        """Take ``tokens``; more than there are makes a debt, and a debt must be paid before the next request."""
        if self._rate is None:
            return
        name, now = key.id if key else "", self._clock()
        have, then = self._buckets.get(name, (max(self._rate, 1.0), now))
        have = min(have + (now - then) * self._rate, max(self._rate, 1.0))
        if have < 1 and tokens > 0:
            wait = math.ceil((1 - have) / self._rate)
            raise ProblemError(
                429,
                "rate",
                f"at most {self._rate:g} requests per second.",
                ((b"retry-after", b"%d" % wait),),
            )
        self._buckets[name] = (have - tokens, now)
