"""The commands of operations: keys, check, backup and restore, import, webhooks, privacy."""

from __future__ import annotations

from command_line import as_json, command, printed
from event_files import tables


def test_keys(db):
    token = printed("keys", "create", "--scope", "read", "--note", "for reports", "--db", db)
    assert token.startswith("pb_")
    (key,) = as_json("keys", "list", "--db", db)
    assert key["note"] == "for reports"
    assert token.strip() not in printed("keys", "list", "--db", db)
    assert printed("keys", "revoke", key["id"], "--db", db) == f"revoked {key['id']}\n"
    assert "revoked for reports" in printed("keys", "list", "--db", db)


def test_check_backup_and_restore(db, tmp_path):
    printed("decide", "button", "--unit", "u", "--db", db)
    assert printed("check", db).endswith("all is well\n")
    copy, other = tmp_path / "copy.db", tmp_path / "other.db"
    lines = as_json("backup", copy, "--db", db)["lines"]
    assert as_json("restore", copy, other) == {"lines": lines}
    before, after = (as_json("report", "button", "--db", path) for path in (db, other))
    assert after["arms"] == before["arms"]


def test_import(tmp_path):
    shown = [("a", 0, "x"), ("b", 60, "y"), ("a", 120, "x")]
    exposures, orders = tables(tmp_path, shown, [("a", 3600, 1.0, "1"), ("c", 3600, 1.0, "2")])
    text = printed("import", "shop", exposures, orders, "--db", tmp_path / "shop.db")
    assert text.splitlines()[:2] == [
        "2 exposures written, 1 repeats skipped, 0 too old",
        "2 orders written, 0 already present, 0 refused; 1 from units never exposed",
    ]


def test_import_takes_the_options_of_analyse(tmp_path):
    exposures, orders = tmp_path / "e.csv", tmp_path / "o.csv"
    exposures.write_text(
        "wer,wann,was,test\na,05/03/2026,x,one\nb,05/03/2026,y,one\nc,05/03/2026,y,two\n"
    )
    orders.write_text("wer,bezahlt,cents,state\na,06/03/2026,1999,paid\nb,06/03/2026,5,failed\n")
    files = [exposures, orders, "--time-format", "%d/%m/%Y", "--experiment", "one"]
    files += ["--where", "state=paid", "--minor-units"]
    names = ["unit=wer", "exposures.time=wann", "variant=was", "experiment=test"]
    files += ["--columns", *names, "orders.time=bezahlt", "value=cents"]
    db = tmp_path / "shop.db"
    counts = as_json("import", "shop", *files, "--largest-value", "50", "--db", db)
    assert (counts["exposures"], counts["orders"], counts["set_aside"]) == (2, 1, 2)
    live = {arm["arm"]: arm["value"] for arm in as_json("report", "shop", "--db", db)["arms"]}
    data = as_json("analyse", *files, "--out", tmp_path)
    assert live == {"x": 19.99, "y": 0.0}
    assert data["reading"]["orders"]["filtered"] == 1
    assert [arm["conversions"] for arm in data["arms"]] == [1, 0]
    for name in ("analyse", "import"):
        into = {"import": ["shop", "--db", db]}.get(name, [])
        form = ["--time-format", "%d/%m/%Y"]
        refused = command(name, *into, *files[:2], *form, "--columns", *names, "orders.time=state")
        assert refused.returncode == 2
        assert "o.csv, line 2, column state: time must be a date" in refused.stderr


def test_webhooks_quarantine_and_privacy(db):
    assert printed("webhooks", "list", "--db", db) == "no webhooks yet\n"
    assert printed("alerts", "button", "--db", db) == "no alerts\n"
    printed("decide", "button", "--unit", "u", "--db", db)
    (rule,) = as_json("quarantine", "button", "--unit", "u", "--note", "a bot", "--db", db)
    assert "a bot" in rule.values()
    assert printed("release", "button", rule["id"], "--db", db) == "nothing in quarantine\n"
    assert printed("erase", "u", "--db", db).startswith("erased from ")
    assert printed("units", "--db", db) == "units are stored hashed\n"
    assert command("release", "button", "nope", "--db", db).returncode == 2
