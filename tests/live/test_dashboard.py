"""The dashboard in a real browser: it draws what the report says, and nothing goes wrong on its
console."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

import pytest
from service import Running

BROWSER = next(
    (
        path
        for name in ("chromium", "chromium-browser", "google-chrome")
        if (path := shutil.which(name))
    ),
    None,
)
NEEDS_BROWSER = pytest.mark.skipif(
    BROWSER is None, reason="THE DASHBOARD IS NOT TESTED: no Chromium here (.ci/run installs it)"
)
QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--enable-logging=stderr",
    "--virtual-time-budget=8000",
)


def page(url, folder):
    """The page's elements after its scripts have run; its console must stay empty."""
    done = subprocess.run(
        [BROWSER, *QUIET, f"--user-data-dir={folder}", "--dump-dom", url],
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | {"HOME": str(folder)},
    )
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    assert console == []
    return done.stdout


@NEEDS_BROWSER
def test_the_dashboard_draws_the_report(tmp_path):
    with Running(tmp_path / "shop.db", "--no-keys") as server:
        assert "No experiment yet" in page(f"{server.url}/dashboard/", tmp_path / "empty")
        server.api.post(
            "/v1/experiments",
            json={"name": "button", "arms": ["blue", "<b>green</b>"], "policy": "Uniform"},
        )
        for j in range(30):
            made = server.api.post("/v1/experiments/button/decisions", json={"key": f"k{j}"}).json()
            if j % 3 == 0:
                server.api.post("/v1/experiments/button/conversions", json={"id": made["id"]})
        drawn = page(f"{server.url}/", tmp_path / "full")
        report = server.api.get("/v1/experiments/button/report").json()
        words = server.api.get("/v1/experiments/button/verdict").json()["words"]
    assert "That did not work" not in drawn
    assert "Too early to say" in words
    assert 'id="verdict"' in drawn
    for title in ("Rate", "Allocation", "Conversion lag", "Share matured"):
        assert f"<h3>{title}</h3>" in drawn
    cells = re.findall(r"<td>(?:<span class=\"swatch a\d\"></span>)?(.*?)</td>", drawn)
    for j, arm in enumerate(report["arms"]):
        row = cells[8 * j : 8 * j + 8]
        assert row[0] == arm["arm"].replace("<", "&lt;").replace(">", "&gt;")  # text, not markup
        assert row[1:3] == [str(arm["pulls"]), str(arm["conversions"])]
        assert row[3] == f"{100 * arm['raw_rate']:.2f} %"
    assert drawn.count("<svg") == 4


@NEEDS_BROWSER
def test_money_windows_and_no_data_are_shown_as_people_write_them(tmp_path):
    new = {
        "name": "checkout",
        "arms": ["control", "blue", "green"],
        "policy": "Uniform",
        "window": "30d",
        "largest_value": 500,
        "currency": "EUR",
    }
    with Running(tmp_path / "shop.db", "--no-keys") as server:
        server.api.post("/v1/experiments", json=new)
        assert "no data yet" in page(f"{server.url}/dashboard/", tmp_path / "empty")
        for j in range(30):
            server.api.post("/v1/experiments/checkout/decisions", json={"unit": f"u{j}"})
            order = {"unit": f"u{j}", "order": f"o{j}", "value": 59.9}
            server.api.post("/v1/experiments/checkout/conversions", json=order)
        drawn = page(f"{server.url}/dashboard/", tmp_path / "full")
    assert "59.90 EUR" in drawn
    assert "5990" not in drawn
    assert "conversions within 30d count" in drawn


@NEEDS_BROWSER
def test_the_dashboard_asks_for_a_key(tmp_path):
    with Running(tmp_path / "shop.db") as server:
        drawn = page(f"{server.url}/dashboard/", tmp_path / "browser")
    assert "A key, please" in drawn
    assert "No experiment" not in drawn


def test_its_files_are_served_strictly(tmp_path):
    with Running(tmp_path / "shop.db") as server:
        front = server.api.get("/dashboard/")
        policy = front.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        for name in ("app.js", "charts.js", "dom.js", "style.css", "icon.svg"):
            answer = server.api.get(f"/dashboard/{name}")
            assert answer.status_code == 200
            assert (
                "http://www.w3.org" in answer.text or "://" not in answer.text
            )  # nothing from elsewhere but a name space
        assert server.api.get("/dashboard/missing.js").status_code == 404
        assert server.api.get("/dashboard/..%2fserver.py").status_code == 404
