"""What went wrong for somebody new to it, each with the mend that was made."""

from __future__ import annotations

import json
import logging
import re
import signal
import socket
import subprocess
import sys

import pytest
from command_line import as_json
from service import Running, command, environment

from patientbandits import live
from patientbandits.analysis.events.example import write_example
from patientbandits.cli import main
from patientbandits.live.times import parsed_time

pytestmark = pytest.mark.slow

ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
"""how every time is told"""


HIDE = """
import importlib.util
import sys

real = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: (
    None if name in {names} else real(name, package)
)
sys.modules.update(dict.fromkeys({names}))
"""
"""no such packages: their import fails"""


def logged(server) -> list[dict]:
    return [json.loads(line) for line in server.log if line.startswith("{")]


def test_a_start_and_an_end_are_no_errors(tmp_path):
    """Asked whether it is ready, the service says no while it starts: that is an answer."""
    with Running(tmp_path / "shop.db") as server:
        assert server.stop(signal.SIGTERM) == 0
        lines = logged(server)
    assert [line["what"] for line in lines if line["level"] == "error"] == []
    told = [line for line in lines if line["what"] == "stopping"]
    assert [line["signal"] for line in told] == ["SIGTERM"]
    assert lines[-1]["what"] == "stopped"


def test_the_lines_of_the_loop_are_json_too(capsys):
    """Those of asyncio, warnings and failures, with what failed."""
    from patientbandits.live.http.logs import set_up_logs

    set_up_logs("info")
    try:
        raise OSError("no such luck")
    except OSError:
        logging.getLogger("asyncio").exception("Exception in callback")
    logging.getLogger("asyncio").warning("socket.send() raised exception.")
    failed, warned = map(json.loads, capsys.readouterr().err.splitlines())
    assert (failed["what"], failed["logger"]) == ("Exception in callback", "asyncio")
    assert "no such luck" in failed["error"]
    assert (warned["level"], warned["what"]) == ("warning", "socket.send() raised exception.")


def test_all_that_a_server_says_is_json(tmp_path):
    with Running(tmp_path / "shop.db") as server:
        port = int(server.url.rsplit(":", 1)[1])
        with socket.create_connection(("127.0.0.1", port), timeout=120) as connection:
            connection.sendall(b"nonsense\r\n\r\n")
            assert connection.recv(100).startswith(b"HTTP/1.1 400 ")
        assert server.stop(signal.SIGTERM) == 0
    told = [json.loads(line)["what"] for line in server.log]
    assert "Invalid HTTP request received." in told


def test_not_being_ready_is_logged_as_no_error(capsys):
    from patientbandits.live.http.logs import RequestLog, set_up_logs

    set_up_logs("info")
    RequestLog().answered("1", "GET", "/readyz", 503, 0.001)
    assert capsys.readouterr().err == ""
    RequestLog().answered("2", "GET", "/v1/experiments", 503, 0.001)
    assert "503" in capsys.readouterr().err


def test_times_have_one_format(tmp_path):
    """In answers, in the report, on the command line and in exports; and each can be sent back."""
    db = str(tmp_path / "shop.db")
    with Running(db) as server:
        api = server.api
        new = {"name": "checkout", "arms": ["control", "blue"], "window": "30d"}
        times = [api.post("/v1/experiments", json=new).json()["created"]]
        one = "/v1/experiments/checkout"
        api.post(f"{one}/decisions", json={"unit": "u"})
        for part in ("report", "verdict", "weights", "analysis"):
            times.append(api.get(f"{one}/{part}").json()["time"])
        times += [row["time"] for row in api.get(f"{one}/timeseries").json()["counts"]]
        times.append(api.get("/v1/keys").json()["keys"][0]["created"])
        exported = api.get(f"{one}/export").text
        order = {"unit": "u", "order": "A", "at": times[1]}
        assert api.post(f"{one}/conversions", json=order).status_code == 201
    times += re.findall(r"\d{4}-\d\d-[^,\s]*", exported)
    times.append(as_json("report", "checkout", "--db", db)["time"])
    assert len(times) > 8
    for told in times:
        assert ISO.fullmatch(told), told
        assert parsed_time(told) is not None


def test_windows_are_lengths_of_time_everywhere(tmp_path, capsys):
    """Library, HTTP, command line, import and analyse read them, and show them, alike."""
    db = str(tmp_path / "shop.db")
    files = write_example(tmp_path / "example")
    arms = ["control", "blue"]
    with live.open(db) as shop:
        shop.experiment("library", arms, window="30d")
        shop.open("library").change(window="12h")
    as_json("experiments", "create", "line", *arms, "--window", "12h", "--db", db)
    as_json("experiments", "change", "line", "--window", "720min", "--db", db)
    as_json("import", "import", *files, "--window", "12h", "--db", db)
    with Running(db, "--no-keys") as server:
        new = {"name": "http", "arms": arms, "window": "30d"}
        server.api.post("/v1/experiments", json=new)
        changed = server.api.patch("/v1/experiments/http", json={"window": "12h"}).json()
        assert changed["window_text"] == "12h"
        found = server.api.get("/v1/experiments").json()["experiments"]
    assert {one["name"]: one["window_text"] for one in found} == dict.fromkeys(
        ("library", "line", "import", "http"), "12h"
    )
    assert main(["experiments", "list", "--db", db]) == 0
    assert capsys.readouterr().out.count("window 12h") == 4
    out = str(tmp_path / "out")
    assert main(["analyse", *map(str, files), "--window", "12h", "--out", out]) == 0


def test_a_value_is_called_by_one_name(tmp_path, capsys):
    """`scale` of a policy is a time, and nothing else is called so; the older name still works."""
    with live.open(str(tmp_path / "shop.db")) as shop:
        made = shop.experiment("a", ["x", "y"], scale=5.0)
        assert shop.experiment("a", ["x", "y"], largest_value=5.0).settings == made.settings
        with pytest.raises(live.RefusedError, match="must agree"):
            shop.experiment("a", ["x", "y"], largest_value=5.0, scale=6.0)
        files = write_example(tmp_path / "example")
        shop.import_history("b", *files, largest_value=500)
        assert shop.open("b").settings.scale == 500
    for words in (["experiments", "create", "--help"], ["import", "--help"]):
        with pytest.raises(SystemExit):
            main(words)
        shown = capsys.readouterr().out
        assert "--largest-value" in shown
        assert "--scale" not in shown


def test_backup_and_restore_say_what_they_take(capsys):
    for word in ("backup", "restore"):
        with pytest.raises(SystemExit):
            main([word, "--help"])
        shown = " ".join(capsys.readouterr().out.split())
        assert "--db DATABASE" in shown
        assert "FILE" in shown


def test_without_the_extra_a_plain_install_says_so(tmp_path):
    """In a process of its own, where the packages cannot be found, by library and command line."""
    hide = HIDE.format(names=("msgspec", "apsw", "httptools"))
    for ask in (
        "from patientbandits import live\nlive.open('shop.db')",
        "from patientbandits.cli import main\nsys.exit(main(['serve']))",
        "from patientbandits.cli import main\nsys.exit(main(['decide', 'x']))",
    ):
        done = subprocess.run(
            [sys.executable, "-c", hide + ask],
            capture_output=True,
            text=True,
            timeout=120,
            cwd=tmp_path,
            env=environment(),
        )
        assert done.returncode != 0
        last = done.stderr.strip().splitlines()[-1]
        assert "pip install 'patientbandits[live]'" in last, done.stderr


def test_the_four_steps(tmp_path):
    """On a fresh folder with the example's files: import, serve, decide and convert, verdict."""
    assert command("example", "shop", cwd=tmp_path).returncode == 0
    files = ["shop/exposures.csv", "shop/orders.csv"]
    made = command("import", "checkout", *files, "--window", "30d", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert "60000 exposures written" in made.stdout
    assert "to count money, import under another name with --largest-value" in made.stdout
    with Running(tmp_path / "shop.db") as server:
        one = "/v1/experiments/checkout"
        before = server.api.get(f"{one}/report").json()
        decided = server.api.post(f"{one}/decisions", json={"unit": "visitor-42"})
        assert decided.status_code == 201
        order = {"unit": "visitor-42", "order": "A-1001"}
        paid = server.api.post(f"{one}/conversions", json=order)
        assert (paid.status_code, paid.json()["counted"]) == (201, True)
        after = server.api.get(f"{one}/report").json()
        assert server.api.get(f"{one}/verdict").json()["leader"] in ("blue", "green")
    counts = [sum(arm["pulls"] for arm in told["arms"]) for told in (before, after)]
    assert counts == [60_000, 60_001]
    with live.open(str(tmp_path / "shop.db")) as shop:
        button = shop.open("checkout")
        assert not button.convert(unit="visitor-42", order="A-1002").duplicate
        assert button.convert(unit="visitor-42", order="A-1002", at=None).duplicate
        assert button.verdict()["words"]
    checked = command("check", "shop.db", cwd=tmp_path)
    assert "all is well" in checked.stdout
