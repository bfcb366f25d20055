"""How often a key, an address, a unit may ask, and how many units pages may bring."""

from __future__ import annotations

import pytest
from patience import eventually
from service import Running

from patientbandits.errors import InputError
from patientbandits.live.http.limits import Limit, Limits, RateOptions, check_rates
from patientbandits.live.http.messages import Client, Head, ProblemError, Request
from patientbandits.live.operations.keys import Key

PAGE = Key("page", "", "", frozenset({"decide"}), 0, None)
SERVER = Key("server", "", "", frozenset({"decide", "convert"}), 0, None)
EXPOSURES = "/v1/experiments/a/exposures"


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def limit(rate, clock, period=1.0):
    return Limit(rate, "{:g}", period, clock)


def refused(call, *arguments):
    """Seconds after which it may be tried again."""
    with pytest.raises(ProblemError) as refusal:
        call(*arguments)
    assert refusal.value.status == 429
    return int(dict(refusal.value.headers)[b"retry-after"])


def test_a_bucket_fills_at_its_rate():
    clock = Clock()
    two = limit(2.0, clock)
    two.take("a")
    two.take("a")
    assert refused(two.take, "a") == 1
    two.take("b")
    clock.now = 0.5
    two.take("a")
    clock.now = 100.0
    two.take("a", 2)
    assert refused(two.take, "a") == 1
    limit(None, clock).take("a", 10**9)


def test_a_rate_below_one_a_second_admits_one_now_and_then():
    clock = Clock()
    slow = limit(0.1, clock)
    slow.take("")
    clock.now = 9.0
    assert refused(slow.take, "") == 1
    clock.now = 10.0
    slow.take("")


def test_items_beyond_the_rate_are_left():
    clock = Clock()
    ten = limit(10.0, clock)
    assert ten.take_up_to("a", 4) == 4
    assert ten.take_up_to("a", 1000) == 6
    assert ten.take_up_to("a", 1000) == 0
    clock.now = 0.5
    assert ten.take_up_to("a", 1000) == 5
    clock.now = 100.0
    assert sum(ten.take_up_to("a", 3) for _ in range(9)) == 10, "no debt, no gift"
    assert limit(None, clock).take_up_to("a", 1000) == 1000


def test_what_needs_more_than_a_bucket_holds_waits_until_it_is_full_and_is_paid_for():
    clock = Clock()
    five = limit(5.0, clock)
    five.take("a", 20)
    clock.now = 3.0
    assert refused(five.take, "a") == 1
    clock.now = 3.4
    five.take("a")
    assert refused(five.take, "a", 20) == 1


def test_a_limit_forgets_whoever_asked_longest_ago(monkeypatch):
    monkeypatch.setattr("patientbandits.live.http.limits.MOST_NAMES", 2)
    one = limit(1.0, Clock())
    for name in "abca":
        one.take(name)
    refused(one.take, "c")


def asked(address, forwarded=None, key=None):
    headers = {} if forwarded is None else {b"x-forwarded-for": forwarded}
    head = Head("GET", "/", b"", headers, 0, True, "1.1")
    request = Request(head, Client(address))
    request.key = key
    return request


@pytest.mark.parametrize(
    ("address", "forwarded", "expected"),
    [
        ("9.9.9.9", None, "9.9.9.9"),
        ("9.9.9.9", b"1.1.1.1", "9.9.9.9"),
        ("10.0.0.7", None, "10.0.0.7"),
        ("10.0.0.7", b"1.1.1.1", "1.1.1.1"),
        ("10.0.0.7", b"6.6.6.6, 1.1.1.1", "1.1.1.1"),
        ("10.0.0.7", b"6.6.6.6, 1.1.1.1, 127.0.0.1", "1.1.1.1"),
        ("::ffff:10.0.0.7", b"2001:db8:1:2:3::4", "2001:db8:1:2::/64"),
        ("10.0.0.7", b"nonsense", "nonsense"),
        ("", None, ""),
    ],
)
def test_the_address_is_that_which_the_last_proxy_of_ours_saw(address, forwarded, expected):
    limits = Limits(RateOptions(address=1.0, proxies=("10.0.0.0/8", "127.0.0.1")))
    assert limits.address(asked(address, forwarded)) == expected


def test_pages_bring_so_many_new_units():
    clock = Clock()
    limits = Limits(RateOptions(new_units=3.0), clock)
    page, server = asked("", key=PAGE), asked("", key=SERVER)
    for unit in ("u", "v", "u", None):
        limits.take_unit(page, unit, "a")
    assert limits.findings("a") == []
    assert refused(limits.take_unit, page, "w", "a") == 20
    refused(limits.take_unit, page, None, "a")
    limits.take_unit(page, "v", "a")
    limits.take_unit(server, "w", "a")
    assert [finding.kind for finding in limits.findings("a")] == ["crowd"]
    assert limits.findings("b") == []
    clock.now = 601.0
    assert limits.findings("a") == []


def test_bad_rates_are_refused():
    for rates in (
        RateOptions(address=0.0),
        RateOptions(unit=-1.0),
        RateOptions(proxies=("10.0.0.1/8",)),
        RateOptions(proxies=("proxy",)),
    ):
        with pytest.raises(InputError):
            check_rates(rates)


def test_a_batch_beyond_the_rate_is_answered_item_by_item(tmp_path):
    """Two batches of a thousand once passed a rate of 50."""
    with Running(tmp_path / "shop.db", "--rate", 50) as server:
        new = {"name": "a", "arms": ["x", "y"]}
        eventually(lambda: server.api.post("/v1/experiments", json=new).status_code == 201)
        items = [{"unit": f"u{n}", "arm": "x"} for n in range(1000)]
        batches = [server.api.post(f"{EXPOSURES}/batch", json={"exposures": items})]
        batches.append(server.api.post(f"{EXPOSURES}/batch", json={"exposures": items}))
        statuses = [
            [item["status"] for item in batch.json()["results"]]
            for batch in batches
            if batch.status_code == 200
        ]
        assert statuses[0][0] == 201
        assert statuses[0][-1] == 429
        assert sum(status == 201 for batch in statuses for status in batch) < 1000


def test_a_page_cannot_choose_an_arm_and_is_limited(tmp_path):
    """With the key of a page somebody once halved the better arm's share with two requests."""
    limits = ("--new-units", 5, "--rate-unit", 30, "--alerts", 0.5)
    with Running(tmp_path / "shop.db", *limits) as server:
        for name in ("a", "b"):
            server.api.post("/v1/experiments", json={"name": name, "arms": ["x", "y"]})
        token = server.api.post("/v1/keys", json={"scopes": ["decide"]}).json()["key"]
        with server.client(token) as page:
            chosen = page.post(EXPOSURES, json={"unit": "victim", "arm": "x", "propensity": 1})
            assert chosen.status_code == 403
            assert page.post(f"{EXPOSURES}/batch", json={"exposures": []}).status_code == 403

            def ask(path, unit):
                return page.post(path, json={"context": {"targetingKey": unit}}).status_code

            flags = "/ofrep/v1/evaluate/flags"
            assert [ask(f"{flags}/a", f"u{n}") for n in range(7)] == [200] * 5 + [429] * 2
            assert ask(flags, "u9") == 429
            assert ask(flags, "u0") == 200
            assert page.post("/v1/experiments/a/decisions", json={}).status_code == 429
            assert page.post("/v1/experiments/a/decisions", json={"unit": "u1"}).status_code == 200
            assert 429 in [ask(flags, "u0") for _ in range(40)], "a unit asks so often"
        metrics = eventually(
            lambda: [
                line
                for line in server.api.get("/metrics").text.splitlines()
                if 'kind="crowd"' in line
            ]
        )
        assert metrics
        alerts = server.api.get("/v1/experiments/a/alerts").json()["alerts"]
        assert "crowd" in [alert["kind"] for alert in alerts]


def test_all_flags_are_as_many_requests_as_experiments(tmp_path):
    with Running(tmp_path / "shop.db", "--rate", 12) as server:
        for n in range(10):
            new = {"name": f"e{n}", "arms": ["x", "y"]}
            eventually(
                lambda new=new: server.api.post("/v1/experiments", json=new).status_code < 300
            )
        body = {"context": {"targetingKey": "u"}}
        flags = "/ofrep/v1/evaluate/flags"
        eventually(lambda: server.api.post(flags, json=body).status_code == 200)
        assert 429 in [server.api.post(flags, json=body).status_code for _ in range(5)]


def test_an_address_has_a_limit_whatever_its_keys(tmp_path):
    with Running(tmp_path / "shop.db", "--rate-address", 5, "--proxy", "127.0.0.1") as server:

        def ask(address):
            forwarded = {"x-forwarded-for": f"1.2.3.4, {address}", "x-api-key": "pb_r_guess"}
            with server.client(None) as guest:
                return guest.get("/v1/experiments", headers=forwarded).status_code

        eventually(lambda: 429 in [ask("5.5.5.5") for _ in range(30)])
        assert ask("6.6.6.6") == 401
