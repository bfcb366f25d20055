"""Plays the papers' settings, judges their findings, writes page and data."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from patientbandits._util.files import json_default, write_atomically, write_csv
from patientbandits.errors import choice, items, whole
from patientbandits.inference import mean_interval
from patientbandits.plotting import render_page
from patientbandits.research.field.finding import (
    MeasuredFinding,
    MeasuredPair,
    PublishedPaper,
    measure,
)
from patientbandits.research.field.gigli_2024 import bootstrap_paper
from patientbandits.research.field.vernade_2020 import linear_paper
from patientbandits.research.field.wang_2022 import dts_paper
from patientbandits.simulation import Result, Start, progress_from, rounds_of, sweep

PAPERS: dict[str, Callable[[], PublishedPaper]] = {
    "vernade-2020": linear_paper,
    "wang-2022": dts_paper,
    "gigli-2024": bootstrap_paper,
}
"""name -> the paper, in the order in which they appeared"""


FIELD_SEED = 2020
FIELD_QUICK_RUNS = 5
PAIR_COLUMNS = ("paper", "finding", "verdict", *MeasuredPair.__dataclass_fields__)


@dataclass(frozen=True)
class FieldRegret:
    """One policy in one setting."""

    paper: str
    setting: str
    policy: str
    regret: float
    low: float
    high: float
    runs: int


@dataclass(frozen=True)
class FieldReport:
    """Findings and regrets of the papers that were played."""

    papers: tuple[PublishedPaper, ...]
    findings: tuple[MeasuredFinding, ...]
    regrets: tuple[FieldRegret, ...]
    seed: int

    def of(self, paper: str) -> list[MeasuredFinding]:
        return [finding for finding in self.findings if finding.paper == paper]

    def regrets_of(self, paper: str) -> dict[str, list[FieldRegret]]:
        """setting -> everybody's regret there, the least first."""
        by_setting: dict[str, list[FieldRegret]] = {}
        for row in sorted(self.regrets, key=lambda row: row.regret):
            if row.paper == paper:
                by_setting.setdefault(row.setting, []).append(row)
        return by_setting

    def data(self) -> dict[str, Any]:
        """Plain data with all numbers."""
        findings = [
            {**asdict(finding), "verdict": finding.verdict, "ours": finding.in_words}
            for finding in self.findings
        ]
        return {
            "seed": self.seed,
            "findings": findings,
            "regrets": list(map(asdict, self.regrets)),
        }


def play_field(
    out: str | os.PathLike[str],
    papers: Sequence[str] | None = None,
    runs: int | None = None,
    seed: int = FIELD_SEED,
    *,
    quick: bool = False,
    start: Start | None = None,
    workers: int | None = None,
    on: str = "threads",
) -> FieldReport:
    """Play ``papers``, all by default; page and data go to the folder ``out``.

    runs   of each setting, instead of its own number; ``quick``: few
    Finished pieces are kept in ``out``/pieces.
    """
    names = list(PAPERS) if papers is None else items("field", "papers", papers)
    chosen = [PAPERS[choice("field", "paper", name, PAPERS)]() for name in names]
    seed = whole("field", "seed", seed)
    if quick and runs is None:
        runs = FIELD_QUICK_RUNS
    if runs is not None:
        runs = whole("field", "runs", runs, 2)
    plan = {
        (paper.name, setting.name, player): simulation
        for paper in chosen
        for setting in paper.settings
        for player, simulation in setting.simulations(runs, seed).items()
    }
    simulations = list(plan.values())
    folder = Path(out)
    progress = progress_from(start, rounds_of(simulations))
    results = dict(
        zip(plan, sweep(simulations, folder / "pieces", workers, progress, on), strict=True)
    )
    report = report_of(chosen, results, seed)
    write_field(report, folder)
    return report


def report_of(
    papers: Sequence[PublishedPaper], results: dict[tuple[str, str, str], Result], seed: int
) -> FieldReport:
    """Findings and regrets."""
    findings = []
    for paper in papers:
        own = {key[1:]: result for key, result in results.items() if key[0] == paper.name}
        findings += [measure(paper.name, finding, own) for finding in paper.findings]
    regrets = []
    for (paper_name, setting, policy), result in results.items():
        low, high = mean_interval(result.final)
        row = FieldRegret(
            paper=paper_name,
            setting=setting,
            policy=policy,
            regret=float(result.final.mean()),
            low=float(low),
            high=float(high),
            runs=len(result.final),
        )
        regrets.append(row)
    return FieldReport(tuple(papers), tuple(findings), tuple(regrets), seed)


def write_field(report: FieldReport, folder: Path) -> None:
    """field.html, field.json, data/findings.csv and data/regrets.csv."""
    folder.mkdir(parents=True, exist_ok=True)
    data = folder / "data"
    data.mkdir(exist_ok=True)
    text = json.dumps(report.data(), indent=1, default=json_default)
    write_atomically(folder / "field.json", text.encode())
    rows = []
    for finding in report.findings:
        head = (finding.paper, finding.statement, finding.verdict)
        for pair in finding.pairs:
            rows.append((*head, *asdict(pair).values()))
    write_csv(data / "findings.csv", PAIR_COLUMNS, rows)
    regrets = [list(asdict(row).values()) for row in report.regrets]
    write_csv(data / "regrets.csv", list(FieldRegret.__dataclass_fields__), regrets)
    page = render_page("research/field/field.html.j2", folder / "figures", report=report)
    write_atomically(folder / "field.html", page.encode())
