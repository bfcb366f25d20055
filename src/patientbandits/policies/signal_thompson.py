"""Thompson sampling that takes early signals for a hint of what will come, such as carts.

What came of a pull is known when it is as old as the ``window``: late. Whether it gave a signal is
known when it is as old as the ``signal_window``: soon. In between a pull counts as what older pulls
with such a signal, or without one, turned out to be worth (an index of surrogates, after Athey,
Chetty, Imbens & Kang, 2019). An arm judges by its own old pulls, and as long as it has few of them
it borrows from those of all arms: an arm whose signals are worth less than others' is found out
when its pulls grow old.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits._util.rng import Bits, beta
from patientbandits.errors import positive, require
from patientbandits.policies.base import Arm, Policy
from patientbandits.policies.parts.records import PullArms, PullFloats, PullInts, zeros

FIRST_PULLS_BELIEVED = 3.0
"""Before any pull is old, so many are believed to have paid 2 with a signal and 1 without."""


class SignalCounts(NamedTuple):
    """By arm and by signal (0: none, 1: one), unless said otherwise."""

    judged: Annotated[NDArray[np.int64], "arm", "signal"]
    """pulls as old as the signal window"""
    old: Annotated[NDArray[np.int64], "arm", "signal"]
    """pulls as old as the window"""
    paid: Annotated[NDArray[np.float64], "arm", "signal"]
    """what came of these within the window"""
    worth: Annotated[NDArray[np.float64], "signal"]
    """signal: what a pull is worth, of all arms"""
    time_of: PullFloats
    """pull: its time"""
    arm_of: PullArms
    """pull: its arm"""
    signal_of: PullInts
    """pull: 1 if it gave a signal within the signal window"""
    value_of: PullFloats
    """pull: what came of it within the window"""
    last_pull: NDArray[np.int64]
    """the last pull"""
    last_judged: NDArray[np.int64]
    """the last pull that is as old as the signal window"""
    last_old: NDArray[np.int64]
    """the last pull that is as old as the window"""


def count_by_age(memory: SignalCounts, time: float, signal_window: float, window: float) -> None:
    """Pulls that have become old enough for their signal, or for what came of them, to count."""
    pull = memory.last_judged[0] + 1
    while pull <= memory.last_pull[0] and time - memory.time_of[pull] >= signal_window:
        memory.judged[memory.arm_of[pull], memory.signal_of[pull]] += 1
        pull += 1
    memory.last_judged[0] = pull - 1
    pull = memory.last_old[0] + 1
    while pull <= memory.last_pull[0] and time - memory.time_of[pull] >= window:
        memory.old[memory.arm_of[pull], memory.signal_of[pull]] += 1
        memory.paid[memory.arm_of[pull], memory.signal_of[pull]] += memory.value_of[pull]
        pull += 1
    memory.last_old[0] = pull - 1


def expected(memory: SignalCounts, arm: int, signal: int, borrowed: float) -> float:
    """The expected worth of a pull of the arm with such a signal."""
    paid = memory.paid[arm, signal] + borrowed * memory.worth[signal]
    return paid / (memory.old[arm, signal] + borrowed)


@dataclass(frozen=True)
class SignalThompson(Policy):
    """A draw from Beta(1 + S, 1 + n - S), of the n pulls at least ``signal_window`` old

    S is what came of those at least ``window`` old within the window, and of each of the others e,
    what pulls of its arm with such a signal (none, or one within the signal window) are worth:
    e = (S' + k w) / (n' + k) if n' old pulls of the arm with such a signal brought S'. w is the
    same of all arms' pulls together, (2 + S'') / (3 + n'') with a signal and (1 + S'') / (3 + n'')
    without; k is ``borrowed``, in pulls. Without signals in the world it takes every young pull for
    an average one. Needs no horizon.
    """

    window: float
    signal_window: float
    borrowed: float = 10.0
    first_pulls: ClassVar[int] = 0

    class Numbers(NamedTuple):
        window: float
        signal_window: float
        borrowed: float

    def __post_init__(self) -> None:
        positive(self.owner, "signal_window", self.signal_window)
        positive(self.owner, "window", self.window)
        rule = f"window must be at least signal_window={self.signal_window}"
        require(self.window >= self.signal_window, self.owner, rule, window=self.window)
        positive(self.owner, "borrowed", self.borrowed)

    def memory(self, arms: int, capacity: int) -> SignalCounts:
        return zeros(SignalCounts, arm=arms, signal=2, pull=capacity + 1)

    @staticmethod
    def pulled(self: Numbers, memory: SignalCounts, arm: Arm, pull: int, time: float) -> None:
        memory.time_of[pull] = time
        memory.arm_of[pull] = arm.number
        memory.last_pull[0] = pull

    @staticmethod
    def signalled(self: Numbers, memory: SignalCounts, arm: Arm, pull: int, delay: float) -> None:
        if delay > self.signal_window:
            return
        if pull <= memory.last_judged[0]:  # heard of later than it came
            memory.judged[arm.number, 0] -= 1
            memory.judged[arm.number, 1] += 1
        if pull <= memory.last_old[0]:
            memory.old[arm.number, 0] -= 1
            memory.old[arm.number, 1] += 1
            memory.paid[arm.number, 0] -= memory.value_of[pull]
            memory.paid[arm.number, 1] += memory.value_of[pull]
        memory.signal_of[pull] = 1

    @staticmethod
    def arrived(
        self: Numbers, memory: SignalCounts, arm: Arm, pull: int, delay: float, reward: float
    ) -> None:
        if delay > self.window:
            return
        memory.value_of[pull] = reward
        if pull <= memory.last_old[0]:
            memory.paid[arm.number, memory.signal_of[pull]] += reward

    @staticmethod
    def refresh(self: Numbers, memory: SignalCounts, time: float) -> None:
        count_by_age(memory, time, self.signal_window, self.window)
        for signal in range(2):
            old = 0
            paid = 0.0
            for i in range(len(memory.old)):
                old += memory.old[i, signal]
                paid += memory.paid[i, signal]
            memory.worth[signal] = (1.0 + signal + paid) / (FIRST_PULLS_BELIEVED + old)

    @staticmethod
    def index(self: Numbers, memory: SignalCounts, arm: Arm, random: Bits) -> float:
        i = arm.number
        paid = 0.0
        pulls = 0.0
        for signal in range(2):
            young = memory.judged[i, signal] - memory.old[i, signal]
            paid += memory.paid[i, signal] + young * expected(memory, i, signal, self.borrowed)
            pulls += memory.judged[i, signal]
        return beta(1.0 + paid, 1.0 + max(pulls - paid, 0.0), random)
