"""The commands of experiments."""

from __future__ import annotations

import re

import pytest
from command_line import as_json, command, printed

from patientbandits import live


def test_experiments(db):
    assert as_json("experiments", "list", "--db", db)[0]["arms"] == ["blue", "green"]
    assert "exists already" in printed(
        "experiments", "create", "button", "blue", "green", "--db", db
    )
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
    assert "blue (retired)" in printed("experiments", "show", "button", "--db", db)


def test_times_have_one_format(db):
    """ISO 8601, in UTC, to the millisecond, wherever a time is shown."""
    iso = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
    printed("decide", "button", "--db", db)
    printed("keys", "create", "--scope", "read", "--db", db)
    with live.open(str(db)) as shop:
        times = [row["time"] for row in shop.open("button").timeseries("minute")]
    times += [one["created"] for one in as_json("experiments", "list", "--db", db)]
    times += [one["created"] for one in as_json("keys", "list", "--db", db)]
    assert len(times) == 3
    assert all(iso.fullmatch(time) for time in times), times


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["decide", "nope"], "no experiment has this name"),
        (["decide", "button", "--unit", ""], "unit"),
        (["convert", "button", "x"], "no decision has this id"),
        (["experiments", "create", "button", "a"], "other settings"),
        (["experiments", "create", "x/y", "a"], "a name must be"),
        (["experiments", "change", "button", "--policy", "{"], "policy must be"),
        (["experiments", "change", "button", "--retire", "x"], "no arms have these names"),
        (["experiments", "change", "button", "--window", "1", "--no-window"], "exclude"),
        (["keys", "revoke", "x"], "no key has this id"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(db, arguments, said):
    done = command(*arguments, "--db", db)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_the_reporting_lag(db):
    changed = as_json("experiments", "change", "button", "--reporting-lag", "29h", "--db", db)
    assert changed["reporting_lag"] == 29 * 3600
    text = printed("experiments", "show", "button", "--db", db)
    assert "orders reported up to 29 hours late" in text
    report = as_json("report", "button", "--db", db)
    assert report["complete_until"] < report["time"]
    assert "reporting lag 29h" in report["notes"][0]
    changed = as_json("experiments", "change", "button", "--no-reporting-lag", "--db", db)
    assert changed["reporting_lag"] is None
