"""Answers that are used more than once: for a while, or by all who ask at the same time."""

from __future__ import annotations

import asyncio

import pytest

from patientbandits._util.cache import SingleFlight, TTLCache


class Log:
    """Work that takes some turns of the loop, and gives what was known when it began."""

    def __init__(self):
        self.known = 0
        self.under_way = 0
        self.begun = 0

    async def work(self):
        self.begun += 1
        self.under_way += 1
        assert self.under_way == 1
        at_the_beginning = self.known
        for _ in range(20):
            await asyncio.sleep(0)
        self.under_way -= 1
        if at_the_beginning < 0:
            raise OSError("no disk")
        return at_the_beginning


def test_work_begins_after_it_was_asked_for():
    """Fifty ask, one after the other, each having made a change: every answer knows its own."""

    async def all_of_them():
        flights = SingleFlight()
        log = Log()
        asked = []
        for number in range(1, 51):
            log.known = number
            asked.append((number, asyncio.create_task(flights.run("report", log.work))))
            await asyncio.sleep(0)
        for number, task in asked:
            assert await task >= number
        assert log.begun >= 2
        assert not flights._waiting
        assert not flights._turns

    asyncio.run(all_of_them())


def test_many_at_once_take_two_places():
    async def all_of_them():
        flights = SingleFlight()
        log = Log()
        first = asyncio.create_task(flights.run("report", log.work))
        await asyncio.sleep(0)
        others = [asyncio.create_task(flights.run("report", log.work)) for _ in range(100)]
        await asyncio.sleep(0)
        others[0].cancel()  # who leaves does not take it from the others
        await asyncio.gather(first, *others[1:])
        assert log.begun == 2
        another = Log()
        await flights.run("verdict", another.work)
        assert another.begun == 1

    asyncio.run(all_of_them())


def test_a_failure_is_told_to_those_who_asked_and_is_not_kept():
    async def all_of_them():
        flights = SingleFlight()
        log = Log()
        log.known = -1
        with pytest.raises(OSError, match="no disk"):
            await flights.run("report", log.work)
        log.known = 7
        assert await flights.run("report", log.work) == 7

    asyncio.run(all_of_them())


def test_a_value_holds_for_its_time_and_not_longer():
    now = [0.0]
    cache = TTLCache(2, clock=lambda: now[0])
    cache.put("slow", 1, 10.0)
    cache.put("quick", 2, 1.0)
    cache.put("one too many", 3, 10.0)
    assert [cache.get(key) for key in ("slow", "quick", "one too many")] == [1, 2, None]
    cache.put("slow", 4, 10.0)
    assert cache.get("slow") == 4, "what is kept can be renewed"
    now[0] = 1.0
    assert cache.get("quick") is None
    cache.put("instead", 5, 1.0)
    assert cache.get("instead") == 5
    assert len(cache) == 2
    now[0] = 10.0
    assert cache.get("slow") is None
