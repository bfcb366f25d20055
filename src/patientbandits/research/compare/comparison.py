"""What a comparison found."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from patientbandits.research.compare.advice import Advice
from patientbandits.research.compare.contenders import GROUPS, Contender
from patientbandits.research.compare.delay_bench import DELAY_BENCH
from patientbandits.research.compare.scores import Score, Standing
from patientbandits.research.compare.suite import Case
from patientbandits.research.compare.targets import MeasuredTarget
from patientbandits.simulation import Result


@dataclass(frozen=True)
class Comparison:
    """What `run` found."""

    cases: tuple[Case, ...]
    contenders: tuple[Contender, ...]
    groups: dict[str, str]
    """contender -> what it has to go on, of `GROUPS`"""
    results: dict[tuple[str, str], Result]
    """(problem, contender)"""
    scores: list[Score]
    standings: list[Standing]
    by_kind: dict[str, list[Standing]]
    """kind of problem -> every policy's standing on the problems of that kind"""
    advice: list[Advice]
    bars: list[MeasuredTarget]
    seconds_per_round: dict[tuple[str, int], float]
    """(contender, arms), on one core"""
    seed: int
    rounds: int

    def counted(self) -> list[Case]:
        """The problems on which regret says anything."""
        return [case for case in self.cases if case.counted]

    def data(self) -> dict[str, Any]:
        """All numbers, as plain data."""
        return {
            "suite": DELAY_BENCH,
            "seed": self.seed,
            "rounds": self.rounds,
            "problems": [_case_data(case) for case in self.cases],
            "policies": [self._contender_data(contender) for contender in self.contenders],
            "groups": GROUPS,
            "scores": list(map(asdict, self.scores)),
            "standings": list(map(asdict, self.standings)),
            "by_kind": {kind: list(map(asdict, own)) for kind, own in self.by_kind.items()},
            "advice": list(map(asdict, self.advice)),
            "bars": list(map(asdict, self.bars)),
            "seconds_per_round": [
                {"policy": name, "arms": arms, "seconds": seconds}
                for (name, arms), seconds in self.seconds_per_round.items()
            ],
        }

    def _contender_data(self, contender: Contender) -> dict[str, Any]:
        return {
            "name": contender.name,
            "group": self.groups[contender.name],
            "note": contender.note,
            "new": contender.new,
        }


def _case_data(case: Case) -> dict[str, Any]:
    return {
        "name": case.name,
        "what": case.what,
        "tests": case.tests,
        "horizon": case.horizon,
        "runs": case.runs,
        "kinds": list(case.kinds),
        "problem": case.problem.describe(),
    }
