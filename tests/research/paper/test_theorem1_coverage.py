"""The claims about Theorem 1, on data made to break them."""

from __future__ import annotations

from patientbandits.research.paper.claims import FAILS, HOLDS, OPEN
from patientbandits.research.paper.theorem1_coverage import Coverage, coverage_claims


def test_coverage() -> None:
    good = Coverage(law="", pulls=10, printed=0.0, tight=0.01, unbiased=0.9)
    bad = Coverage(law="", pulls=10, printed=0.1, tight=0.08, unbiased=0.02)
    assert [claim.verdict for claim in coverage_claims([good])] == [HOLDS] * 3
    assert [claim.verdict for claim in coverage_claims([bad])] == [FAILS] * 3
    unsure = Coverage(law="", pulls=10, printed=0.05, tight=0.05, unbiased=0.05)
    assert [claim.verdict for claim in coverage_claims([unsure])] == [OPEN] * 3
