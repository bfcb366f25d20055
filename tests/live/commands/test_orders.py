"""Orders by unit, as users meet them: in the library, over HTTP and on the command line."""

from __future__ import annotations

import csv
import io

import pytest
from command_line import as_json
from service import Running

from patientbandits import live
from patientbandits.cli import main

pytestmark = pytest.mark.slow

ARMS = ["control", "blue"]


@pytest.fixture
def checkout(shop):
    return shop.experiment("checkout", ARMS, window="30d", largest_value=500, currency="EUR")


def totals(button):
    arms = button.report()["arms"]
    return sum(arm["conversions"] for arm in arms), sum(arm["value"] for arm in arms)


def test_several_orders_add_up_to_at_most_the_largest_value(checkout):
    checkout.decide(unit="visitor-42")
    first = checkout.convert(unit="visitor-42", order="A-1", value=59.90)
    assert first == live.Credited(duplicate=False, counted=True, exposed=True)
    checkout.convert(unit="visitor-42", order="A-2", value=100)
    assert totals(checkout) == (1, pytest.approx(159.90))
    checkout.convert(unit="visitor-42", order="A-3", value=9999)
    assert totals(checkout) == (1, 500)


def test_the_same_order_again(checkout):
    checkout.decide(unit="u")
    checkout.convert(unit="u", order="A", value=10)
    assert checkout.convert(unit="u", order="A", value=10).duplicate
    with pytest.raises(live.MismatchError):
        checkout.convert(unit="u", order="A", value=11)
    with pytest.raises(live.MismatchError):
        checkout.convert(unit="other", order="A", value=10)
    with pytest.raises(live.MismatchError):
        checkout.convert(unit="u", order="A", value=10, at=1_600_000_000)
    assert totals(checkout) == (1, 10)


def test_taken_back_and_sent_again_with_the_right_value(checkout):
    checkout.decide(unit="u")
    checkout.convert(unit="u", order="A", value=10)
    assert checkout.retract(order="A") == (False,)
    assert checkout.retract(order="A", unit="u") == (True,)
    assert totals(checkout) == (0, 0)
    late = checkout.convert(unit="u", order="A", value=10)  # the first message, delivered again
    assert (late.duplicate, late.counted) == (True, False)
    assert checkout.convert(unit="u", order="A", value=12) == (False, True, True)
    assert totals(checkout) == (1, 12)
    with pytest.raises(live.NotFoundError):
        checkout.retract(order="B")


def test_without_an_order_a_unit_converts_once(checkout):
    checkout.decide(unit="u")
    assert checkout.convert(unit="u", value=10) == (False, True, True)
    assert checkout.convert(unit="u", value=10) == (True, True, True)
    with pytest.raises(live.MismatchError):
        checkout.convert(unit="u", value=20)
    checkout.retract(unit="u")
    assert totals(checkout) == (0, 0)


def test_unknown_units_are_kept_and_counted(checkout):
    assert checkout.convert(unit="nobody", order="A", value=5) == (False, False, False)
    orders = {"orders": 1, "retracted": 0, "refunds": 0, "unmatched": 1}
    assert checkout.report()["orders"] == orders
    checkout.decide(unit="somebody")
    checkout.alias("nobody", "somebody")
    assert checkout.report()["orders"]["unmatched"] == 0
    assert totals(checkout) == (0, 0)  # the order was before the decision


def test_a_visitor_logs_in(shop, checkout, clock):
    made = checkout.decide(unit="visitor")
    clock.now += 60
    checkout.convert(unit="account", order="A", value=50)
    assert totals(checkout) == (0, 0)
    assert checkout.alias("visitor", "account") == (False,)
    assert checkout.alias("account", "visitor") == (True,)
    assert totals(checkout) == (1, 50)
    assert checkout.decide(unit="account").id == made.id  # and keeps the arm
    rows = list(csv.DictReader(io.StringIO(b"".join(checkout.export()).decode())))
    assert [(row["unit"], row["value"], row["delay_seconds"]) for row in rows] == [
        (checkout.journal.names.unit("visitor"), "50.0", "60.0")
    ]
    assert sum(row["value"] for row in checkout.timeseries()) == 50


def test_by_id_and_by_unit_together(checkout, clock):
    made = checkout.decide(unit="u")
    checkout.convert(made.id, 100)
    clock.now += 5
    checkout.convert(unit="u", order="A", value=50)
    assert totals(checkout) == (1, 150)
    checkout.retract(made.id)
    assert totals(checkout) == (1, 50)
    checkout.retract(order="A")
    assert totals(checkout) == (0, 0)


def test_after_the_window(checkout, clock):
    checkout.decide(unit="u")
    clock.now += 30 * 86400 + 1
    assert checkout.convert(unit="u", order="A", value=5) == (False, False, True)
    checkout.change(window="31d")
    assert totals(checkout) == (1, 5)
    assert checkout.settings.window_text == "31d"


@pytest.mark.parametrize(
    "wrong",
    [
        {"unit": "u", "value": -1},
        {"unit": "u", "value": float("nan")},
        {"unit": "", "value": 1},
        {"unit": "u", "order": ""},
        {"order": "A"},
        {"unit": "u", "at": 2_000_000_000},
    ],
)
def test_refused(checkout, wrong):
    with pytest.raises(live.RefusedError):
        checkout.convert(**wrong)


def test_what_there_is(shop):
    assert "open" in dir(live)


def test_on_the_command_line(tmp_path, capsys):
    db = str(tmp_path / "shop.db")
    created = as_json(
        *("experiments", "create", "checkout", *ARMS, "--db", db),
        *("--window", "30d", "--largest-value", "500", "--control", "control"),
    )
    assert (created["window_text"], created["largest_value"], created["sticky"]) == (
        "30d",
        500,
        True,
    )
    as_json("decide", "checkout", "--unit", "u", "--db", db)
    order = ["--unit", "u", "--order", "A", "--value", "59.9", "--db", db]
    assert as_json("convert", "checkout", *order)["counted"]
    assert as_json("convert", "checkout", *order)["duplicate"]
    assert main(["convert", "checkout", *order[:5], "60", "--db", db]) == 2
    assert as_json("track", "u", "--order", "B", "--value", "1", "--db", db)["checkout"]["counted"]
    assert as_json("alias", "u", "account", "--db", db)["other"] == "account"
    assert not as_json("retract", "checkout", "--order", "B", "--db", db)["duplicate"]
    assert as_json("check", "--db", db)["wrong"] == []
    assert as_json("check", db)["experiments"][0]["orders"] == 2
    copy = str(tmp_path / "copy.db")
    assert as_json("backup", copy, "--db", db)["lines"] > 0
    assert as_json("restore", copy, "--db", str(tmp_path / "new.db"))["lines"] > 0


def test_a_plain_install_says_what_to_install(monkeypatch, capsys, tmp_path):

    monkeypatch.setattr(live, "find_spec", lambda name: None)
    for command in (["decide", "x"], ["serve"], ["check"]):
        assert main([*command, "--db", str(tmp_path / "shop.db")]) == 2
        assert "pip install 'patientbandits[live]'" in capsys.readouterr().err


def test_defaults_of_serve(capsys):
    with pytest.raises(SystemExit):
        main(["serve", "--help"])
    shown = capsys.readouterr().out
    for default in ("127.0.0.1", "8080", "10000", "info"):
        assert default in shown.partition("options:")[2]


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    with Running(tmp_path_factory.mktemp("units") / "shop.db") as server:
        yield server.api


def status(answer) -> int:
    return answer.status_code


def test_over_http(api):
    new = {"name": "checkout", "arms": ARMS, "window": "30d", "largest_value": 500}
    made = api.post("/v1/experiments", json=new)
    assert (made.status_code, made.json()["window"], made.json()["sticky"]) == (201, 2592000, True)
    assert status(api.post("/v1/experiments", json=new | {"credit": "last"})) == 409
    one = "/v1/experiments/checkout"
    api.post(f"{one}/decisions", json={"unit": "u"})
    order = {"unit": "u", "order": "A", "value": 60}
    first = api.post(f"{one}/conversions", json=order)
    assert (first.status_code, first.json()) == (
        201,
        {"duplicate": False, "counted": True, "exposed": True},
    )
    assert status(api.post(f"{one}/conversions", json=order)) == 200
    assert status(api.post(f"{one}/conversions", json=order | {"value": 61})) == 422
    assert status(api.post(f"{one}/conversions", json={"order": "A"})) == 422
    items = [order, {"unit": "u", "order": "B", "value": 40}, {"unit": "nobody", "order": "C"}]
    many = api.post(f"{one}/conversions/batch", json={"conversions": items}).json()["results"]
    assert [item["status"] for item in many] == [200, 201, 200]
    assert [item["exposed"] for item in many] == [True, True, False]
    assert status(api.post(f"{one}/retractions", json={"order": "B"})) == 201
    assert status(api.post(f"{one}/retractions", json={"order": "none"})) == 404
    told = api.post("/v1/track", json={"unit": "account", "order": "D", "value": 7}).json()
    assert (told["credited"], told["unknown"]) == (0, True)
    assert status(api.post("/v1/aliases", json={"unit": "u", "other": "account"})) == 201
    assert status(api.post("/v1/aliases", json={"unit": "account", "other": "u"})) == 200
    again = api.post("/v1/track", json={"unit": "account", "order": "D", "value": 7})
    assert (again.status_code, again.json()["credited"]) == (200, 1)
    report = api.get(f"{one}/report").json()
    assert sum(arm["value"] for arm in report["arms"]) == pytest.approx(67)
    assert report["orders"] == {"orders": 3, "retracted": 1, "refunds": 0, "unmatched": 1}


def test_the_dashboard_without_a_slash(api):
    answer = api.get("/dashboard")
    assert (answer.status_code, answer.headers["location"]) == (307, "/dashboard/")


def test_little_is_not_nothing(checkout):
    """A value below a millionth of the largest: refused by id, by unit the least that there is."""
    made = checkout.decide(unit="u")
    with pytest.raises(live.RefusedError, match="at least a millionth"):
        checkout.convert(made.id, 1e-7)
    assert checkout.convert(unit="u", order="A", value=1e-7).counted
    assert totals(checkout)[0] == 1
