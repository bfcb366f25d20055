"""A finding of a paper, and what our simulations say about it.

Most numbers of these papers stand in figures only, so what is compared is who loses less than whom,
by the ratio of regrets in the same worlds. A finding fails if the ratio's interval does not lie
below its limit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from patientbandits.inference import ratio_interval
from patientbandits.policies import Policy
from patientbandits.problems import Problem
from patientbandits.research.paper import verdict
from patientbandits.simulation import Result, Simulation


@dataclass(frozen=True)
class Setting:
    """A problem of a paper, with those who play it."""

    name: str
    problem: Problem
    horizon: int
    runs: int
    players: Mapping[str, Policy]

    def simulations(self, runs: int | None, seed: int) -> dict[str, Simulation]:
        """Simulations by player, each with the feedback that its policy needs."""
        return {
            name: Simulation(
                problem=self.problem.with_feedback(policy.feedback),
                policy=policy,
                horizon=self.horizon,
                runs=runs or self.runs,
                seed=seed,
                record=1,
            )
            for name, policy in self.players.items()
        }


@dataclass(frozen=True)
class Pair:
    """Claim that ``better`` has less than ``limit`` times the regret of ``worse`` in a setting."""

    setting: str
    better: str
    worse: str
    limit: float = 1.0


@dataclass(frozen=True)
class Finding:
    """Statement of a paper, and the pairs that it comes to."""

    statement: str
    source: str
    """where it says so"""
    pairs: Sequence[Pair]
    most: bool = False
    """whether it is claimed for most of the pairs only"""


@dataclass(frozen=True)
class PublishedPaper:
    """A paper with its settings and findings."""

    name: str
    """on the command line"""
    title: str
    authors: str
    summary: str
    """the settings, in a few sentences"""
    checked: str
    """against what the settings were checked, and what could not be"""
    departs: str
    """what is not as in the paper, and what could not be known"""
    settings: Sequence[Setting]
    findings: Sequence[Finding]


@dataclass(frozen=True)
class MeasuredPair:
    """The ratio of regrets with its paired 95 % interval."""

    setting: str
    better: str
    worse: str
    limit: float
    ratio: float
    low: float
    high: float
    better_regret: float
    worse_regret: float
    runs: int

    @property
    def holds(self) -> bool:
        """True if the whole interval lies below the limit."""
        return self.high < self.limit


@dataclass(frozen=True)
class MeasuredFinding:
    """A finding with its numbers."""

    paper: str
    statement: str
    source: str
    most: bool
    pairs: tuple[MeasuredPair, ...]

    @property
    def verdict(self) -> str:
        """All, some or none of the pairs; more than half will do where most are claimed."""
        checks = [pair.holds for pair in self.pairs]
        if self.most and sum(checks) > len(checks) / 2:
            return verdict(True)
        return verdict(*checks)

    @property
    def in_words(self) -> str:
        """Number of pairs that hold, and their ratios."""
        ratios = [pair.ratio for pair in self.pairs]
        # A single ratio is shown with its interval; of several only their range fits.
        if len(ratios) == 1:
            (pair,) = self.pairs
            return f"{pair.ratio:.2f} ({pair.low:.2f} to {pair.high:.2f})"
        count = sum(pair.holds for pair in self.pairs)
        return f"{count} of {len(ratios)}: ratios from {min(ratios):.2f} to {max(ratios):.2f}"


def measure(
    paper: str, finding: Finding, results: Mapping[tuple[str, str], Result]
) -> MeasuredFinding:
    """The finding with the numbers of ``results``, by (setting, player)."""
    measured = []
    for pair in finding.pairs:
        better = results[pair.setting, pair.better].final
        worse = results[pair.setting, pair.worse].final
        ratio, low, high = ratio_interval(better, worse)
        measured.append(
            MeasuredPair(
                setting=pair.setting,
                better=pair.better,
                worse=pair.worse,
                limit=pair.limit,
                ratio=ratio,
                low=low,
                high=high,
                better_regret=float(better.mean()),
                worse_regret=float(worse.mean()),
                runs=len(better),
            )
        )
    return MeasuredFinding(
        paper=paper,
        statement=finding.statement,
        source=finding.source,
        most=finding.most,
        pairs=tuple(measured),
    )


def pairs_in(
    settings: Sequence[Setting], better: str, worse: str, limit: float = 1.0
) -> list[Pair]:
    """The same pair in each of these settings."""
    return [Pair(setting.name, better, worse, limit) for setting in settings]
