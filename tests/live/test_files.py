"""Databases as a whole: exports, copies, and checks that find what is wrong."""

from __future__ import annotations

import csv
import io
import json

import apsw
import pytest

import patientbandits as pb
from patientbandits import live
from patientbandits.errors import InputError
from patientbandits.live import export as exporting
from patientbandits.live.backup import backup, restore
from patientbandits.live.check import check
from patientbandits.live.store import open_store


def busy(shop, clock, arms=("blue", "=1+1"), policy=None):
    """An experiment with a bit of everything; returns it and its decisions."""
    button = shop.experiment(
        "button", list(arms), policy=policy or pb.PatientThompson(), window=100.0
    )
    made = []
    for j in range(40):
        clock.now += 1.5
        made.append(button.decide(unit=f"@u{j}", key=f"k{j}"))
    for j in range(0, 20, 2):
        button.convert(made[j].id, 0.5 + j / 100)
    button.retract(made[0].id)
    clock.now += 1000
    button.convert(made[21].id)  # late
    button.change(paused=True)
    return button, made


def everything(store):
    with store.reading() as reader:
        tables = {
            name: sorted(map(str, reader.rows(f"SELECT * FROM {name}")))
            for name in ("experiments", "log", "keys")
        }
        return tables | {"secret": reader.fact("secret")}


def test_csv_holds_every_decision_and_no_formula(shop, clock):
    button, made = busy(shop, clock)
    text = b"".join(button.export("csv")).decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["decision"] for row in rows] == [one.id for one in made]
    assert {row["arm"] for row in rows} == {"blue", "'=1+1"}
    assert rows[3]["unit"] == "'@u3"
    assert (rows[2]["value"], rows[2]["counted"], rows[2]["retracted"]) == ("0.52", "true", "false")
    assert (rows[0]["counted"], rows[0]["retracted"]) == ("false", "true")
    assert (rows[21]["counted"], rows[21]["value"]) == ("false", "1.0")
    assert rows[1]["converted"] == rows[1]["value"] == rows[1]["counted"] == ""
    assert float(rows[2]["delay_seconds"]) == pytest.approx(37 * 1.5)


def test_the_pieces_of_an_export_are_one_table(shop, clock, monkeypatch):
    button, _ = busy(shop, clock)
    whole = b"".join(button.export("csv"))
    for chunk in (1, 7, 40):
        monkeypatch.setattr(exporting, "ROWS_AT_A_TIME", chunk)
        assert b"".join(button.export("csv")) == whole
        parquet = b"".join(button.export("parquet"))
        import pyarrow.parquet

        table = pyarrow.parquet.read_table(io.BytesIO(parquet))
        assert table.num_rows == 40
        assert table.column_names == list(exporting.ExportedDecision._fields)
        assert (
            table["arm"].to_pylist().count("=1+1") + table["arm"].to_pylist().count("blue") == 40
        )  # no defusing: not text for spreadsheets


def test_unknown_format(shop, clock):
    button, _ = busy(shop, clock)
    with pytest.raises(live.RefusedError, match="csv, parquet"):
        button.export("xls")


@pytest.mark.parametrize("target", ["sqlite", "postgres"])
def test_a_backup_restored_is_the_same_database(shop, clock, fresh, tmp_path, target):
    button, made = busy(shop, clock)
    file, other = str(tmp_path / "copy" / "backup.db"), fresh(target)
    (tmp_path / "copy").mkdir()
    assert backup(shop.store, file) == shop.store.head(1)
    assert [path.name for path in (tmp_path / "copy").iterdir()] == ["backup.db"]
    button.change(paused=False)
    button.decide()  # after the backup
    assert restore(file, other) == shop.store.head(1) - 2
    with live.open(other, clock=clock) as again:
        assert everything(again.store)["secret"] == everything(shop.store)["secret"]
        assert not check(again.store)["wrong"]
        twin = again.open("button")
        assert twin.convert(made[2].id, 0.52) == (True, True)
        twin.change(paused=False)
        assert twin.decide().arm in ("blue", "=1+1")
    with pytest.raises(InputError, match="must be empty"):
        restore(file, other)
    with pytest.raises(InputError, match="must not exist"):
        backup(shop.store, file)


def test_check_finds_nothing_wrong(shop, clock):
    busy(shop, clock)
    (found,) = check(shop.store)["experiments"]
    assert found == {
        "experiment": "button",
        "decisions": 40,
        "conversions": 11,
        "retractions": 1,
        "changes": 2,
    }
    assert check(shop.store)["wrong"] == []


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (
            "UPDATE log SET arm = 1 - arm WHERE kind = 'decision' AND seq > 30",
            "are not those that the policy makes",
        ),
        ("DELETE FROM log WHERE seq = 30", "numbered"),
        ("UPDATE log SET time = time - 60000000 WHERE seq = 20", "time must not go back"),
        (
            "UPDATE log SET decision = 1 WHERE kind = 'conversion' AND decision = 4",
            "must be of decisions",
        ),
        (
            "DELETE FROM log WHERE kind = 'conversion' AND decision = 2",
            "retractions must be of conversions",
        ),
    ],
)
def test_check_finds_what_was_tampered_with(tmp_path, clock, damage, message):
    path = str(tmp_path / "shop.db")
    with live.open(path, clock=clock) as shop:
        busy(shop, clock)
    connection = apsw.Connection(path)
    connection.execute(damage)
    connection.close()
    store = open_store(path)
    wrong = check(store)["wrong"]
    store.close()
    assert any(message in finding for finding in wrong), wrong


def test_check_finds_a_wrong_snapshot(tmp_path, clock):
    path = str(tmp_path / "shop.db")
    with live.open(path, clock=clock) as shop:
        busy(shop, clock)
    with live.open(path, clock=clock) as shop:  # so that there is one to compare
        state = shop.journal.state(1)
        state.memory.counts.paid[0] += 1
        state.saved = 0
        with shop.store.transaction():
            shop.store.save_snapshot(1, state.snapshot())
        assert any("snapshot" in finding for finding in check(shop.store)["wrong"])


def test_check_on_the_command_line(tmp_path, clock, capsys):
    from patientbandits.cli import main

    path = str(tmp_path / "shop.db")
    with live.open(path, clock=clock) as shop:
        busy(shop, clock)
    assert main(["check", path]) == 0
    assert "40 decisions, 11 conversions" in capsys.readouterr().out
    connection = apsw.Connection(path)
    connection.execute("DELETE FROM log WHERE seq = 30")
    connection.close()
    with pytest.raises(SystemExit) as stop:
        main(["check", path, "--json"])
    assert stop.value.code == 1
    assert json.loads(capsys.readouterr().out)["wrong"]
