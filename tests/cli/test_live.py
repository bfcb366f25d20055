"""The commands serve, decide, convert, report and export."""

from __future__ import annotations

import csv
import io
import re
import socket

from command_line import as_json, command, printed


def test_from_decision_to_export(db):
    decision = as_json("decide", "button", "--unit", "u", "--key", "k", "--db", db)
    assert decision["arm"] in ("blue", "green")
    assert as_json("decide", "button", "--unit", "u", "--key", "k", "--db", db) == decision | {
        "duplicate": True
    }
    assert as_json("convert", "button", decision["id"], "--value", "0.5", "--db", db) == {
        "duplicate": False,
        "counted": True,
    }
    assert (
        printed("convert", "button", decision["id"], "--value", "0.5", "--db", db)
        == "duplicate, counted\n"
    )
    assert [arm["pulls"] for arm in as_json("report", "button", "--db", db)["arms"]] in (
        [0, 1],
        [1, 0],
    )
    assert re.search(r"^blue +[01] ", printed("report", "button", "--db", db), re.MULTILINE)
    (row,) = csv.DictReader(io.StringIO(printed("export", "button", "--db", db)))
    assert (row["decision"], row["value"]) == (decision["id"], "0.5")
    printed(
        "export", "button", "--db", db, "--format", "parquet", "--out", db.with_suffix(".parquet")
    )
    assert db.with_suffix(".parquet").read_bytes()[:4] == b"PAR1"
    assert printed("retract", "button", decision["id"], "--db", db) == "retracted\n"
    assert printed("retract", "button", decision["id"], "--db", db) == "duplicate\n"


def test_serve_refuses_what_is_unsafe_or_impossible(tmp_path):
    db = tmp_path / "shop.db"
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        cases = [
            (["--no-keys", "--host", "0.0.0.0"], "loopback"),
            (["--no-keys", "--host", "::"], "loopback"),
            (["--no-keys", "--host", "example.invalid"], "loopback"),
            (["--workers", "0"], "workers"),
            (["--rate", "0"], "rate"),
            (["--rate", "nan"], "rate"),
            (["--queue", "0"], "queue"),
            (["--port", taken.getsockname()[1]], "in use"),
            (["--port", "99999"], "port"),
            (["--host", "300.0.0.1"], "cannot listen"),
        ]
        for arguments, said in cases:
            done = command("serve", "--db", db, *arguments)
            assert done.returncode == 2, arguments
            assert said in done.stderr
            assert "pb_" not in done.stdout
    done = command("serve", "--db", tmp_path / "no" / "folder.db", "--port", "0")
    assert (done.returncode, "cannot be opened" in done.stderr) == (2, True)
