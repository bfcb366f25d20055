"""Every decision with what became of it, as a file."""

from __future__ import annotations

import csv
import io

import pytest
from histories import busy

from patientbandits import live
from patientbandits.live.reporting import export as exporting


def test_csv_holds_every_decision_and_no_formula(clear_shop, clock):
    button, made = busy(clear_shop, clock)
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


@pytest.mark.parametrize("first", "=+-@\uff1d\uff0b\uff0d\uff20")
def test_no_cell_begins_like_a_formula(clear_shop, clock, first):
    button = clear_shop.experiment("button", [f"{first}1+1", "b"])
    button.decide(unit=f" {first}cmd")
    (row,) = csv.DictReader(io.StringIO(b"".join(button.export()).decode()))
    assert row["unit"].startswith("'")
    assert row["arm"] == "b" or row["arm"].startswith("'")


def test_an_export_that_nobody_reads_holds_up_nothing(fresh, clock, monkeypatch):
    monkeypatch.setattr(exporting, "ROWS_AT_A_TIME", 10)
    with live.open(fresh("sqlite"), clock=clock) as shop:
        button, made = busy(shop, clock)
        before = b"".join(button.export())
        button.change(paused=False)
        pieces = button.export()
        first = next(pieces)
        late = [button.decide() for _ in range(30)]
        button.convert(made[39].id)
        button.convert(late[0].id)
        busy_readers, _, _ = shop.store.rows("PRAGMA wal_checkpoint(TRUNCATE)")[0]
        assert busy_readers == 0, "the write-ahead log can be emptied"
        assert first + b"".join(pieces) == before, "as it was when it began"
