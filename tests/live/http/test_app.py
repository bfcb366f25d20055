"""The service through real sockets: every answer of the table, every bad input, limits, failures,
a good end."""

from __future__ import annotations

import csv
import io
import json
import signal
import socket
import threading
import time

import httpx
import pytest
from service import Running

from patientbandits import live

pytestmark = pytest.mark.slow

JSON = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with Running(tmp_path_factory.mktemp("http") / "shop.db") as server:
        yield server


@pytest.fixture(scope="module")
def api(running):
    return running.api


@pytest.fixture
def button(api, request):
    """The path of a new experiment."""
    name = f"{request.node.name[:60].translate(str.maketrans('[]', '--')).rstrip('-')}".encode(
        "ascii", "ignore"
    ).decode()
    name = "".join(c if c.isalnum() else "-" for c in name)
    assert (
        api.post("/v1/experiments", json={"name": name, "arms": ["blue", "green"]}).status_code
        == 201
    )
    return f"/v1/experiments/{name}"


def decide(api, button, **body):
    answer = api.post(f"{button}/decisions", json=body)
    assert answer.status_code in (200, 201), answer.text
    return answer.json()


def refused(answer, status, kind=None):
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem["status"] == status
    assert set(problem) == {"type", "title", "status", "kind", "detail"}
    assert kind in (None, problem["kind"])
    return problem


def raw(running, data, parts=()):
    """Send bytes, as they are; all that comes back until the server closes."""
    host, port = running.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=120) as connection:
        connection.sendall(data)
        for part in parts:
            connection.sendall(part)
        received = b""
        while True:
            try:
                more = connection.recv(65536)
            except ConnectionResetError:
                return received
            if not more:
                return received
            received += more


def head(running, path, *lines):
    authorization = f"authorization: Bearer {running.key}"
    return "\r\n".join(
        [
            f"POST {path} HTTP/1.1",
            "host: x",
            authorization,
            "content-type: application/json",
            *lines,
            "",
            "",
        ]
    ).encode()


# Decisions and conversions


def test_a_decision_is_new_once_per_key(api, button):
    first = api.post(f"{button}/decisions", json={"key": "k", "unit": "u"})
    again = api.post(f"{button}/decisions", json={"key": "k", "unit": "u"})
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == {**again.json(), "duplicate": False}
    assert first.json()["arm"] in ("blue", "green")
    refused(api.post(f"{button}/decisions", json={"key": "k", "unit": "other"}), 422, "different")


def test_the_header_is_a_key_too(api, button):
    made = [
        api.post(f"{button}/decisions", json={}, headers={"idempotency-key": "h"}) for _ in range(2)
    ]
    made.append(api.post(f"{button}/decisions", json={"key": "h"}))
    assert [answer.status_code for answer in made] == [201, 200, 200]
    assert len({answer.json()["id"] for answer in made}) == 1
    refused(
        api.post(f"{button}/decisions", json={"key": "x"}, headers={"idempotency-key": "h"}), 409
    )


def test_the_table_of_conversions(api, button):
    id = decide(api, button)["id"]
    path = f"{button}/conversions"
    first = api.post(path, json={"id": id, "value": 0.5})
    assert (first.status_code, first.json()) == (201, {"duplicate": False, "counted": True})
    again = api.post(path, json={"id": id, "value": 0.5})
    assert (again.status_code, again.json()) == (200, {"duplicate": True, "counted": True})
    refused(api.post(path, json={"id": id, "value": 0.6}), 422, "different")
    refused(api.post(path, json={"id": "A" * 27}), 404, "unknown")
    refused(api.post(path, json={"id": id[:-1] + ("A" if id[-1] != "A" else "B")}), 404, "unknown")
    other = decide(api, button)["id"]
    refused(api.post(path, json={"id": other, "at": "2001-01-01T00:00:00Z"}), 422)
    refused(api.post(path, json={"id": other, "at": "2999-01-01T00:00:00Z"}), 422)
    refused(api.post(path, json={"id": other, "at": "2026-01-01T00:00:00"}), 422)
    assert api.post(path, json={"id": other, "at": time.time()}).status_code == 201


def test_after_the_window_it_is_kept_but_not_counted(api, button):
    id = decide(api, button)["id"]
    assert api.patch(button, json={"window": 1e-6}).json()["window"] == 1e-6
    late = api.post(f"{button}/conversions", json={"id": id})
    assert (late.status_code, late.json()) == (200, {"duplicate": False, "counted": False})


@pytest.mark.parametrize(
    ("value", "status"),
    [
        ("-0.1", 422),
        ("1.000001", 422),
        ("1e999", 422),
        ('"1"', 422),
        ("true", 422),
        ("null", 422),
        ("[]", 422),
        (str(2**63), 422),
        ("9" * 400, 422),
        ("NaN", 400),
        ("Infinity", 400),
        ("-Infinity", 400),
        ("0x1", 400),
        ("01", 400),
        ("1.", 400),
        ("+1", 400),
    ],
)
def test_a_value_is_a_number_from_0_to_the_scale(api, button, value, status):
    id = decide(api, button)["id"]
    body = f'{{"id": "{id}", "value": {value}}}'.encode()
    refused(api.post(f"{button}/conversions", content=body, headers=JSON), status)
    assert api.post(f"{button}/conversions", json={"id": id}).status_code == 201, (
        "nothing was written"
    )


BODIES = {
    "nothing": (b"", 400),
    "no JSON": (b"unit=u", 400),
    "half": (b'{"unit": "u"', 400),
    "more": (b"{} {}", 400),
    "a list": (b"[]", 422),
    "a number": (b"1", 422),
    "null": (b"null", 422),
    "unknown field": (b'{"user": "u"}', 422),
    "a number as text": (b'{"unit": 1}', 422),
    "empty text": (b'{"unit": ""}', 422),
    "long text": (b'{"unit": "' + b"u" * 201 + b'"}', 422),
    "NUL": (b'{"unit": "a\\u0000"}', 422),
    "raw NUL": (b'{"unit": "a\x00"}', 400),
    "new line": (b'{"unit": "a\\n"}', 422),
    "lone surrogate": (b'{"unit": "\\ud800"}', 400),
    "reversed surrogates": (b'{"unit": "\\udc00\\ud800"}', 400),
    "no UTF-8": (b'{"unit": "\xff"}', 400),
    "overlong UTF-8": (b'{"unit": "\xc0\x80"}', 400),
    "UTF-16": ("{}".encode("utf-16"), 400),
    "BOM": (b"\xef\xbb\xbf{}", 400),
    "deep": (b"[" * 20_000, 422),
    "deep inside": (b'{"unit": ' + b"[" * 20_000, 422),
    "deep, unknown": (b'{"x": ' + b'{"x":' * 10_000, 422),
}


@pytest.mark.parametrize("what", BODIES)
def test_a_bad_body_is_refused(api, button, what):
    body, status = BODIES[what]
    refused(api.post(f"{button}/decisions", content=body, headers=JSON), status)


def test_any_printable_text_is_a_unit(api, button):
    for unit in (
        "ü",
        "漢字",
        "😀",
        "a b",
        "'; DROP TABLE log; --",
        "%00",
        "../x",
        "=1+1",
        "\u00ad",
    ):
        assert decide(api, button, unit=unit, key=unit)["duplicate"] is False
        assert decide(api, button, unit=unit, key=unit)["duplicate"] is True


def test_one_bad_item_never_spoils_a_batch(api, button):
    first, second = decide(api, button)["id"], decide(api, button)["id"]
    items = [
        {"id": first},
        {"id": "x"},
        3,
        {"id": second, "value": 2},
        {"id": first},
        {"id": first, "value": 0},
        {"id": second},
        None,
    ]
    answer = api.post(f"{button}/conversions/batch", json={"conversions": items})
    assert answer.status_code == 200
    results = answer.json()["results"]
    assert [item["status"] for item in results] == [201, 404, 422, 422, 200, 422, 201, 422]
    assert results[0] == {"status": 201, "duplicate": False, "counted": True}
    assert api.post(f"{button}/conversions/batch", json={"conversions": []}).json() == {
        "results": []
    }
    number = (
        b'{"conversions": [{"id": "x", "value": 1e999}, {"id": "'
        + decide(api, button)["id"].encode()
        + b'"}]}'
    )
    results = api.post(f"{button}/conversions/batch", content=number, headers=JSON).json()[
        "results"
    ]
    assert [item["status"] for item in results] == [422, 201]


def test_a_batch_has_limits(api, button):
    item = {"id": "A" * 27}
    assert (
        api.post(f"{button}/conversions/batch", json={"conversions": [item] * 1000}).status_code
        == 200
    )
    refused(api.post(f"{button}/conversions/batch", json={"conversions": [item] * 1001}), 422)
    refused(api.post(f"{button}/conversions/batch", json={"conversions": ["x" * 1100] * 1000}), 413)


def test_retractions(api, button):
    id = decide(api, button)["id"]
    refused(api.post(f"{button}/retractions", json={"id": id}), 409)
    api.post(f"{button}/conversions", json={"id": id})
    assert [api.post(f"{button}/retractions", json={"id": id}).status_code for _ in range(2)] == [
        201,
        200,
    ]
    again = api.post(f"{button}/conversions", json={"id": id})
    assert (again.status_code, again.json()) == (200, {"duplicate": True, "counted": False})


def test_ids_of_another_experiment_are_unknown(api, button):
    assert (
        api.post("/v1/experiments", json={"name": "elsewhere", "arms": ["a", "b"]}).status_code
        == 201
    )
    id = decide(api, "/v1/experiments/elsewhere")["id"]
    refused(api.post(f"{button}/conversions", json={"id": id}), 404)
    refused(api.post(f"{button}/retractions", json={"id": id}), 404)


# Experiments


def test_an_experiment_is_created_once(api):
    body = {"name": "once", "arms": ["a", "b"], "policy": "UCB1", "window": 60, "seed": 7}
    first = api.post("/v1/experiments", json=body)
    assert (first.status_code, first.headers["location"]) == (201, "/v1/experiments/once")
    again = api.post("/v1/experiments", json=body)
    assert (again.status_code, again.json()) == (200, first.json())
    for other in (
        {"arms": ["a", "c"]},
        {"window": 61},
        {"seed": 8},
        {"policy": None},
        {"sticky": False},
        {"scale": 2},
    ):
        refused(api.post("/v1/experiments", json=body | other), 409)
    assert api.get("/v1/experiments/once").json() == first.json()
    assert first.json() in api.get("/v1/experiments").json()["experiments"]


@pytest.mark.parametrize(
    "body",
    [
        {"arms": []},
        {"arms": ["a", "a"]},
        {"arms": [""]},
        {"arms": "ab"},
        {"arms": [1]},
        {"arms": ["a\u0000"]},
        {"name": "a/b"},
        {"name": ""},
        {"name": "x" * 101},
        {"policy": "Nope"},
        {"policy": {"policy": "UCB1", "nope": 1}},
        {"policy": {}},
        {"policy": 1},
        {"window": 0},
        {"window": -1},
        {"window": "1"},
        {"window": True},
        {"scale": 0},
        {"scale": -1},
        {"seed": -1},
        {"seed": 2**63},
        {"seed": 1.5},
        {"sticky": "yes"},
        {"sticky": 1},
        {"unknown": 1},
        {"arms": [str(n) for n in range(1001)]},
        {"policy": {"policy": ["UCB1"]}},
        {"policy": {"policy": "BootstrappedThompson", "steps": "4"}},
        {"policy": {"policy": "BootstrappedThompson", "steps": 10**30}},
    ],
    ids=lambda body: json.dumps(body)[:40],
)
def test_bad_settings_are_refused(api, body):
    refused(api.post("/v1/experiments", json={"name": "bad", "arms": ["a", "b"]} | body), 422)
    refused(api.get("/v1/experiments/bad"), 404)


def test_an_experiment_changes(api, button):
    assert api.patch(button, json={"paused": True}).json()["paused"] is True
    refused(api.post(f"{button}/decisions", json={}), 409, "conflict")
    assert api.patch(
        button, json={"paused": False, "add_arms": ["red"], "retire": ["blue"]}
    ).json()["retired"] == ["blue"]
    assert {decide(api, button)["arm"] for _ in range(20)} <= {"green", "red"}
    assert api.patch(button, json={"restore": ["blue"], "retire": ["red", "green"]}).json()[
        "retired"
    ] == ["green", "red"]
    assert decide(api, button)["arm"] == "blue"
    assert (
        api.patch(button, json={"policy": "UCB1", "window": 5, "sticky": True}).json()["window"]
        == 5
    )
    assert decide(api, button, unit="u")["id"] == decide(api, button, unit="u")["id"]
    assert api.patch(button, json={"window": None}).json()["window"] is None
    assert api.patch(button, json={}).json() == api.get(button).json()
    for bad in (
        {"add_arms": ["red"]},
        {"retire": ["x"]},
        {"retire": ["blue"]},
        {"paused": None},
        {"scale": 2},
        {"name": "x"},
        {"arms": ["x"]},
    ):
        assert 400 <= api.patch(button, json=bad).status_code < 500, bad


def test_a_policy_that_would_take_for_ever_is_refused(api, button):
    slow = {"policy": "BootstrappedThompson", "steps": 10**9}
    before = api.get(button).json()
    assert refused(api.patch(button, json={"policy": slow}), 422)
    made = api.post("/v1/experiments", json={"name": "slow", "arms": ["a", "b"], "policy": slow})
    assert refused(made, 422)
    assert api.get(button).json() == before
    assert decide(api, button)


def test_counts_and_export(api, button):
    id = decide(api, button, unit="=1+1")["id"]
    api.post(f"{button}/conversions", json={"id": id})
    counts = api.get(f"{button}/timeseries", params={"bucket": "day"}).json()["counts"]
    assert (
        sum(count["pulls"] for count in counts)
        == 1
        == sum(count["conversions"] for count in counts)
    )
    refused(api.get(f"{button}/timeseries", params={"bucket": "year"}), 422)
    refused(api.get(f"{button}/timeseries", params={"bucket": "9" * 30}), 422)
    refused(api.get(f"{button}/timeseries", params={"other": "day"}), 422)
    answer = api.get(f"{button}/export")
    assert answer.headers["content-type"].startswith("text/csv")
    assert answer.headers["transfer-encoding"] == "chunked"
    (row,) = csv.DictReader(io.StringIO(answer.text))
    assert row["decision"] == id
    parquet = api.get(f"{button}/export", params={"format": "parquet"})
    assert parquet.content[:4] == b"PAR1" == parquet.content[-4:]
    refused(api.get(f"{button}/export", params={"format": "xlsx"}), 422)
    refused(api.get("/v1/experiments/nope/export"), 404)
    report = api.get(f"{button}/report").json()
    assert (
        sum(arm["pulls"] for arm in report["arms"])
        == 1
        == sum(arm["conversions"] for arm in report["arms"])
    )
    refused(api.get("/v1/experiments/nope/report"), 404)


# Around it


def test_every_refusal_is_a_problem(api, running, button):
    refused(api.get("/nope"), 404)
    refused(api.get("/v1/experiments/nope"), 404)
    refused(api.get("/v1/experiments/%00"), 404)
    refused(api.get("/v1/experiments/a%2Fb"), 400)
    refused(api.get("/v1%2fexperiments"), 400)
    zipped = JSON | {"content-encoding": "gzip"}
    refused(api.post(f"{button}/decisions", content=b"{}", headers=zipped), 415, "encoding")
    for hosts in (b"", b"host: x\r\nhost: y\r\n"):
        assert raw(running, b"GET /healthz HTTP/1.1\r\n" + hosts + b"\r\n").startswith(
            b"HTTP/1.1 400 "
        )
    assert raw(running, b"GET /healthz HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 200 ")
    assert raw(running, b"CONNECT x:443 HTTP/1.1\r\nhost: x\r\n\r\n").startswith(b"HTTP/1.1 400 ")
    many = b"".join(b"x%d: y\r\n" % number for number in range(200))
    assert raw(running, b"GET /healthz HTTP/1.1\r\nhost: x\r\n" + many).startswith(b"HTTP/1.1 431 ")
    refused(api.get("/v1/experiments/%ff%fe"), 404)
    refused(api.put("/v1/experiments", json={}), 405)
    assert api.put("/v1/experiments", json={}).headers["allow"] == "GET, POST"
    refused(
        api.post(f"{button}/decisions", content=b"{}", headers={"content-type": "text/plain"}), 415
    )
    refused(api.post(f"{button}/decisions", content=b"{}"), 415)
    assert (
        api.post(
            f"{button}/decisions",
            content=b"{}",
            headers={"content-type": "Application/JSON; charset=utf-8"},
        ).status_code
        == 201
    )
    refused(api.post(f"{button}/decisions", content=b"{" + b" " * 65536 + b"}", headers=JSON), 413)
    answer = raw(running, b"nonsense\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"application/problem+json" in answer
    answer = raw(running, b"GET /healthz HTTP/1.1\r\nhost: x\r\nx: " + b"y" * 40_000 + b"\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 431 ")
    assert b"application/problem+json" in answer


def test_a_body_without_a_length_has_a_limit_too(running, button):
    pieces = [b"1000\r\n" + b" " * 4096 + b"\r\n"] * 20
    answer = raw(
        running, head(running, f"{button}/decisions", "transfer-encoding: chunked"), pieces[:17]
    )
    assert b" 413 " in answer.split(b"\r\n")[0]
    small = [b"2\r\n{}\r\n", b"0\r\n\r\n"]
    answer = raw(
        running,
        head(running, f"{button}/decisions", "transfer-encoding: chunked", "connection: close"),
        small,
    )
    assert b" 201 " in answer.split(b"\r\n")[0]


def test_requests_may_come_in_pieces_and_in_a_row(running, button):
    one = head(running, f"{button}/decisions", "content-length: 2") + b"{}"
    last = head(running, f"{button}/decisions", "content-length: 2", "connection: close") + b"{}"
    assert raw(running, one + one + last).count(b"HTTP/1.1 201") == 3
    assert (
        raw(running, last[:40], [last[40:90], last[90:-1], last[-1:]]).count(b"HTTP/1.1 201") == 1
    )


def test_headers_are_careful(api, button):
    answer = api.get(button)
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"
    assert "server" not in answer.headers
    assert "access-control-allow-origin" not in answer.headers
    page = api.get("/dashboard/")
    assert page.status_code == 200
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert api.get("/dashboard/app.js").headers["content-type"].startswith("text/javascript")
    refused(api.get("/dashboard/nope.js"), 404)
    refused(api.get("/dashboard/..%2f..%2fserver.py"), 400)
    head, whole = api.head("/healthz"), api.get("/healthz")
    assert whole.json() == {"status": "ok", "keys": True}
    assert (head.status_code, head.content, head.headers["content-length"]) == (
        200,
        b"",
        str(len(whole.content)),
    )


def test_metrics_count(api, button):
    decide(api, button)
    text = api.get("/metrics").text
    assert (
        'patientbandits_answers_total{method="POST",'
        'route="/v1/experiments/{name}/decisions",status="201"}' in text
    )
    assert "patientbandits_commands_total" in text
    assert "patientbandits_failed 0.0" in text
    others = [line for line in text.splitlines() if 'arm="' not in line]
    assert button not in "".join(others), "names are labels of arms only"


def test_a_full_queue_says_when_to_come_back(tmp_path):
    with Running(tmp_path / "shop.db", "--no-keys", "--queue", 3) as server:
        assert server.key is None
        server.api.post("/v1/experiments", json={"name": "a", "arms": ["x", "y"]})
        answer = server.api.post(
            "/v1/experiments/a/conversions/batch",
            json={"conversions": [{"id": decide_id(server)} for _ in range(4)]},
        )
        refused(answer, 503, "busy")
        assert int(answer.headers["retry-after"]) >= 1
        assert server.api.post("/v1/experiments/a/decisions", json={}).status_code == 201


def decide_id(server):
    return decide(server.api, "/v1/experiments/a")["id"]


def test_a_rate_is_kept(tmp_path):
    with Running(tmp_path / "shop.db", "--rate", 5) as server:
        answers = [server.api.get("/v1/experiments") for _ in range(30)]
        limited = [answer for answer in answers if answer.status_code == 429]
        assert limited
        assert refused(limited[0], 429)
        assert int(limited[0].headers["retry-after"]) >= 1
        assert server.api.get("/healthz").status_code == 200


# The end


def hammer(server, stop, answers, number):
    """Decide until the server says no; every request is noted, with its answer or what became of
    it."""
    n = 0
    with httpx.Client(
        base_url=server.url,
        headers={"authorization": f"Bearer {server.key}"},
        timeout=120,
        trust_env=False,
    ) as client:
        while not stop.is_set():
            n += 1
            try:
                answer = client.post("/v1/experiments/a/decisions", json={"key": f"{number}-{n}"})
                answers.append((f"{number}-{n}", answer.status_code, answer.json().get("id")))
            except httpx.ConnectError:
                answers.append((f"{number}-{n}", "refused", None))
                return
            except httpx.TransportError as error:
                answers.append((f"{number}-{n}", repr(error), None))
                return


def test_a_good_end_under_load(tmp_path):
    """Everything accepted is answered, everything acknowledged is in the log, and the exit code is
    0."""
    db, stop, answers = tmp_path / "shop.db", threading.Event(), []
    with Running(db) as server:
        server.api.post("/v1/experiments", json={"name": "a", "arms": ["x", "y"]})
        clients = [
            threading.Thread(target=hammer, args=(server, stop, answers, number))
            for number in range(8)
        ]
        for client in clients:
            client.start()
        while len(answers) < 200:
            time.sleep(0.01)
        assert server.stop(signal.SIGTERM) == 0
        for client in clients:
            client.join()
        assert not any("first key" in line or "pb_" in line for line in server.log), (
            "no secrets in the log"
        )
    outcomes = {status for _, status, _ in answers}
    assert outcomes <= {201, "refused"}, outcomes
    assert "refused" in outcomes
    with live.open(str(db), create=False) as shop:
        experiment = shop.open("a")
        for key, status, id in answers:
            if status == 201:
                again = experiment.decide(key=key)
                assert (again.id, again.duplicate) == (id, True)
    acknowledged = sum(status == 201 for _, status, _ in answers)
    with Running(db, key=server.key) as again:
        counts = again.api.get("/v1/experiments/a/timeseries").json()["counts"]
        assert sum(count["pulls"] for count in counts) == acknowledged
        assert again.stop(signal.SIGINT) == 0


def test_a_failed_disk_ends_the_service(tmp_path):
    """No acknowledgement, 503, and an exit code that is not 0; after a restart, all that was
    acknowledged is there."""
    resource = pytest.importorskip("resource")
    if not hasattr(resource, "prlimit"):
        pytest.skip("only Linux lets a test take another process's disk away")
    db = tmp_path / "shop.db"
    with Running(db) as server:
        server.api.post("/v1/experiments", json={"name": "a", "arms": ["x", "y"]})
        full = (tmp_path / "shop.db-wal").stat().st_size  # from now on no file may grow beyond this
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (full, full))
        made = {}
        for number in range(1000):
            key = f"key {number}"
            answer = server.api.post("/v1/experiments/a/decisions", json={"key": key})
            if answer.status_code != 201:
                break
            made[key] = answer.json()
        refused(answer, 503, "unavailable")
        assert server.process.wait(120) == 1
    with Running(db, key=server.key) as again:
        for known, before in made.items():
            expected = before | {"duplicate": True}
            assert decide(again.api, "/v1/experiments/a", key=known) == expected
        assert decide(again.api, "/v1/experiments/a", key=key)["duplicate"] is False


def test_without_keys_only_local_names_are_answered(tmp_path):
    """A page in a browser here could have a name of its own lead to this machine."""
    with Running(tmp_path / "shop.db", "--no-keys") as server:
        port = server.url.rpartition(":")[2]
        for host in (
            "localhost",
            f"localhost:{port}",
            f"127.0.0.1:{port}",
            "[::1]",
            f"[::1]:{port}",
        ):
            assert server.api.get("/v1/experiments", headers={"host": host}).status_code == 200, (
                host
            )
        for host in (
            "evil.example",
            f"evil.example:{port}",
            "127.0.0.1.evil.example",
            "",
            ":",
            "[::2]",
            "10.0.0.1",
        ):
            refused(server.api.get("/v1/experiments", headers={"host": host}), 403, "host")
