"""The pages in docs/service say what the code does."""

from __future__ import annotations

import re
from pathlib import Path

from patientbandits.cli import parser
from patientbandits.live import names
from patientbandits.live.commands.draft import SKEW
from patientbandits.live.http import messages, schemas
from patientbandits.live.http.routes import ROUTES
from patientbandits.live.http.service import Options
from patientbandits.live.monitoring import ALERT_KINDS
from patientbandits.live.server import protocol
from patientbandits.live.settings import rules as settings_rules
from patientbandits.live.storage.schema import MIGRATIONS

ROOT = Path(__file__).parents[2]
TEXT = "\n".join(page.read_text() for page in sorted((ROOT / "docs" / "service").glob("*.md")))


def test_every_route_and_its_scope():
    rows = re.findall(r"^\| (`(?:GET|POST|PATCH|DELETE) .*?) \| (\w+) \|", TEXT, re.MULTILINE)
    documented = {
        (method, path.partition("?")[0], scope)
        for paths, scope in rows
        for method, path in re.findall(r"`(\w+) ([^`]+)`", paths)
    }
    served = {(route.method, route.path, route.scope or "none") for route in ROUTES}
    assert served - documented == set(), "each needs a row in docs/service/reference.md"
    assert documented - served == set(), "no such route, or its scope is another"


def test_every_field_of_a_change():
    (row,) = re.findall(r"^\| `PATCH .*$", TEXT, re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", row)) == set(schemas.Change.__struct_fields__)


def test_limits():
    large = f"{messages.LARGE_BODY // 2**20} MB and {schemas.LARGEST_BATCH} items"
    assert f"{messages.BODY // 1024} KB; {large}" in TEXT
    head = f"{protocol.LARGEST_HEAD // 1024} KB, and {protocol.HEAD_SECONDS:.0f} seconds"
    assert f"| head of a request | {head}; {protocol.MOST_HEADERS} headers, one `Host` |" in TEXT
    assert f"| connections | {protocol.MOST_CONNECTIONS}, or as many as open files allow" in TEXT
    unfinished = f"{protocol.MOST_UNFINISHED // 2**20} MB together; then 503"
    assert f"| requests that are not whole yet | {unfinished} |" in TEXT
    assert f"that is not fetched | {protocol.FETCH_SECONDS:.0f} seconds |" in TEXT
    assert f"`--queue`, {Options().queue:_};".replace("_", " ") in TEXT
    longest = names.LONGEST_TEXT
    assert f"{settings_rules.MOST_ARMS}; 100, {longest}, {longest} characters" in TEXT
    assert names.NAME.fullmatch("x" * 100)
    assert not names.NAME.fullmatch("x" * 101)
    assert f"up to {SKEW // 60_000_000} minutes" in TEXT
    assert parser().parse_args(["serve"]).queue == Options().queue


def test_metrics():
    http = ROOT / "src" / "patientbandits" / "live" / "http"
    source = (http / "metrics.py").read_text()
    explained = re.findall(r"patientbandits_(?!client\b)(\w+)", TEXT)
    assert set(re.findall(r'"patientbandits_(\w+)"', source)) == {
        name.removesuffix("_total") for name in explained
    }


def test_every_schema_is_explained():
    text = (ROOT / "docs" / "upgrading.md").read_text()
    rows = re.findall(r"^\| (\d+) \|", text, re.MULTILINE)
    assert [int(row) for row in rows] == list(range(1, len(MIGRATIONS) + 1))


def test_every_kind_of_alert_is_explained():
    page = (ROOT / "docs" / "alerts.md").read_text()
    (table,) = re.findall(r"^\| kind \|.*\n((?:\|.*\n)+)", page, re.MULTILINE)
    assert tuple(re.findall(r"^\| `(\w+)`", table, re.MULTILINE)) == ALERT_KINDS, (
        "the table of docs/alerts.md needs a row for each kind, in the order of ALERT_KINDS"
    )


def test_every_finding_is_of_a_kind_that_webhooks_know():
    """Kinds are written where a finding is made, as `Finding("ratio", ...)`."""
    source = "".join(path.read_text() for path in (ROOT / "src").rglob("live/monitoring/*.py"))
    named = set(re.findall(r'Finding\(\s*"(\w+)"', source))
    assert named <= set(ALERT_KINDS)
    assert len(named) >= 6
