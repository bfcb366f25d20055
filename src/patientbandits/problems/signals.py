"""Early signals: what may be seen of a pull before its reward, such as a cart before a purchase."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from patientbandits.errors import InputError, probability
from patientbandits.problems.delays import Delay, NoDelay
from patientbandits.problems.delays.base import require_law


@dataclass(frozen=True)
class Signal:
    """A pull gives a signal with probability ``if_paid`` or ``if_not``, after a delay of its own.

    Which of the two decides its reward: the higher of its two values, whether that ever comes or
    not, or the lower. Given the reward, the signal knows nothing of the reward's delay. As with a
    reward, a signal of a pull of round s with delay D can be used first at decision s + max(D, 1).
    """

    if_paid: float
    if_not: float
    delays: Delay = NoDelay()  # noqa: RUF009  # frozen

    def __post_init__(self) -> None:
        for name in ("if_paid", "if_not"):
            object.__setattr__(self, name, probability("Signal", name, getattr(self, name)))
        if not isinstance(self.delays, Delay):
            raise InputError(f"Signal: delays must be a delay law; got delays={self.delays!r}.")
        require_law(self.delays)

    def describe(self) -> dict[str, Any]:
        """The signal as plain data, for files."""
        return {
            "if_paid": self.if_paid,
            "if_not": self.if_not,
            "delays": self.delays.describe(),
        }
