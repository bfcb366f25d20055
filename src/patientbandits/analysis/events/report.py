"""What was read, what was matched, and what was not: nothing is dropped without a word."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from patientbandits._util.arithmetic import plain_sum

MISMATCH = 0.001
"""Below this probability a split of units is taken for broken."""


def line_told(file: str, line: int, column: str) -> str:
    """Where in a file; a line that is no row has no column."""
    if column:
        return f"{file}, line {line}, column {column}"
    return f"{file}, line {line}"


@dataclass(frozen=True)
class SetAside:
    """A row that does not count."""

    file: str
    line: int
    column: str
    rule: str
    value: str | None
    reason: str

    def __str__(self) -> str:
        return f"{line_told(self.file, self.line, self.column)}: {self.rule}; got {self.value!r}"


@dataclass(frozen=True)
class TableReport:
    """One table: what became of each of its rows. The counts add up to ``rows``."""

    file: str
    columns: Mapping[str, str]
    """role -> column"""
    rows: int
    counted: int
    """exposures that are decisions; orders that count"""
    unreadable: int = 0
    duplicates: int = 0
    others: int = 0
    """rows of other experiments or events"""
    after_end: int = 0
    """later than the time as of which is counted"""
    repeats: int = 0
    """exposures of a unit that is counted once"""
    unmatched: int = 0
    before_exposure: int = 0
    out_of_window: int = 0


@dataclass(frozen=True)
class SampleRatio:
    """Whether units came to the arms in the shares that were meant (Pearson's chi-squared)."""

    units: Mapping[str, int]
    meant: Mapping[str, float]
    chi_squared: float
    probability: float
    """of a split at least as far off by chance"""

    @property
    def mismatch(self) -> bool:
        return self.probability < MISMATCH


@dataclass(frozen=True)
class ReadingReport:
    """Both tables and how they fit together."""

    exposures: TableReport
    orders: TableReport
    units: int
    units_in_several_arms: int
    converted: int
    """decisions with an order within the window"""
    sample_ratio: SampleRatio | None
    zone: str = ""
    credit: str = ""
    notes: Sequence[str] = ()
    warnings: Sequence[str] = ()
    examples: Sequence[SetAside] = field(default=())
    """the first rows that do not count"""

    def data(self) -> dict[str, Any]:
        """As plain data, for files."""
        known = asdict(self)
        if self.sample_ratio is not None:
            known["sample_ratio"]["mismatch"] = self.sample_ratio.mismatch
        return known


def sample_ratio(units: Mapping[str, int], meant: Mapping[str, float]) -> SampleRatio:
    """The test of the ``units`` of each arm against the shares ``meant``, which need not sum to
    1."""
    total = sum(units.values())
    whole = plain_sum(meant.values())
    shares = {arm: meant[arm] / whole for arm in units}
    terms = [
        (count - total * shares[arm]) ** 2 / (total * shares[arm]) for arm, count in units.items()
    ]
    statistic = plain_sum(terms)
    return SampleRatio(
        units=dict(units),
        meant=shares,
        chi_squared=statistic,
        probability=chi_squared_tail(statistic, len(units) - 1),
    )


def chi_squared_tail(x: float, degrees: int) -> float:
    """P(X > x) for X chi-squared with a whole number of degrees of freedom.

    Q(1) = erfc(sqrt(x/2)), Q(2) = exp(-x/2), Q(d + 2) = Q(d) + (x/2)^(d/2) exp(-x/2) / Gamma(d/2
    + 1).
    """
    if degrees < 1 or x <= 0:
        return 1.0
    half = x / 2
    if degrees % 2:
        tail, reached = math.erfc(math.sqrt(half)), 1
    else:
        tail, reached = math.exp(-half), 2
    while reached < degrees:
        tail += math.exp(reached / 2 * math.log(half) - half - math.lgamma(reached / 2 + 1))
        reached += 2
    return min(tail, 1.0)
