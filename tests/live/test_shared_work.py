"""The same question asked by many at once."""

from __future__ import annotations

import asyncio

import pytest

from patientbandits.live.http.shared_work import SharedWork


class Log:
    """Work that takes a moment, and gives what was known when it began."""

    def __init__(self):
        self.known = 0
        self.under_way = 0
        self.begun = 0

    async def work(self):
        self.begun += 1
        self.under_way += 1
        assert self.under_way == 1
        found = self.known
        await asyncio.sleep(0.01)
        self.under_way -= 1
        if found < 0:
            raise OSError("no disk")
        return found


def test_work_begins_after_it_was_asked_for():
    """Fifty ask, one after the other, each having made a change: every answer knows its own."""

    async def all_of_them():
        shared = SharedWork()
        log = Log()
        asked = []
        for number in range(1, 51):
            log.known = number
            asked.append((number, asyncio.create_task(shared.of("report", log.work))))
            await asyncio.sleep(0.001)
        for number, task in asked:
            assert await task >= number
        assert log.begun >= 2
        assert not shared._waiting
        assert not shared._turns

    asyncio.run(all_of_them())


def test_many_at_once_take_two_places():
    async def all_of_them():
        shared = SharedWork()
        log = Log()
        first = asyncio.create_task(shared.of("report", log.work))
        await asyncio.sleep(0.002)
        others = [asyncio.create_task(shared.of("report", log.work)) for _ in range(100)]
        await asyncio.sleep(0)
        others[0].cancel()  # who leaves does not take it from the others
        await asyncio.gather(first, *others[1:])
        assert log.begun == 2
        another = Log()
        await shared.of("verdict", another.work)
        assert another.begun == 1

    asyncio.run(all_of_them())


def test_a_failure_is_told_to_those_who_asked_and_is_not_kept():
    async def all_of_them():
        shared = SharedWork()
        log = Log()
        log.known = -1
        with pytest.raises(OSError, match="no disk"):
            await shared.of("report", log.work)
        log.known = 7
        assert await shared.of("report", log.work) == 7

    asyncio.run(all_of_them())
