"""A clock that jumps does no lasting harm."""

from __future__ import annotations

import pytest
from folds import same

import patientbandits as pb
from patientbandits import live
from patientbandits.live.commands.journal import LARGEST_STEP, TRUSTED_AFTER, SteadyClock
from patientbandits.live.operations.checks import check

DAY = 86400.0


class Time:
    """A wall clock and a steady one."""

    def __init__(self):
        self.wall = 1_700_000_000.0
        self.steady = 50.0
        self.clock = SteadyClock(lambda: self.wall, lambda: self.steady)

    def go_on(self, seconds):
        self.wall += seconds
        self.steady += seconds


@pytest.fixture
def time():
    return Time()


def test_small_steps_are_followed(time):
    for step in (LARGEST_STEP, -LARGEST_STEP, 0.5):
        time.go_on(1.0)
        time.wall += step
        assert time.clock() == time.wall
        assert time.clock.jump == 0.0


@pytest.mark.parametrize("jump", [40 * DAY, -40 * DAY])
def test_a_jump_is_not_believed_at_once(time, jump):
    expected = time.clock()
    time.wall += jump
    for _ in range(3):
        time.go_on(10.0)
        expected += 10.0
        assert time.clock() == pytest.approx(expected, abs=1e-3)
        assert time.clock.jump == pytest.approx(jump, abs=1e-3)
    time.wall -= jump
    assert time.clock() == pytest.approx(expected, abs=1e-3)
    assert time.clock.jump == 0.0


def test_a_jump_that_lasts_is_believed(time):
    time.wall += 40 * DAY
    assert time.clock() < time.wall - DAY
    time.go_on(TRUSTED_AFTER + 1)
    assert time.clock() == time.wall
    assert time.clock.jump == 0.0


def test_a_sleep_of_the_machine_is_no_jump(time):
    time.go_on(40 * DAY)
    assert time.clock() == time.wall


def test_one_decision_of_a_fast_clock_does_not_reach_the_log(fresh, time):
    with live.open(fresh("sqlite"), clock=time.clock) as shop:
        button = shop.experiment("button", ["a"], policy=pb.UCB1(), window=DAY)
        time.wall += 40 * DAY
        made = button.decide()
        time.wall -= 40 * DAY
        time.go_on(10.0)
        assert button.convert(made.id, at=time.wall) == (False, True)
        assert shop.journal.ahead() < LARGEST_STEP


def test_conversions_are_right_after_a_log_was_written_by_a_fast_clock(address, clock):
    """It may have been fast from the start, when there is nothing to compare it with."""
    with live.open(address, clock=clock) as shop:
        button = shop.experiment("button", ["a"], policy=pb.UCB1(), window=DAY)
        before = [button.decide() for _ in range(3)]
        clock.now += 40 * DAY
        poisoned = [button.decide() for _ in range(3)]
        clock.now -= 40 * DAY - 60.0
        after = button.decide()
        assert shop.journal.ahead() > 39 * DAY
        assert button.convert(before[0].id) == (False, True)
        assert button.convert(before[1].id, at=clock.now) == (False, True)
        assert button.convert(poisoned[0].id) == (False, True)
        assert button.convert(poisoned[1].id, at=clock.now) == (False, True)
        assert button.convert(after.id, at=clock.now) == (False, True)
        with pytest.raises(live.RefusedError, match="in the future"):
            button.convert(before[2].id, at=clock.now + 10 * DAY)
        with shop.store.reading() as reader:
            delays = [about.delay for about in reader.all_decided(1) if about.conversion]
        assert delays == [60_000_000, 60_000_000, 0, 0, 0]
        assert same(button)


def test_a_shop_has_such_a_clock(fresh):
    with live.open(fresh("sqlite")) as shop:
        assert isinstance(shop.journal.clock, SteadyClock)


def test_the_future_is_that_of_the_clock_whatever_the_logs_time(address, clock):
    with live.open(address, clock=clock) as shop:
        button = shop.experiment("button", ["a"], policy=pb.UCB1(), window=DAY)
        clock.now += 40 * DAY
        button.decide(unit="poisoned")
        clock.now -= 40 * DAY
        with pytest.raises(live.RefusedError, match="in the future"):
            button.convert(unit="poisoned", order="A-1", at=clock.now + 10 * DAY)
        with pytest.raises(live.RefusedError, match="and now"):
            button.expose("another", "a", at=clock.now + 10 * DAY)


@pytest.mark.parametrize("told", [False, True], ids=["no time", "with its time"])
def test_orders_are_right_after_a_log_was_written_by_a_fast_clock(fresh, clock, told):
    """By the unit, as by the decision's id."""
    with live.open(fresh("sqlite"), clock=clock) as shop:
        button = shop.experiment("button", ["a"], policy=pb.UCB1(), window=DAY)
        button.decide(unit="before")
        clock.now += 40 * DAY
        button.decide(unit="poisoned")
        clock.now -= 40 * DAY - 60.0
        button.decide(unit="after")
        at = clock.now if told else None
        units = ("before", "poisoned", "after")
        counted = {unit: button.convert(unit=unit, order=unit, at=at).counted for unit in units}
        assert counted == dict.fromkeys(units, True)


def test_two_machines_an_hour_apart(address):
    """As if one had missed the end of daylight saving: the log's time never goes back, what one of
    them decided converts on the other, and both stay as they are when the clock is set right."""
    ahead = [0.0, 3600.0]
    now = 1_000_000.0
    clocks = [lambda: now + ahead[0], lambda: now + ahead[1]]
    with live.open(address, clock=clocks[0]) as slow, live.open(address, clock=clocks[1]) as fast:
        slow.experiment("button", ["a", "b"], policy="UCB1", window="30min", seed=1)
        handles = [shop.open("button") for shop in (slow, fast)]
        for number in range(12):
            now += 10.0
            made = [handle.decide(f"v{number}") for handle in handles[:: 1 - 2 * (number % 2)]]
            assert made[0][:2] == made[1][:2]
            slower = handles[0]
            at = None if number % 3 else now
            assert slower.convert(made[0].id, at=at).counted
            assert slower.convert(unit=f"v{number}", order=f"o{number}", at=at).counted
        ahead[1] = 0.0
        assert handles[1].convert(handles[1].decide("later").id).counted
        lines = slow.store.lines(1, 0)
        assert [line.time for line in lines] == sorted(line.time for line in lines)
        assert check(slow.store)["wrong"] == []
        assert all(map(same, handles))
