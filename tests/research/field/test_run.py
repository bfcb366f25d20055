"""What others published, played again: verdicts follow from the numbers, and can fail."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from tools.field_table import FINDINGS, findings_table

import patientbandits as pb
from patientbandits import cli
from patientbandits.research.field.finding import Finding, Pair, PublishedPaper, Setting
from patientbandits.research.field.run import FIELD_SEED, PAPERS, play_field

pytestmark = pytest.mark.slow

EASY = pb.Problem([0.1, 0.9])
PLAYED_AGAIN = "fixed 250, time-out 500, censored"
PLAYERS = {"good": pb.KLUCB(), "bad": pb.Uniform()}


def small_paper() -> PublishedPaper:
    setting = Setting("easy", EASY, 200, 10, PLAYERS)
    return PublishedPaper(
        name="small-2026",
        title="A small paper",
        authors="Nobody, 2026",
        summary="Two arms.",
        checked="Nothing.",
        departs="Nothing.",
        settings=[setting],
        findings=[
            Finding("learning helps", "the abstract", [Pair("easy", "good", "bad")]),
            Finding("chance is better", "nowhere", [Pair("easy", "bad", "good")]),
            Finding(
                "one of two",
                "nowhere",
                [Pair("easy", "good", "bad"), Pair("easy", "bad", "good")],
            ),
        ],
    )


def test_every_paper_is_complete():
    """Findings name settings and players that there are; every setting is used."""
    for name, make in PAPERS.items():
        paper = make()
        assert paper.name == name
        known = {setting.name: setting.players for setting in paper.settings}
        assert len(known) == len(paper.settings)
        used = set()
        for finding in paper.findings:
            assert finding.pairs
            for pair in finding.pairs:
                assert {pair.better, pair.worse} <= set(known[pair.setting])
                used.add(pair.setting)
        assert used == set(known), name
        for setting in paper.settings:
            assert setting.horizon >= setting.problem.arms
            assert setting.simulations(None, 1).keys() == setting.players.keys()


def test_page_and_data(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(PAPERS, "small-2026", small_paper)
    report = play_field(tmp_path / "out", ["small-2026"], workers=1)
    verdicts = [finding.verdict for finding in report.findings]
    assert verdicts == ["holds", "does not hold", "holds in part"]
    page = (tmp_path / "out" / "field.html").read_text()
    for words in (
        "A small paper",
        "learning helps",
        "does not hold",
        "What differs here",
        "Checked against",
    ):
        assert words in page
    with (tmp_path / "out" / "data" / "findings.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4
    assert float(rows[0]["ratio"]) == pytest.approx(report.findings[0].pairs[0].ratio, rel=1e-4)
    data = json.loads((tmp_path / "out" / "field.json").read_text())
    assert data["findings"][1]["verdict"] == "does not hold"
    out = str(tmp_path / "again")
    assert cli.main(["field", "small-2026", "--runs", "4", "--out", out]) == 0
    assert "learning helps" in capsys.readouterr().out


def test_the_docs_tell_the_committed_numbers():
    docs = Path(__file__).parents[3] / "docs"
    table = findings_table(FINDINGS)
    page = (docs / "field.md").read_text()
    assert table in page
    told = [finding for make in PAPERS.values() for finding in make().findings]
    assert table.count("\n") == len(told) + 2
    for name in PAPERS:
        assert f"**{name}**" in page


def test_a_setting_played_again_gives_the_committed_numbers():
    """To the six digits that are kept."""
    docs = Path(__file__).parents[3] / "docs"
    with (docs / "data" / "field" / "regrets.csv").open() as file:
        rows = {(row["setting"], row["policy"]): row for row in csv.DictReader(file)}
    (setting,) = (s for s in PAPERS["gigli-2024"]().settings if s.name == PLAYED_AGAIN)
    for name, simulation in setting.simulations(None, FIELD_SEED).items():
        result = simulation.play(0, simulation.runs, 2)
        row = rows[setting.name, name]
        assert float(row["regret"]) == pytest.approx(result.final.mean(), rel=1e-5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("wang-2021",), "'wang-2022'"),
        (("wang-2022", "--runs", "1"), "runs must be an integer >= 2"),
        (("--seed", "-1"), "seed must be"),
    ],
)
def test_bad_arguments_are_refused(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["field", *arguments]) == 2
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
