"""Refunds: an order with a value below 0 takes back a part of an order, or all of it, once."""

from __future__ import annotations

import pytest

from patientbandits import live
from patientbandits.live.operations.checks import check

pytestmark = pytest.mark.slow

DAY = 86400.0


@pytest.fixture
def checkout(shop):
    return shop.experiment("checkout", ["a", "b"], window="10d", scale=500, goals=["buy", "cart"])


def totals(button):
    arms = button.report()["arms"]
    return sum(arm["conversions"] for arm in arms), round(sum(arm["value"] for arm in arms), 6)


def test_parts_and_all_of_an_order(shop, clock, checkout):
    checkout.decide(unit="u")
    bought = {"unit": "u", "order": "A", "value": 60}
    assert checkout.convert(**bought).counted
    first = checkout.convert(unit="u", order="A", value=-20, at=clock.now)
    assert (first.duplicate, first.counted, first.exposed) == (False, True, True)
    assert totals(checkout) == (1, 40)
    # what was sent before changes nothing: the order, and the refund
    assert checkout.convert(**bought) == live.Credited(True, True, True)
    assert checkout.convert(unit="u", order="A", value=-20, at=clock.now).duplicate
    assert checkout.convert(unit="u", order="A", value=-20).duplicate
    assert totals(checkout) == (1, 40)
    clock.now += 20 * DAY  # after the window: a refund counts with its order
    assert not checkout.convert(unit="u", order="A", value=-20, at=clock.now).duplicate
    assert totals(checkout) == (1, 20)
    with pytest.raises(live.ConflictError, match=r"what is left of its order, 20; got 20\.01"):
        checkout.convert(unit="u", order="A", value=-20.01)
    assert not checkout.convert(unit="u", order="A", value=-20, at=clock.now + 1).duplicate
    assert totals(checkout) == (0, 0)
    assert checkout.convert(unit="u", order="A", value=-20, at=clock.now + 1).duplicate
    assert checkout.retract(order="A").duplicate
    assert checkout.report()["orders"] == {
        "orders": 0,
        "retracted": 0,
        "refunds": 3,
        "unmatched": 0,
    }
    assert check(shop.store)["wrong"] == []


def test_thirds_add_up(checkout, clock):
    """Amounts are rounded to millionths of the largest value."""
    checkout.decide(unit="u")
    checkout.convert(unit="u", order="A", value=99.99)
    for part in range(3):
        checkout.convert(unit="u", order="A", value=-33.33, at=clock.now - part)
    assert totals(checkout) == (0, 0)


def test_without_a_name_it_is_of_the_latest_order_with_enough_left(checkout, clock):
    checkout.decide(unit="u")
    for name, value in (("A", 30), ("B", 8), (None, 5)):
        clock.now += 60
        checkout.convert(unit="u", order=name, value=value, at=clock.now)
    at = clock.now
    clock.now += 60
    checkout.convert(unit="u", order="late", value=90)
    checkout.convert(unit="u", value=-20, at=at)
    assert checkout.convert(unit="u", value=-20, at=at).duplicate
    assert totals(checkout) == (1, 10 + 8 + 5 + 90)
    assert checkout.convert(unit="u", order="A", value=-10, at=at).counted  # the rest of it
    assert totals(checkout) == (1, 8 + 5 + 90)
    with pytest.raises(live.NotFoundError, match="no order before"):
        checkout.convert(unit="nobody", value=-1)


def test_refused(checkout, clock):
    made = checkout.decide(unit="u")
    checkout.convert(unit="u", order="A", value=60)
    with pytest.raises(live.NotFoundError, match="no order of this name"):
        checkout.convert(unit="u", order="B", value=-1)
    with pytest.raises(live.MismatchError, match="of another unit"):
        checkout.convert(unit="v", order="A", value=-1)
    with pytest.raises(live.RefusedError, match="must name the unit, not the decision's"):
        checkout.convert(made.id, -1)
    with pytest.raises(live.RefusedError, match="above the largest value, 500"):
        checkout.convert(unit="u", order="A", value=-501)
    checkout.convert(unit="u", order="free", value=0)
    with pytest.raises(live.ConflictError, match=r"what is left of its order, 0; got 0\.0005"):
        checkout.convert(unit="u", order="free", value=-0.0005)
    with pytest.raises(live.RefusedError, match="not happen in the future"):
        checkout.convert(unit="u", order="A", value=-1, at=clock.now + DAY)
    assert totals(checkout) == (1, 60)


def test_a_refund_by_another_name_of_the_person(checkout):
    checkout.decide(unit="visitor")
    checkout.convert(unit="visitor", order="A", value=60)
    checkout.alias("visitor", "account")
    assert checkout.convert(unit="account", order="A", value=-10).counted
    assert totals(checkout) == (1, 50)


def test_of_another_goal(shop, checkout):
    checkout.decide(unit="u")
    checkout.convert(unit="u", order="A", value=60, goal="cart")
    checkout.convert(unit="u", order="A", value=-10, goal="cart")
    cart = checkout.report()["goals"][0]["arms"]
    assert sum(arm["value"] for arm in cart) == pytest.approx(50)
    assert sum(arm["count"] for arm in cart) == 1
    with pytest.raises(live.NotFoundError):
        checkout.convert(unit="u", order="A", value=-10)
    assert check(shop.store)["wrong"] == []


def test_in_one_batch(shop, checkout):
    """Each command sees those before it."""
    commands = [
        checkout.decide_command("u"),
        checkout.order_command("u", "A", 60),
        checkout.order_command("u", "A", -25),
        checkout.order_command("u", "A", -25),
        checkout.order_command("u", "A", -36),
    ]
    checkout.journal.execute(commands)
    assert [bool(command.error) for command in commands] == [False, False, False, False, True]
    assert commands[3].outcome.duplicate
    assert totals(checkout) == (1, 35)
    assert check(shop.store)["wrong"] == []


def test_tracked_in_all_experiments(shop):
    """Where the order is not known, or values are not, it changes nothing."""
    money = shop.experiment("money", ["a", "b"], scale=100)
    counts = shop.experiment("counts", ["a", "b"])
    for button in (money, counts):
        button.decide(unit="u")
    shop.track("u", "A", 60)
    later = shop.experiment("later", ["a", "b"], scale=100)
    assert set(shop.track("u", "A", -20)) == {"money"}
    assert [totals(one) for one in (money, counts, later)] == [(1, 40), (1, 1), (0, 0)]
    with pytest.raises(live.NotFoundError):
        shop.track("u", "B", -20)


def test_what_is_left_of_an_order_in_quarantine_stays_there(shop, clock, checkout):
    """The refund is reported after the time that the quarantine is for."""
    checkout.decide(unit="u")
    begin = clock.now
    checkout.convert(unit="u", order="A", value=60)
    clock.now += 3600
    checkout.quarantine(since=begin - 1, until=begin + 60, only="conversions")
    assert totals(checkout) == (0, 0)
    checkout.convert(unit="u", order="A", value=-20)
    checkout.convert(unit="u", order="A", value=-5)
    assert totals(checkout) == (0, 0)
    assert check(shop.store)["wrong"] == []
    (rule,) = checkout.quarantine(unit="nobody")[:1]
    checkout.release(rule["id"])
    assert totals(checkout) == (1, 35)


def test_an_order_right_after_a_full_refund_is_not_its_rest(shop, checkout):
    """Of a unit without a decision no credit stands between the lines."""
    checkout.convert(unit="u", value=60)
    checkout.convert(unit="u", value=-60)
    checkout.convert(unit="u", value=45)
    assert checkout.convert(unit="u", value=-60).duplicate
    assert not checkout.convert(unit="u", value=-15).duplicate
    assert checkout.convert(unit="u", value=-15).duplicate
    with pytest.raises(live.ConflictError, match="what is left of its order, 30"):
        checkout.convert(unit="u", value=-31)
