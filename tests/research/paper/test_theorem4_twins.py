"""The claims about Theorems 4 and 5, on data made to break them."""

from __future__ import annotations

import pytest

from patientbandits import theory
from patientbandits.problems import catalogue as problems
from patientbandits.research.paper import theorem4_twins
from patientbandits.research.paper.claims import FAILS, HOLDS, OPEN, VACUOUS


def test_twins(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = problems.hidden_pair(theorem4_twins.TWIN_HORIZON, theorem4_twins.TWIN_ALPHA)

    def judged(**outcome: float) -> tuple[str, str]:
        twins = theorem4_twins.Twins(**outcome)
        monkeypatch.setattr(theorem4_twins, "play_twins", lambda *arguments: twins)
        lower = theorem4_twins.lower_bound_claim("made", pair, "corrected", 1)
        return lower.verdict, theorem4_twins.no_adaptation_claim(1).verdict

    assert judged(differences=0, in_a=100, in_b=20) == (HOLDS, HOLDS)
    assert judged(differences=3, in_a=1, in_b=2) == (FAILS, FAILS)
    assert judged(differences=0, in_a=1, in_b=1e9) == (HOLDS, OPEN)


def test_an_empty_class(monkeypatch: pytest.MonkeyPatch) -> None:
    claim = theorem4_twins.empty_class_claim()
    assert claim.verdict == VACUOUS
    assert "there are" not in claim.statement, "nobody is said to be in it"
    weak = {"printed": 9.0, "corrected": 5.0}
    monkeypatch.setattr(theory, "lower_bound", lambda T, alpha, form="corrected": weak[form])
    assert theorem4_twins.empty_class_claim().verdict == OPEN


def test_no_single_problem_is_hard_for_every_policy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A policy that stays on the best arm loses nothing; only a bound of 0 would be kept."""
    pair = problems.indistinguishable_pair(theorem4_twins.TWIN_HORIZON, theorem4_twins.TWIN_ALPHA)
    claim = theorem4_twins.one_problem_claim(pair)
    assert (claim.verdict, "has 0, 0 against" in claim.measured) == (FAILS, True)
    monkeypatch.setattr(theory, "lower_bound", lambda *arguments: 0.0)
    assert theorem4_twins.one_problem_claim(pair).verdict == HOLDS
