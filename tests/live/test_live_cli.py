"""The command line of the live service."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re
import socket
import subprocess
import sys

import pytest
from service import environment

from patientbandits import live
from patientbandits.cli import main, parser


def command(*arguments):
    """`patientbandits ARGUMENTS`, in this process."""
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(argument) for argument in arguments])
    return subprocess.CompletedProcess(
        arguments, code, out.buffer.getvalue().decode(), err.getvalue()
    )


@pytest.fixture
def db(tmp_path):
    path = tmp_path / "shop.db"
    assert command("experiments", "create", "button", "blue", "green", "--db", path).returncode == 0
    return path


def told(*arguments):
    """What the command printed, which must have worked."""
    done = command(*arguments)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def as_json(*arguments):
    return json.loads(told(*arguments, "--json"))


def test_from_decision_to_export(db):
    made = as_json("decide", "button", "--unit", "u", "--key", "k", "--db", db)
    assert made["arm"] in ("blue", "green")
    assert as_json("decide", "button", "--unit", "u", "--key", "k", "--db", db) == made | {
        "duplicate": True
    }
    assert as_json("convert", "button", made["id"], "--value", "0.5", "--db", db) == {
        "duplicate": False,
        "counted": True,
    }
    assert (
        told("convert", "button", made["id"], "--value", "0.5", "--db", db)
        == "duplicate, counted\n"
    )
    assert [arm["pulls"] for arm in as_json("report", "button", "--db", db)["arms"]] in (
        [0, 1],
        [1, 0],
    )
    assert re.search(r"^blue +[01] ", told("report", "button", "--db", db), re.MULTILINE)
    (row,) = csv.DictReader(io.StringIO(told("export", "button", "--db", db)))
    assert (row["decision"], row["value"]) == (made["id"], "0.5")
    told("export", "button", "--db", db, "--format", "parquet", "--out", db.with_suffix(".parquet"))
    assert db.with_suffix(".parquet").read_bytes()[:4] == b"PAR1"
    assert told("retract", "button", made["id"], "--db", db) == "retracted\n"
    assert told("retract", "button", made["id"], "--db", db) == "duplicate\n"


def test_experiments(db):
    assert as_json("experiments", "list", "--db", db)[0]["arms"] == ["blue", "green"]
    assert "exists already" in told("experiments", "create", "button", "blue", "green", "--db", db)
    assert as_json("experiments", "pause", "button", "--db", db)["paused"] is True
    assert command("decide", "button", "--db", db).returncode == 2
    assert as_json("experiments", "resume", "button", "--db", db)["paused"] is False
    changed = as_json(
        "experiments",
        "change",
        "button",
        "--add",
        "red",
        "--retire",
        "blue",
        "--window",
        "60",
        "--sticky",
        "--policy",
        '{"policy": "UCB1"}',
        "--db",
        db,
    )
    assert (changed["arms"], changed["retired"]) == (["blue", "green", "red"], ["blue"])
    assert (changed["window"], changed["sticky"], changed["policy"]["policy"]) == (60, True, "UCB1")
    assert (
        as_json("experiments", "change", "button", "--no-window", "--no-sticky", "--db", db)[
            "window"
        ]
        is None
    )
    assert "blue (retired)" in told("experiments", "show", "button", "--db", db)


def test_times_have_one_format(db):
    """ISO 8601, in UTC, to the millisecond, wherever a time is shown."""
    iso = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
    told("decide", "button", "--db", db)
    told("keys", "create", "--scope", "read", "--db", db)
    with live.open(str(db)) as shop:
        times = [row["time"] for row in shop.open("button").timeseries("minute")]
    times += [one["created"] for one in as_json("experiments", "list", "--db", db)]
    times += [one["created"] for one in as_json("keys", "list", "--db", db)]
    assert len(times) == 3
    assert all(iso.fullmatch(time) for time in times), times


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["decide", "nope"], "none of this name"),
        (["decide", "button", "--unit", ""], "unit"),
        (["convert", "button", "x"], "none with this id"),
        (["experiments", "create", "button", "a"], "other settings"),
        (["experiments", "create", "x/y", "a"], "a name must be"),
        (["experiments", "change", "button", "--policy", "{"], "policy must be"),
        (["experiments", "change", "button", "--retire", "x"], "no such arms"),
        (["experiments", "change", "button", "--window", "1", "--no-window"], "exclude"),
        (["keys", "revoke", "x"], "none with this id"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(db, arguments, said):
    done = command(*arguments, "--db", db)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_a_missing_database_is_not_made(tmp_path):
    for arguments in (["decide", "a"], ["experiments", "list"], ["keys", "list"], ["export", "a"]):
        done = command(*arguments, "--db", tmp_path / "none.db")
        assert (done.returncode, "no database" in done.stderr) == (2, True)
    assert list(tmp_path.iterdir()) == []


def test_the_environment_names_the_database(db, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "patientbandits", "experiments", "list"],
        capture_output=True,
        text=True,
        env=environment() | {"PATIENTBANDITS_DB": str(db)},
        cwd=tmp_path,
        timeout=60,
    )
    assert "button" in done.stdout


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


def test_help_waits_for_nothing():
    code = (
        "import sys\nfrom patientbandits.cli import parser\nparser()\n"
        "print(*(set(sys.modules) & {'numpy', 'msgspec', 'uvicorn', 'apsw'}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment(), check=True
    )
    assert done.stdout.strip() == ""


def test_every_command_has_words_of_help():
    shown = parser().format_help()
    for name in (
        "serve",
        "experiments",
        "decide",
        "convert",
        "retract",
        "report",
        "export",
        "keys",
    ):
        assert re.search(rf"^ +{name}\s+\w", shown, re.MULTILINE), name
