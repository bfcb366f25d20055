"""Goals beside the one that decides: kept, counted and reported, and never told to the policy."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from folds import running

import patientbandits as pb
from patientbandits import live
from patientbandits.live.operations.checks import check

GOALS = ["purchase", "cart", "refund"]


@pytest.fixture
def button(shop, clock):
    made = shop.experiment(
        "button",
        ["a", "b"],
        policy=pb.UCB1(),
        window="10d",
        largest_value=100,
        goals=GOALS,
        seed=1,
    )
    for number in range(10):
        clock.now += 1
        made.decide(unit=f"u{number}")
    return made


def reached(button, goal):
    """Over both arms: how often, by how many decisions, for what."""
    found = next(one for one in button.report()["goals"] if one["goal"] == goal)
    rows = found["arms"]
    return tuple(round(sum(arm[name] for arm in rows), 6) for name in ("count", "units", "value"))


def test_counted_beside_the_one_that_decides(shop, button, clock):
    before = running(button).memory.tally.paid.copy()
    assert button.convert(unit="u1", order="c1", value=30, goal="cart").counted
    assert button.convert(unit="u1", order="c2", value=20, goal="cart").counted
    assert button.convert(unit="u1", order="c1", value=30, goal="cart").duplicate
    assert button.convert(unit="u2", goal="cart").counted
    assert button.convert(unit="u1", order="c1", value=30, goal="refund").counted
    assert not button.convert(unit="nobody", goal="cart").exposed
    with pytest.raises(live.MismatchError):
        button.convert(unit="u1", order="c1", value=31, goal="cart")
    clock.now += 11 * 86400
    assert not button.convert(unit="u3", goal="cart").counted  # after the window
    assert reached(button, "cart") == (3, 2, 51)
    assert reached(button, "refund") == (1, 1, 30)
    assert (running(button).memory.tally.paid == before).all()
    assert sum(arm["conversions"] for arm in button.report()["arms"]) == 0
    assert check(shop.store)["wrong"] == []


def test_the_first_goal_decides(button):
    assert button.convert(unit="u1", order="A", value=10, goal="purchase").counted
    assert button.convert(unit="u1", order="A", value=10).duplicate
    assert running(button).memory.tally.paid.sum() == 100_000
    assert button.report()["goal"] == "purchase"


def test_by_the_id_of_a_decision(button):
    made = button.decide(unit="one more")
    assert button.convert(made.id, 40, goal="cart").counted
    assert button.convert(made.id, 40, goal="cart").duplicate
    assert button.convert(made.id, 7, goal="refund").counted
    assert button.convert(made.id, 9).counted
    with pytest.raises(live.MismatchError):
        button.convert(made.id, 41, goal="cart")
    assert reached(button, "cart") == (1, 1, 40)
    assert not button.retract(made.id, goal="cart").duplicate
    assert button.retract(made.id, goal="cart").duplicate
    assert not button.convert(made.id, 40, goal="cart").counted
    assert reached(button, "cart") == (0, 0, 0)
    assert running(button).memory.tally.paid.sum() == 90_000
    with pytest.raises(live.ConflictError):
        button.retract(button.decide(unit="another").id, goal="cart")


def test_taken_back_and_sent_again(button):
    button.convert(unit="u1", order="c1", value=30, goal="cart")
    assert not button.retract(order="c1", goal="cart").duplicate
    assert reached(button, "cart") == (0, 0, 0)
    assert button.convert(unit="u1", order="c1", value=20, goal="cart").counted
    assert reached(button, "cart") == (1, 1, 20)
    with pytest.raises(live.NotFoundError):
        button.retract(order="c1", goal="refund")


def test_a_person_with_two_units(button):
    button.convert(unit="account", order="c1", value=30, goal="cart")
    assert reached(button, "cart") == (0, 0, 0)
    button.alias("u4", "account")
    assert reached(button, "cart") == (1, 1, 30)


def test_unknown_goals_are_refused(shop, button):
    for told in ({"unit": "u1"}, {"id": button.decide(unit="u1").id}):
        with pytest.raises(live.RefusedError, match=r"goal must be one of.*got goal='basket'"):
            button.convert(**told, goal="basket")
        with pytest.raises(live.RefusedError, match="goal must be one of"):
            button.retract(**told, goal="basket")
    plain = shop.experiment("plain", ["a", "b"], policy=pb.UCB1())
    with pytest.raises(live.RefusedError, match="goal must be one of"):
        plain.convert(unit="u1", goal="cart")
    with pytest.raises(live.RefusedError, match="no experiment has this goal"):
        shop.track("u1", goal="basket")
    for wrong in (["cart", "cart"], [""], "cart", [f"goal {n}" for n in range(21)]):
        with pytest.raises(live.RefusedError):
            shop.experiment("wrong", ["a", "b"], goals=wrong)


def test_track_tells_those_who_have_the_goal(shop, button):
    plain = shop.experiment("plain", ["a", "b"], policy=pb.UCB1())
    plain.decide(unit="u1")
    assert list(shop.track("u1", "c1", 5, goal="cart")) == ["button"]
    assert sorted(shop.track("u1", "A", 1)) == ["button", "plain"]
    assert reached(button, "cart") == (1, 1, 5)


def test_goals_can_be_added_not_renamed(shop, button):
    button.change(add_goals=["sign-up"])
    assert button.settings.goals == (*GOALS, "sign-up")
    button.convert(unit="u1", goal="sign-up")
    with pytest.raises(live.ConflictError, match="goals can be added"):
        button.change(goals=["cart"])
    later = shop.experiment("later", ["a", "b"], policy=pb.UCB1())
    later.change(add_goals=["purchase", "cart"])
    later.decide(unit="x")
    assert later.convert(unit="x", goal="purchase").counted
    assert check(shop.store)["wrong"] == []


def test_a_damaged_goal_is_found(shop, button):
    button.convert(unit="u1", goal="cart")
    with shop.store.transaction():
        shop.store.many("UPDATE log SET goal = 'basket' WHERE kind = 'goal'", [()])
    wrong = check(shop.store)["wrong"]
    assert any("goals that the experiment does not have" in one for one in wrong)
    assert any("not as it was written" in one for one in wrong)


def test_exported(button):
    button.convert(unit="u1", order="c1", value=30, goal="cart")
    button.convert(unit="u1", order="c2", value=5, goal="cart")
    text = b"".join(button.export()).decode()
    rows = {row["unit"]: row for row in csv.DictReader(io.StringIO(text))}
    first = button.journal.names.unit("u1")
    second = button.journal.names.unit("u2")
    assert (rows[first]["goal cart"], rows[first]["goal cart value"]) == ("2", "35.0")
    assert (rows[second]["goal cart"], rows[second]["goal refund"]) == ("0", "0")
    pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = parquet.read_table(io.BytesIO(b"".join(button.export("parquet")))).to_pylist()
    assert [row["goal cart"] for row in table if row["unit"] == first] == [2]


def test_the_policy_decides_as_if_there_were_none(shop, clock):
    """Same seed, same visitors: with and without goals the decisions are the same."""
    rng = np.random.default_rng(5)
    arms = {}
    for name, goals in (("with", GOALS), ("without", None)):
        one = shop.experiment(name, ["a", "b"], policy=pb.UCB1(), goals=goals, seed=7)
        chosen = []
        for number in range(60):
            chosen.append(one.decide(unit=f"v{number}").arm)
            if goals:
                one.convert(unit=f"v{number}", value=float(rng.random()), goal="cart")
            if number % 4 == 0:
                one.convert(unit=f"v{number}", order=f"o{number}")
        arms[name] = chosen
    assert arms["with"] == arms["without"]


def test_imported(shop, clock, tmp_path):
    start = int(clock.now)
    exposures = tmp_path / "exposures.csv"
    orders = tmp_path / "orders.csv"
    shown = [f"u{n},{start + n},{'ab'[n % 2]}" for n in range(20)]
    exposures.write_text("\n".join(["unit,time,variant", *shown]) + "\n")
    paid = [f"u{n},{start + 100 + n},{n + 1},o{n}," for n in range(0, 20, 5)]
    paid += [f"u{n},{start + 50 + n},{n + 1},o{n},cart" for n in range(0, 20, 2)]
    orders.write_text("\n".join(["unit,time,value,order,goal", *paid]) + "\n")
    clock.now += 1000
    options = {"window": "10d", "largest_value": 100, "goals": ["purchase", "cart"]}
    options["policy"] = pb.UCB1()
    options["scale"] = options.pop("largest_value")
    files = (str(exposures), str(orders))
    with pytest.raises(live.RefusedError, match=r"every goal must be one of.*got \['cart'\]"):
        shop.import_history("history", *files, window="10d")
    made = shop.import_history("history", *files, **options)
    assert (made.exposures, made.orders, made.set_aside) == (20, 14, 0)
    again = shop.import_history("history", *files, **options)
    assert (again.orders, again.duplicates) == (0, 14)
    button = shop.open("history")
    assert reached(button, "cart") == (10, 10, sum(n + 1 for n in range(0, 20, 2)))
    assert sum(arm["conversions"] for arm in button.report()["arms"]) == 4
    assert check(shop.store)["wrong"] == []
