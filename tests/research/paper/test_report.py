"""The report: its page, its files, its order."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

from patientbandits.research.paper.report import reproduce

pytestmark = pytest.mark.slow


COMPARED = ("alpha_sweep", "gap_sweep", "homogeneous", "heterogeneous")

FIGURES = (*COMPARED, "adaptive")


def test_the_published_claims_come_out_as_known(published: dict[str, Any]) -> None:
    verdicts = {claim["statement"]: claim["verdict"] for claim in published["claims"]}
    assert verdicts["Regret first falls, then rises with alpha"] == "holds"
    assert (
        verdicts["The regret is least near alpha = 0.3, the tail of the slow arm"]
        == "does not hold"
    )
    assert verdicts["Regret rises, then falls with the gap"] == "holds"
    assert verdicts["D-UCB, told one law for all arms, has linear regret"] == "holds"
    assert verdicts["PatientBandits has sublinear regret"] == "holds"
    assert verdicts["D-UCB starts with a linear phase that lasts longer for larger m"] == "holds"


def test_the_report_is_one_self_contained_page(small: Path) -> None:
    page = (small / "report.html").read_text()
    assert not re.search(r'(src|href)="(?!data:|#)', page), "nothing is loaded from elsewhere"
    assert "http" not in page.replace("http://www.w3.org", "").replace("https://matplotlib.org", "")
    for name in (*FIGURES, "theory", "method"):
        assert f'id="{name}"' in page
    assert page.count("<img") == len(FIGURES)
    for verdict in ("holds", "does not hold", "says nothing"):
        assert f">{verdict}</span>" in page


def test_figures_and_data_are_there(small: Path) -> None:
    for name in FIGURES:
        assert (small / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert (small / "figures" / f"{name}.svg").read_text().lstrip().startswith("<?xml")
        rows = list(csv.DictReader((small / "data" / f"{name}.csv").read_text().splitlines()))
        assert {row["preset"] for row in rows} == {"published", "literal"}
        assert all(
            float(row["low95"]) <= float(row["mean"]) <= float(row["high95"]) for row in rows
        )


def test_theory_is_checked(small: Path) -> None:
    claims = [
        claim
        for claim in json.loads((small / "summary.json").read_text())["claims"]
        if claim["experiment"] == "theory"
    ]
    verdicts = {(claim["source"].split(",")[0], claim["verdict"]) for claim in claims}
    assert {source for source, _ in verdicts} == {
        "Theorems 2 and 3",
        "Theorem 1",
        "Theorem 4",
        "Theorem 5",
        "Theorem 6",
        "Proposition 1",
    }
    by_verdict = {
        judged: {source for source, verdict in verdicts if verdict == judged}
        for judged in ("says nothing", "does not hold")
    }
    assert by_verdict == {
        "says nothing": {"Theorem 5", "Theorem 6"},
        "does not hold": {"Theorem 4"},
    }
    assert any(claim["measured"].startswith("0 different decisions") for claim in claims)


def test_the_same_call_gives_the_same_bytes(small: Path, tmp_path: Path) -> None:
    reproduce(tmp_path, ["alpha_sweep"], runs=4, seed=1, workers=1)
    for name in ("data/alpha_sweep.csv", "figures/alpha_sweep.svg"):
        assert (tmp_path / name).read_bytes() == (small / name).read_bytes()


def test_the_report_keeps_its_order_whatever_is_asked_first(tmp_path: Path) -> None:
    """Figures first, theorems last; the summary names them as they were asked."""
    asked = ["theory", "homogeneous", "alpha_sweep"]
    summary = reproduce(tmp_path, asked, ["literal"], runs=2, seed=1)
    assert summary["experiments"] == asked
    shown = list(dict.fromkeys(claim["experiment"] for claim in summary["claims"]))
    assert shown == ["homogeneous", "alpha_sweep", "theory"]
