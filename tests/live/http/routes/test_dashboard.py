"""The dashboard in a real browser: it shows what the report says, at every width, and nothing goes
wrong on its console."""

from __future__ import annotations

import json
from decimal import ROUND_HALF_UP, Decimal
from functools import partial

import pytest
from browser import NEEDS_BROWSER, Browser
from service import Running
from shown_shops import NAMES, shop_of

from patientbandits import live
from patientbandits.live.monitoring.alerts import store_findings
from patientbandits.live.monitoring.findings import Finding

pytestmark = pytest.mark.slow

WIDTHS = {"phone": 390, "tablet": 820, "desktop": 1280}
SHOWN = "document.querySelector('#verdict .words') !== null"
CUT = """
[...document.querySelectorAll('main *')].filter((one) => {
  const box = one.getBoundingClientRect();
  return box.width > 0 && box.right > innerWidth + 1;
}).length
"""
"""elements beyond the right edge"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Browser(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


def opened(browser, url, width=1280):
    browser.console.clear()
    browser.open(f"{url}/dashboard/", width)
    browser.until(SHOWN)


def cells(browser):
    """The arms' table, row by row: label -> text."""
    return json.loads(
        browser.value(
            "JSON.stringify([...document.querySelectorAll('#arms tbody tr')].map((row) => "
            "Object.fromEntries([...row.children].map((cell) => [cell.dataset.label, "
            "cell.firstChild.innerText.trim()]))))"
        )
    )


def shown(number):
    """With two digits, as a page writes it: halves away from zero (Python's own: to even)."""
    return str(Decimal(number).quantize(Decimal("0.01"), ROUND_HALF_UP))


def titles(browser):
    return browser.value("[...document.querySelectorAll('h3')].map((one) => one.textContent)")


def left(browser):
    """Nobody asks the server any more."""
    browser.open("about:blank")


@NEEDS_BROWSER
@pytest.mark.parametrize("arms", [2, 6])
@pytest.mark.parametrize("amount", ["none", "little", "much"])
def test_at_every_width(browser, tmp_path, arms, amount):
    """Nothing is cut, the words fit the data, and a phone is shown cards instead of a table."""
    with Running(shop_of(tmp_path, arms, amount), "--no-keys") as server:
        for name, width in WIDTHS.items():
            opened(browser, server.url, width)
            assert browser.value("document.documentElement.scrollWidth") <= width, name
            assert browser.value(CUT) == 0, name
            head = browser.value("getComputedStyle(document.querySelector('#arms thead')).display")
            assert head == ("table-header-group" if name == "desktop" else "none"), name
        rows = cells(browser)
        text = browser.text()
        report = server.api.get("/v1/experiments/checkout/report").json()
        verdict = server.api.get("/v1/experiments/checkout/verdict").json()
        assert browser.console == []
        left(browser)
    assert len(rows) == arms == len(report["arms"])
    assert "That did not work" not in text
    assert "50.55" not in text
    if amount == "none":
        assert verdict["words"] in text
        assert {row[column(rows, "so far")] for row in rows} == {"no data yet"}
    elif amount == "little":
        assert "Too early to say" in text
        assert {row[column(rows, "corrected")] for row in rows} == {"too early"}
    else:
        leads = "leads" if verdict["probability"] >= 0.8 else "is ahead"
        assert f"{verdict['leader']} {leads}" in text
        assert "Which window?" in text
        assert "Cohorts by day" in text
    shown = [f"{arm['pulls']:,}" for arm in report["arms"]]
    assert [row[column(rows, "visitors")] for row in rows] == shown


def column(rows, words):
    return next(label for label in rows[0] if words in label)


@NEEDS_BROWSER
def test_revenue_is_shown_in_its_currency_and_retired_arms_keep_their_estimates(browser, tmp_path):
    with Running(shop_of(tmp_path, 6, "much"), "--no-keys") as server:
        opened(browser, server.url)
        rows = {row["arm"].split("\n")[0].strip(): row for row in cells(browser)}
        text = browser.text()
        report = server.api.get("/v1/experiments/checkout/report").json()
        words = browser.value(
            "[...document.querySelectorAll('svg text')].map((t) => t.textContent)"
        )
        assert browser.console == []
        left(browser)
    for arm in report["arms"]:
        row = rows[arm["arm"]]
        corrected = row["corrected revenue per visitor, EUR"]
        assert corrected.split("\n")[0] == shown(arm["rate"])
        assert row["so far per visitor, EUR"] == shown(arm["raw_rate"])
    assert rows["red"]["best with probability"] == "–"
    assert "EUR per visitor" in text
    assert "An order counts within 30 days of the decision it is credited to." in text
    assert "A visitor's orders add up, to at most 500 EUR." in text
    assert "Goal: sign-up" in text
    assert {"1 h", "1 d", "7 d", "30 d"} <= set(words)
    assert text.count("free shipping") >= 4  # the table and legends


@NEEDS_BROWSER
def test_rates_and_arms_that_try_to_be_markup(browser, tmp_path):
    arms = ["blue", "<b>green</b>"]
    with Running(tmp_path / "shop.db", "--no-keys") as server:
        browser.console.clear()
        browser.open(f"{server.url}/")
        browser.says("No experiment yet")
        made = {"name": "button", "arms": arms, "policy": "Uniform"}
        server.api.post("/v1/experiments", json=made)
        for j in range(60):
            decided = server.api.post("/v1/experiments/button/decisions", json={"key": f"k{j}"})
            if j % 2 == 0:
                told = {"id": decided.json()["id"]}
                server.api.post("/v1/experiments/button/conversions", json=told)
        opened(browser, server.url)
        rows = cells(browser)
        report = server.api.get("/v1/experiments/button/report").json()
        found = titles(browser)
        assert browser.console == []
        left(browser)
    assert [row["arm"] for row in rows] == ["blue\ncontrol", arms[1]]  # text, not markup
    for row, arm in zip(rows, report["arms"], strict=True):
        assert row["conversions"] == str(arm["conversions"])
        assert row["seen so far"] == f"{shown(100 * arm['raw_rate'])} %"
    assert {"Rate", "Allocation", "Share matured", "Settings", "Manage"} <= set(found)


def pressed(browser, button, answer, arm=None):
    """Press a button, answer the first question and then the second."""
    browser.click(button)
    browser.until("document.querySelector('dialog').open")
    if arm is not None:
        browser.value(f"document.querySelector('dialog [name=arm]').value = {arm!r}")
    browser.click("Continue")
    assert "Are you sure?" in browser.text("dialog")
    browser.click(answer)
    if answer.startswith("Yes"):
        browser.until("!document.querySelector('dialog').open")


@NEEDS_BROWSER
def test_an_admin_is_asked_twice(browser, tmp_path):
    with Running(tmp_path / "shop.db") as server:
        path = "/v1/experiments/checkout"
        server.api.post(
            "/v1/experiments",
            json={
                "name": "checkout",
                "arms": ["control", "blue"],
                "control": "control",
                "shares": {"minimum": 0.05},
            },
        )

        def now():
            return server.api.get(path).json()

        browser.console.clear()
        browser.open(f"{server.url}/dashboard/")
        browser.until("document.querySelector('input[name=key]') !== null")
        browser.value(f"document.querySelector('input[name=key]').value = {server.key!r}")
        browser.click("Open")
        browser.until(SHOWN)
        assert "Every arm gets at least 5 % of the traffic." in browser.text()
        pressed(browser, "Pause", "Cancel")
        browser.until("!document.querySelector('dialog').open")
        assert not now()["paused"]
        pressed(browser, "Pause", "Yes, pause checkout")
        assert now()["paused"]
        browser.until("document.querySelector('.state').textContent === 'paused'")
        pressed(browser, "Resume", "Yes, resume checkout")
        assert not now()["paused"]
        pressed(browser, "Close", "Yes, close checkout")
        assert now()["closed"]
        browser.until("document.querySelector('.state').textContent === 'closed'")
        pressed(browser, "Reopen", "Yes, reopen checkout")
        assert not now()["closed"]
        pressed(browser, "Add an arm", "Yes, add the arm green", arm="green")
        assert now()["arms"] == ["control", "blue", "green"]
        browser.until("document.querySelector('#arms').innerText.includes('green')")
        pressed(browser, "Retire an arm", "Yes, retire the arm blue", arm="blue")
        assert now()["retired"] == ["blue"]
        pressed(browser, "Restore an arm", "Yes, restore the arm blue", arm="blue")
        assert now()["retired"] == []
        assert browser.console == []
        pressed(browser, "Add an arm", "Cancel", arm="red")
        assert "red" not in now()["arms"]
        left(browser)


@NEEDS_BROWSER
def test_a_reader_is_offered_no_buttons(browser, tmp_path):
    with Running(tmp_path / "shop.db") as server:
        server.api.post("/v1/experiments", json={"name": "checkout", "arms": NAMES[:2]})
        key = server.api.post("/v1/keys", json={"scopes": ["read"]}).json()["key"]
        browser.console.clear()
        browser.open(f"{server.url}/dashboard/")
        browser.says("Enter a key")
        assert "checkout" not in browser.text()
        browser.value(f"document.querySelector('input[name=key]').value = {key!r}")
        browser.click("Open")
        browser.until(SHOWN)
        assert "Settings" in titles(browser)
        assert "Manage" not in titles(browser)
        assert browser.console == []
        browser.click("forget key")
        browser.says("Enter a key")
        left(browser)


def test_its_files_are_served_strictly(tmp_path):
    with Running(tmp_path / "shop.db") as server:
        front = server.api.get("/dashboard/")
        policy = front.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        scripts = [
            "app",
            "api",
            "arms",
            "changes",
            "charts",
            "dom",
            "format",
            "manage",
            "settings",
            "verdict",
        ]
        for name in (*(f"{script}.js" for script in scripts), "style.css", "icon.svg"):
            answer = server.api.get(f"/dashboard/{name}")
            assert answer.status_code == 200
            assert (
                "http://www.w3.org" in answer.text or "://" not in answer.text
            )  # nothing from elsewhere but a name space
        assert server.api.get("/dashboard/missing.js").status_code == 404
        assert server.api.get("/dashboard/..%2fserver.py").status_code == 400


@NEEDS_BROWSER
def test_alerts_that_stand_are_listed(browser, tmp_path):
    """Each with its subject and since when, as text and nothing else; good news is the verdict's
    to tell; without any there is no list."""
    path = shop_of(tmp_path, 2, "little")
    found = [
        Finding("stopped", "", "no conversions for 30 hours", {}),
        Finding("burst", "<img src=x onerror=console.error(1)>", "7 conversions at once", {}),
        Finding("leader", NAMES[0], "leads", {}),
    ]
    listed = "[...document.querySelectorAll('#alerts li')].map((one) => one.textContent)"
    for standing, expected in ((found, 2), (found[2:], 0)):
        with live.open(path) as shop:
            experiment = shop.open("checkout").experiment
            head = shop.store.head(experiment.id)
            keep = partial(store_findings, shop.store, experiment, standing, head)
            shop.journal.alone(partial(keep, shop.journal.now()))
        with Running(path, "--no-keys", "--alerts", "0") as server:
            for width in WIDTHS.values():
                opened(browser, server.url, width)
                lines = browser.value(listed)
                assert len(lines) == expected
                assert browser.value(CUT) == 0
            assert browser.value("document.querySelectorAll('#alerts img').length") == 0
            since = server.api.get("/v1/experiments/checkout/report").json()["alerts"]
            assert browser.console == []
            left(browser)
        if expected:
            day = since[0]["raised"][:10]
            told = sorted(line.partition(f" since {day}")[0] for line in lines)
            assert told == [f"{found[1].subject}: 7 conversions at once", found[0].words]
