"""Answers that take long stand for a while."""

from __future__ import annotations

import asyncio
import time

import pytest

from patientbandits.live.http.service import Options, Service
from patientbandits.live.http.standing import MOST_STANDING, REST_TIMES, StandingAnswers


class Spent:
    """Processor seconds as a test wants them."""

    def __init__(self):
        self.seconds = 0.0
        self.times = 0

    def __call__(self):
        return self.seconds

    def work(self, takes):
        def found():
            self.seconds += takes
            self.times += 1
            return self.times

        return found


@pytest.fixture
def button(shop):
    return shop.experiment("button", ["a", "b"], policy="Uniform")


def test_what_takes_long_stands_in_proportion_and_what_is_quick_does_not(button):
    spent = Spent()
    now = [0.0]
    standing = StandingAnswers(clock=lambda: now[0], used=spent)
    assert standing.answer(button, ("report",), spent.work(0.01)) == 1
    assert standing.answer(button, ("report",), spent.work(1.0)) == 2
    now[0] = REST_TIMES - 0.1
    assert standing.answer(button, ("report",), spent.work(1.0)) == 2
    assert standing.answer(button, ("verdict",), spent.work(1.0)) == 3
    now[0] = REST_TIMES + 0.1
    assert standing.answer(button, ("report",), spent.work(1.0)) == 4


def test_a_change_of_settings_is_seen_at_once(button):
    spent = Spent()
    standing = StandingAnswers(clock=lambda: 0.0, used=spent)
    assert standing.answer(button, ("report",), spent.work(1.0)) == 1
    button.change(retire=["b"])
    assert standing.answer(button, ("report",), spent.work(1.0)) == 2


def test_many_who_ask_at_once_have_it_found_out_once(shop, button):
    """By the service: one begins, and those who came later share the next, which stands already.

    An answer that fails is nobody's: the next one tries."""
    spent = Spent()
    work = spent.work(1.0)

    def slow():
        time.sleep(0.05)
        if work() == 1:
            raise OSError
        return spent.times

    async def ask(service):
        try:
            return await service.standing_answer(button, "report", work=slow)
        except OSError:
            return None

    async def all_at_once():
        service = Service(shop, Options(), lambda: None)
        service._standing = StandingAnswers(used=spent)
        first = asyncio.create_task(ask(service))
        await asyncio.sleep(0.01)
        return await asyncio.gather(first, *[ask(service) for _ in range(3)], ask(service))

    assert asyncio.run(all_at_once()) == [None, 2, 2, 2, 2]


def test_what_stands_is_bounded(button):
    spent = Spent()
    standing = StandingAnswers(clock=lambda: 0.0, used=spent)
    for bucket in range(MOST_STANDING + 50):
        standing.answer(button, ("timeseries", bucket), spent.work(1.0))
    assert len(standing._standing) == MOST_STANDING
