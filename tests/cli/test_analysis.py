"""The commands analyse, example and rehearse."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from patientbandits._util.durations import DAY
from patientbandits.cli import main

JSON_OF_AN_ARM = {
    *("arm", "decisions", "conversions", "rate", "low", "high"),
    *("matured", "to_come", "best", "lift"),
}


JSON_OF_THE_VERDICT = {"leader", "probability", "expected_loss", "days_left", "words"}


def test_the_command_on_the_example(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["example", str(tmp_path / "shop")]) == 0
    capsys.readouterr()
    files = [str(tmp_path / "shop" / name) for name in ("exposures.csv", "orders.csv")]
    out = str(tmp_path / "out")
    assert main(["analyse", *files, "--window", "30d", "--out", out, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert {arm["arm"] for arm in data["arms"]} == {"control", "blue", "green"}
    assert all(set(arm) >= JSON_OF_AN_ARM for arm in data["arms"])
    assert set(data["verdict"]) >= JSON_OF_THE_VERDICT
    assert data["control"] == "control"
    assert data["verdict"]["leader"] == "green"
    assert {row["leader"] for row in data["windows"] if row["window"] == 3 * DAY} == {"blue"}
    page = (tmp_path / "out" / "analysis.html").read_text()
    text = re.sub(r"<style>.*?</style>|<code>.*?</code>|</?[bi][^>]*>", "", page, flags=re.DOTALL)
    words = re.sub(r"<[^>]*>", "\n", text)
    assert re.findall(r"\w+[.;)][A-Z]\w*|[a-z]\(\w+", words) == []
    assert (tmp_path / "out" / "rows_set_aside.csv").exists()
    assert main(["analyse", *files, "--window", "30d", "--out", out, "--credit", "last"]) == 0
    verdict = r"^(\w+ leads|No clear leader yet: \w+ is ahead), with a probability of .*[a-z]\.$"
    assert re.search(verdict, capsys.readouterr().out, re.MULTILINE)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--window", "soon"], "window must be a length of time"),
        (["--columns", "unit"], "must be ROLE=NAME"),
        (["--tolerance", "little"], "must be a share such as 0.5%"),
        (["--traffic", "many"], "must be such as 500/day"),
    ],
)
def test_bad_options_end_with_2(
    arguments: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "e.csv").write_text("unit,time,variant\na,2026-01-01,x\n")
    (tmp_path / "o.csv").write_text("unit,time\na,2026-01-02\n")
    files = [str(tmp_path / "e.csv"), str(tmp_path / "o.csv")]
    assert main(["analyse", *files, "--out", str(tmp_path / "out"), *arguments]) == 2
    assert words in capsys.readouterr().err


def test_an_unreadable_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "e.csv").write_text("unit,time,variant\na,someday,x\n")
    (tmp_path / "o.csv").write_text("unit,time\na,2026-01-02\n")
    files = [str(tmp_path / "e.csv"), str(tmp_path / "o.csv")]
    assert main(["analyse", *files, "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert "e.csv, line 2, column time: time must be a date" in error
    assert "'someday'" in error


def test_the_command_needs_values_for_revenue(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "e.csv").write_text("unit,time,variant\na,2026-01-01,x\nb,2026-01-01,y\n")
    (tmp_path / "o.csv").write_text("unit,time\na,2026-01-02\n")
    files = [str(tmp_path / "e.csv"), str(tmp_path / "o.csv")]
    out = ["--out", str(tmp_path / "out")]
    assert main(["analyse", *files, *out, "--by", "revenue"]) == 2
    assert "needs orders with values" in capsys.readouterr().err


def test_the_command_rehearse(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["example", str(tmp_path)]) == 0
    files = [str(tmp_path / "exposures.csv"), str(tmp_path / "orders.csv")]
    few = ["--window", "7d", "--traffic", "40/day", "--days", "5", "--draws", "2"]
    out = str(tmp_path / "out")
    arguments = ["rehearse", *files, *few, "--policies", "KLUCB", "--out", out]
    assert main(arguments) == 0
    assert "KLUCB" in capsys.readouterr().out
    assert (tmp_path / "out" / "rehearsal.html").exists()
    assert main([*arguments[:-2], "--out", out, "--traffic", "lots"]) == 2
