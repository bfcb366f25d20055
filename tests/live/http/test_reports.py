"""Reports that take long are cached, and no client sees one older than what it was answered."""

from __future__ import annotations

import asyncio
import threading

import pytest

from patientbandits.live.http.messages import Client, Head, Request
from patientbandits.live.http.service import MOST_CACHED, TTL_FACTOR, Options, ReportCache, Service


class Spent:
    """Processor seconds as a test wants them."""

    def __init__(self):
        self.seconds = 0.0
        self.times = 0

    def __call__(self):
        return self.seconds

    def work(self, takes):
        def made():
            self.seconds += takes
            self.times += 1
            return self.times

        return made


@pytest.fixture
def button(shop):
    return shop.experiment("button", ["a", "b"], policy="Uniform")


def value(cache, button, question, make, since=0.0):
    return cache.report(button, question, make, since).value


def test_a_slow_report_is_cached_in_proportion_and_a_quick_one_is_not(button):
    spent = Spent()
    now = [0.0]
    cache = ReportCache(clock=lambda: now[0], used=spent)
    assert value(cache, button, ("report",), spent.work(0.01)) == 1
    assert value(cache, button, ("report",), spent.work(1.0)) == 2
    now[0] = TTL_FACTOR - 0.1
    assert value(cache, button, ("report",), spent.work(1.0)) == 2
    assert value(cache, button, ("verdict",), spent.work(1.0)) == 3
    now[0] = TTL_FACTOR + 0.1
    assert value(cache, button, ("report",), spent.work(1.0)) == 4


def test_a_change_of_settings_is_seen_at_once(button):
    spent = Spent()
    cache = ReportCache(clock=lambda: 0.0, used=spent)
    assert value(cache, button, ("report",), spent.work(1.0)) == 1
    button.change(retire=["b"])
    assert value(cache, button, ("report",), spent.work(1.0)) == 2


def test_what_is_cached_is_bounded(button):
    spent = Spent()
    cache = ReportCache(clock=lambda: 0.0, used=spent)
    for bucket in range(MOST_CACHED + 50):
        cache.report(button, ("timeseries", bucket), spent.work(1.0), 0.0)
    assert len(cache) == MOST_CACHED


def asking(client, **headers):
    named = {name.replace("_", "-").encode(): text for name, text in headers.items()}
    return Request(Head("GET", "/", b"", named, 0, True, "1.1"), client)


@pytest.fixture
def service(shop):
    made = Service(shop, Options(), lambda: None)
    made._reports = ReportCache(used=Spent())
    return made


def test_who_was_answered_about_a_change_gets_a_report_that_knows_it(service, button):
    """Others may get an older one from the cache, which says its age."""
    spent = Spent()
    service._reports = ReportCache(used=spent)
    shop, page = Client(), Client()

    async def ask(client, **headers):
        request = asking(client, **headers)
        answer = await service.report_response(request, button, "report", make=spent.work(1.0))
        return int(answer.body), [name for name, _ in answer.headers]

    async def play():
        assert await ask(page) == (1, [])
        assert await ask(page) == (1, [b"age"])
        shop.answered = asyncio.get_running_loop().time()
        assert await ask(page) == (1, [b"age"])
        assert await ask(shop) == (2, [])
        assert await ask(shop) == (2, [b"age"])
        assert await ask(page) == (2, [b"age"])
        assert await ask(page, cache_control=b"no-cache") == (3, [])
        assert await ask(page, cache_control=b"max-age=60, No-Cache") == (4, [])

    asyncio.run(play())


def test_who_shares_a_flight_with_others_is_not_shown_an_older_report(service, button):
    """One who may be shown what is cached asks first; one who may not joins it."""
    spent = Spent()
    service._reports = ReportCache(used=spent)
    page, shop = Client(), Client()

    async def ask(client):
        report = await service.report(asking(client), button, "report", make=spent.work(1.0))
        return report.value

    async def play():
        assert await ask(page) == 1
        first = asyncio.create_task(ask(page))
        shop.answered = asyncio.get_running_loop().time()
        second = asyncio.create_task(ask(shop))
        return await asyncio.gather(first, second)

    assert asyncio.run(play()) == [1, 2]


def test_many_who_ask_at_once_share_the_work(service, button):
    """One begins, and those who came later share the next, which is cached already.

    A report that fails is nobody's: the next one tries."""
    spent = Spent()
    service._reports = ReportCache(used=spent)
    work = spent.work(1.0)
    begun, go_on = threading.Event(), threading.Event()

    def slow():
        begun.set()
        assert go_on.wait(120)
        if work() == 1:
            raise OSError
        return spent.times

    client = Client()

    async def ask():
        try:
            return (await service.report(asking(client), button, "report", make=slow)).value
        except OSError:
            return None

    async def play():
        first = asyncio.create_task(ask())
        await asyncio.to_thread(begun.wait, 60)
        others = [asyncio.create_task(ask()) for _ in range(4)]
        await asyncio.sleep(0)
        go_on.set()
        return await asyncio.gather(first, *others)

    assert asyncio.run(play()) == [None, 2, 2, 2, 2]
