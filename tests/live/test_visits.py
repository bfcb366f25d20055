"""Visitors and orders: whatever comes in whatever order, the counts are those of a simple model."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from folds import running, same
from visits import GOALS, MILLION, Model, messages

import patientbandits as pb
from patientbandits import live
from patientbandits.live.operations.checks import check

pytestmark = pytest.mark.slow

FORGETS = pb.UCB1()
CANNOT_FORGET = pb.DUCB(pb.Lomax(0.7, 60.0), 600)
"""a policy without a hook for retractions"""


def counted(button) -> dict[str, tuple[int, int, int]]:
    """As the report counts."""
    return {
        arm["arm"]: (arm["pulls"], arm["conversions"], round(arm["value"] * MILLION))
        for arm in button.report()["arms"]
        if arm["pulls"]
    }


def remembered(button) -> dict[str, tuple[int, int]]:
    """As the policy knows."""
    tally = running(button).memory.tally
    known = zip(button.arms, tally.pulls.tolist(), tally.paid.tolist(), strict=True)
    return {arm: (pulls, paid) for arm, pulls, paid in known if pulls}


def goals_counted(button) -> dict[str, dict[str, tuple[int, int, int]]]:
    found = {}
    for goal in button.report()["goals"]:
        found[goal["goal"]] = {
            arm["arm"]: (arm["count"], arm["units"], round(arm["value"] * MILLION))
            for arm in goal["arms"]
        }
    return found


def agree(shop, button, model) -> None:
    must = model.counts()
    assert counted(button) == must
    for goal, found in goals_counted(button).items():
        for arm, three in model.goal_counts(goal).items():
            assert found[arm] == three, goal
    assert remembered(button) == {arm: (pulls, paid) for arm, (pulls, _, paid) in must.items()}
    assert check(shop.store)["wrong"] == []


@pytest.mark.parametrize("rule", ["first", "last", "every"])
@pytest.mark.parametrize("policy", [FORGETS, CANNOT_FORGET], ids=["forgets", "cannot"])
@pytest.mark.parametrize("seed", [1, 2])
def test_one_by_one(shop, clock, rule, policy, seed):
    """Every answer and, at the end, every count is the model's."""
    rng = np.random.default_rng(seed)
    window = 100.0 if policy is CANNOT_FORGET or seed == 1 else None
    button = shop.experiment(
        "button",
        ["a", "b"],
        policy=policy,
        window=window,
        sticky=False,
        credit=rule,
        goals=["purchase", *GOALS],
        seed=1,
    )
    clock.now += 1000
    model = Model(rule, None if window is None else int(window * MILLION))
    for number, told in enumerate(messages(rng, 250, 8)):
        now = int(clock.now * 1e6)
        if told[0] == "decide":
            made = button.decide(unit=told[1])
            model.decide(told[1], made.arm, now, number)
        elif told[0] == "order":
            _, name, unit, value, ago, goal = told
            at = None if ago is None else clock.now - ago
            stated = None if at is None else round(at * 1e6)
            must = model.order(name, unit, value, stated, now, number, goal)
            named = goal or [None, "purchase"][number % 2]
            try:
                done = button.convert(
                    unit=unit, order=name, value=value / MILLION, at=at, goal=named
                )
                did = "duplicate" if done.duplicate else "first"
            except live.MismatchError:
                did = "different"
            assert did == must, told
        elif told[0] == "retract":
            must = model.retract(*told[1:])
            try:
                done = button.retract(order=told[1], goal=told[2])
                did = "duplicate" if done.duplicate else "first"
            except live.NotFoundError:
                did = "unknown"
            assert did == must, told
        elif told[0] == "expose":
            _, unit, arm, ago = told
            at = None if ago is None else clock.now - ago
            stated = None if at is None else round(at * 1e6)
            must = model.expose(unit, arm, stated, now, number)
            try:
                did = "duplicate" if button.expose(unit, arm, at).duplicate else "first"
            except live.MismatchError:
                did = "different"
            assert did == must, told
        elif told[0] == "alias":
            assert button.alias(*told[1:]).duplicate == model.join(*told[1:])
        else:
            clock.now += told[1]
    agree(shop, button, model)
    assert sum(conversions for _, conversions, _ in model.counts().values()) > 5
    assert sum(times for times, _, _ in model.goal_counts("cart").values()) > 1
    assert same(button)


def late_exposures(button, model, rng, start, now) -> list:
    """Another system's, told late, some of them twice."""
    told = []
    for one in range(100):
        unit = f"{rng.choice(['visitor', 'account'])} {rng.integers(0, 90)}"
        at = float(rng.integers(start, int(now))) + 0.5  # never when an order was
        arm = str(rng.choice(["a", "b", "c"]))
        if model.expose(unit, arm, round(at * 1e6), int(now * 1e6), 1000 + one) == "first":
            for _ in range(1 + one % 2):
                told.append(button.expose_command(unit, arm, at))
    return told


def written_history(folder, model, rng, start) -> list[str]:
    """Exposures of the hour before, and orders of then, as files."""
    shown = ["unit,time,variant"]
    for number in range(150):
        unit = f"{rng.choice(['visitor', 'account'])} {rng.integers(0, 80)}"
        at = start - 3600 + 20 * number + 0.25  # never when an order was
        arm = str(rng.choice(["a", "b", "c"]))
        model.decide(unit, arm, round(at * 1e6), number - 1000)
        shown.append(f"{unit},{at},{arm}")
    return [
        lines_to(folder / "exposures.csv", shown),
        lines_to(folder / "orders.csv", told_orders(model, rng, start - 3600, start, "old", 60)),
    ]


def told_orders(model, rng, begin, end, kind, count) -> list[str]:
    lines = ["unit,time,value,order"]
    for one in range(count):
        unit = f"{rng.choice(['visitor', 'account'])} {rng.integers(0, 90)}"
        value = int(rng.choice([0, 100_000, 600_000, MILLION]))
        at = int(rng.integers(begin, end))
        model.order(f"{kind} {one}", unit, value, at * MILLION, end * MILLION, 10**6)
        lines.append(f"{unit},{at},{value / MILLION},{kind} {one}")
    return lines


def lines_to(path, lines) -> str:
    path.write_text("\n".join(lines) + "\n")
    return str(path)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_in_any_order_from_several_clients(address, clock, seed, tmp_path):
    """A history is imported; then 8 clients send the same orders, aliases and repetitions,
    shuffled, in batches, while the history comes again with the orders of the night."""
    rng = np.random.default_rng(seed)
    rule = ["first", "last", "every"][seed % 3]
    with live.open(address, clock=clock) as shop:
        model = Model(rule, 2000 * MILLION)
        start = int(clock.now)
        history = written_history(tmp_path, model, rng, start)
        made = shop.import_history(
            "button",
            *history,
            policy=[FORGETS, CANNOT_FORGET][seed % 2],
            window=2000.0,
            sticky=False,
            credit=rule,
            goals=["purchase", *GOALS],
        )
        assert (made.exposures, made.orders) == (150, 60)
        button = shop.open("button")
        agree(shop, button, model)
        for number in range(300):
            clock.now += int(rng.integers(0, 20))
            unit = f"{rng.choice(['visitor', 'account'])} {rng.integers(0, 80)}"
            model.decide(unit, button.decide(unit=unit).arm, int(clock.now * 1e6), number)
        clock.now += 1000
        told = []
        for one in range(200):
            unit = f"{rng.choice(['visitor', 'account'])} {rng.integers(0, 90)}"
            value = int(rng.choice([0, 100_000, 600_000, MILLION]))
            at = float(rng.integers(start - 50, int(clock.now)))
            model.order(f"order {one}", unit, value, round(at * 1e6), int(clock.now * 1e6), 10**6)
            said = (unit, f"order {one}", value / MILLION, at)
            goal = [None, None, "purchase", "cart", "refund"][one % 5]
            if goal in GOALS:
                stated = round(at * 1e6)
                model.order(said[1], unit, value, stated, int(clock.now * 1e6), 10**6, goal)
                told.append(button.order_command(*said, goal))
                goal = None
            told.append(button.order_command(*said, goal))
            for _ in range(int(rng.integers(0, 3))):
                told.append(button.order_command(*said, goal))
        told += late_exposures(button, model, rng, start, clock.now)
        for one in range(0, 80, 2):
            model.join(f"visitor {one}", f"account {one}")
            for _ in range(2):
                told.append(button.join_command(f"visitor {one}", f"account {one}"))
        nightly = told_orders(model, rng, start, int(clock.now), "night", 40)
        night = lines_to(tmp_path / "night.csv", nightly)
        order = rng.permutation(len(told))
        parts = [[told[place] for place in order[client::8]] for client in range(8)]

        def deliver(part):
            for begin in range(0, len(part), 7):
                shop.journal.execute(part[begin : begin + 7])

        with ThreadPoolExecutor(10) as clients:
            imports = [
                clients.submit(shop.import_history, "button", history[0], file)
                for file in (history[1], night)
            ]
            list(clients.map(deliver, parts))
        repeated, new = [one.result() for one in imports]
        assert (repeated.exposures, repeated.orders, repeated.duplicates) == (0, 0, 60)
        assert (new.exposures, new.orders, new.refused) == (0, 40, 0)
        assert [command.error for command in told if command.error] == []
        gone = [f"order {one}" for one in range(0, 200, 9)]
        for name in gone:
            button.retract(order=name)
            model.retract(name)
        for name in gone[::2]:  # corrected and sent again
            old = model.orders[name][0][0]
            value = MILLION - old.value
            at = old.stated / 1e6
            now = int(clock.now * 1e6)
            if model.order(name, old.unit, value, old.stated, now, 10**6) == "first":
                button.convert(unit=old.unit, order=name, value=value / MILLION, at=at)
        agree(shop, button, model)
        for rule, window in (("every", 500.0), ("last", None), ("first", 1500.0)):
            button.change(credit=rule, window=window)
            model.rule = rule
            model.window = None if window is None else int(window * MILLION)
            agree(shop, button, model)
    with live.open(address, clock=clock) as shop:
        agree(shop, shop.open("button"), model)
