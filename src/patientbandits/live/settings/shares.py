"""Shares of traffic that hold whatever the policy chooses.

An arm's share is p = floor + (1 - sum of floors) * policy. The control's share can be fixed, some
units can be held back outside the experiment, and the change of shares per day can be limited. The
random draw of a line follows from the experiment's seed and the line's number, so a replay of the
log gives the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from patientbandits._util.arithmetic import plain_sum
from patientbandits._util.rng import MASK, base_keys, bits_at, mix, unit
from patientbandits.live.errors import RefusedError
from patientbandits.simulation.engine import ShareBook

SHARE_SALT = 0x5B1CE5ED0A7A1E55
"""makes these draws independent of the policy's own"""


class Shares(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Shares, as fractions of 1."""

    minimum: float = 0.0
    """of every arm that the policy can choose"""
    arms: dict[str, float] = {}
    """the minimum of single arms, instead"""
    control: float | None = None
    """the control gets exactly this, and the policy chooses among the others"""
    holdback: float = 0.0
    """of units that are kept outside: they get the fallback arm and are not counted"""
    per_day: float | None = None
    """the most by which an arm's share may differ from that of the day before"""

    @property
    def mixes(self) -> bool:
        """Tell whether the shares change what the policy chooses."""
        return bool(self.minimum or self.arms or self.control is not None) or (
            self.per_day is not None
        )

    def floor(self, arm: str) -> float:
        return self.arms.get(arm, self.minimum)

    def floors(self, chosen: Sequence[str]) -> list[float]:
        return [self.floor(arm) for arm in chosen]

    def free(self, chosen: Sequence[str]) -> float:
        """The share that is left to the policy."""
        return 1.0 - (self.control or 0.0) - plain_sum(self.floors(chosen))


NOTHING_KEPT = Shares()


def parse_shares(value: Any) -> Shares | None:
    """Shares as a user writes them: a mapping, or None."""
    if value is None or isinstance(value, Shares):
        return value
    if not isinstance(value, Mapping):
        raise RefusedError(f"experiment: shares must be named numbers; got {value!r:.200}.")
    try:
        return msgspec.convert(dict(value), Shares)
    except (msgspec.ValidationError, TypeError) as error:
        raise RefusedError(f"experiment: shares: {error}; got {value!r:.200}.") from error


def check_shares(shares: Shares, arms: Sequence[str], chosen: Sequence[str]) -> None:
    """``chosen``: the arms that the policy can choose."""
    parts = [shares.minimum, shares.holdback, shares.control or 0.0, *shares.arms.values()]
    if any(not 0.0 <= part <= 1.0 for part in parts):
        raise RefusedError(f"experiment: every share must be in [0, 1]; got {shares!r}.")
    unknown = [arm for arm in shares.arms if arm not in arms]
    if unknown:
        raise RefusedError(f"experiment: shares name arms that do not exist; got {unknown!r}.")
    if shares.per_day is not None and not 0.0 < shares.per_day <= 1.0:
        raise RefusedError(f"experiment: shares' per_day must be in (0, 1]; got {shares.per_day}.")
    if shares.holdback == 1.0:
        raise RefusedError("experiment: the holdback must be below 1; pause or close it instead.")
    if not chosen:
        raise RefusedError("experiment: with a fixed share of control, another arm is needed.")
    if shares.free(chosen) < 0.0:
        raise RefusedError(
            "experiment: the shares of all arms together must be at most 1; "
            f"got {1.0 - shares.free(chosen):g}."
        )


class ShareDraws:
    """One uniform draw for each line of a log."""

    def __init__(self, seed: int, control: float) -> None:
        self._key = mix((base_keys(seed)[1] ^ SHARE_SALT) & MASK)
        self.control = control

    def at(self, seq: int) -> float:
        """The draw of a line: below 0 for the control, else in [0, 1 - the control's share)."""
        return unit(bits_at(self._key, seq, 0)) - self.control

    def many(self, seqs: Any) -> Any:
        return np.array([self.at(seq) for seq in seqs.tolist()])


def share_book(shares: Shares, chosen: Sequence[str]) -> ShareBook:
    """Return the numbers of what is mixed with the policy's choice among these arms."""
    return ShareBook.of(shares.floors(chosen), max(shares.free(chosen), 0.0), shares.per_day)


def held_back(seed: int, unit_name: str, share: float) -> bool:
    """Tell whether the unit is kept outside; a larger share keeps out the same units and more."""
    key = seed.to_bytes(8, "big")
    # Keyed by the seed: each experiment holds back other units.
    digest = hashlib.blake2b(unit_name.encode(), digest_size=8, key=key, person=b"holdback")
    return unit(int.from_bytes(digest.digest(), "big")) < share
