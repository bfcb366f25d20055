"""Answers that take long stand for a while."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

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


def test_many_who_ask_at_once_have_it_found_out_once(button):
    """An answer that fails is nobody's: the next one tries."""
    spent = Spent()
    work = spent.work(1.0)
    meeting = threading.Barrier(4)

    def slow():
        time.sleep(0.05)
        if work() == 1:
            raise OSError
        return spent.times

    def ask(standing):
        meeting.wait()
        try:
            return standing.answer(button, ("report",), slow)
        except OSError:
            return None

    standing = StandingAnswers(used=spent)
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: ask(standing), range(4)))
    assert sorted(answers, key=str) == [2, 2, 2, None]


def test_what_stands_is_bounded(button):
    spent = Spent()
    standing = StandingAnswers(clock=lambda: 0.0, used=spent)
    for bucket in range(MOST_STANDING + 50):
        standing.answer(button, ("timeseries", bucket), spent.work(1.0))
    assert len(standing._standing) == MOST_STANDING
    assert len(standing._turns) == 0
