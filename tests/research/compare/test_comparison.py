"""The comparison's page, figures and data."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

from patientbandits.research import compare

pytestmark = pytest.mark.slow


TWO, FEW = (
    ("no_delay", "equal_means", "heterogeneous"),
    ("KLUCB", "UCB1", "PatientBandits", "Uniform", "DUCB"),
)


def test_the_page_is_self_contained(small: tuple[Path, compare.Comparison]) -> None:
    page = (small[0] / "comparison.html").read_text()
    assert not re.search(r'(src|href)="(?!data:|#)', page), "nothing is loaded from elsewhere"
    assert "http" not in page.replace("http://www.w3.org", "").replace("https://matplotlib.org", "")
    assert "<script" not in page
    assert page.count("<img") == 2
    for name in (*TWO, *FEW):
        assert name in page
    for anchor in re.findall(r'href="#(\w+)"', page):
        assert f'id="{anchor}"' in page
    assert "(knows the law)" in page


def test_figures_and_data_are_there(small: tuple[Path, compare.Comparison]) -> None:
    out, found = small
    for name in ("heat_map", "curves"):
        assert (out / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert (out / "figures" / f"{name}.svg").read_text().lstrip().startswith("<?xml")
    rows = list(csv.DictReader((out / "data" / "scores.csv").read_text().splitlines()))
    data = json.loads((out / "comparison.json").read_text())
    assert len(rows) == len(data["scores"]) == len(TWO) * len(FEW)
    assert data == json.loads(json.dumps(found.data()))
    assert {
        row["policy"]
        for row in csv.DictReader((out / "data" / "speed.csv").read_text().splitlines())
    } == set(FEW)
    curves = list(csv.DictReader((out / "data" / "curves.csv").read_text().splitlines()))
    assert {(row["problem"], row["policy"]) for row in curves} == {(p, q) for p in TWO for q in FEW}
    assert all(seconds > 0 for seconds in found.seconds_per_round.values())
