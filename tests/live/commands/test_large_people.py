"""Ten thousand aliases that lead to one another: no request does much more than for one unit."""

from __future__ import annotations

import statistics
import time

import numpy as np
import pytest

from patientbandits import live
from patientbandits.live.commands.people import LARGEST_PERSON, AliasGroups
from patientbandits.live.operations.checks import check

LINKS = 10_000
AT_A_TIME = 500
MOST_QUESTIONS = 40
MOST_TIMES = 400
"""as long as for a unit without aliases: on a quiet machine it is 60 times"""


def chain(number):
    return f"u{number}", f"u{number + 1}"


def star(number):
    return f"u{number}", "anonymous"


def pairs_first(number):
    """Pairs, then pairs of pairs, ...: each half of a group is as large as the other."""
    size = 1
    while number % 2:
        size *= 2
        number //= 2
    return f"u{2 * size * (number // 2)}", f"u{2 * size * (number // 2) + size}"


@pytest.fixture
def shop(tmp_path, clock):
    with live.open(str(tmp_path / "shop.db"), clock=clock) as opened:
        yield opened


def seconds(call, *arguments, **named):
    taken = []
    for _ in range(7):
        began = time.process_time()
        call(*arguments, **named)
        taken.append(time.process_time() - began)
    return statistics.median(taken)


@pytest.mark.parametrize("pair", [chain, star, pairs_first])
def test_work_is_bounded(shop, monkeypatch, pair):
    flag = shop.experiment("flag", ["a", "b"], window="30d", seed=1)
    flag.decide("alone")
    refused = 0
    for begin in range(0, LINKS, AT_A_TIME):
        numbers = range(begin, begin + AT_A_TIME)
        commands = [flag.join_command(*pair(number)) for number in numbers]
        shop.journal.execute([flag.decide_command(unit=f"u{begin}"), *commands])
        for command in commands:
            refused += isinstance(command.error, live.ConflictError)
            assert command.error is None or "at most 1000 units" in str(command.error)
    assert refused > 0
    alone = seconds(flag.decide, "alone")
    asked = []
    rows = shop.store.rows
    monkeypatch.setattr(shop.store, "rows", lambda *said: asked.append(said) or rows(*said))
    for unit in ("u0", "u3", f"u{LARGEST_PERSON // 2}"):
        asked.clear()
        flag.decide(unit)
        assert len(asked) < MOST_QUESTIONS
        calls = [(flag.decide, {}), (flag.convert, {"order": "o"}), (flag.evaluate, {})]
        for call, named in calls:
            assert seconds(call, unit=unit, **named) < MOST_TIMES * alone
    assert check(shop.store)["wrong"] == []


def test_a_person_may_be_as_large_as_that(shop):
    flag = shop.experiment("flag", ["a", "b"], seed=1)
    arm = flag.decide("account").arm
    commands = [flag.join_command(f"u{n}", "account") for n in range(LARGEST_PERSON - 1)]
    shop.journal.execute(commands)
    assert {command.error for command in commands} == {None}
    assert flag.alias("account", "u7").duplicate
    with pytest.raises(live.ConflictError, match="these two have 1001 together"):
        flag.alias("stranger", "u7")
    assert flag.decide("u998").arm == arm


def test_a_batch_of_orders_of_one_large_person(shop, clock):
    """Each costs more than one of somebody else's, but not by the square of what there is."""
    flag = shop.experiment("flag", ["a", "b"], window="30d", seed=1)
    units = [f"u{number}" for number in range(600)]
    shop.journal.execute([flag.decide_command(unit=unit) for unit in [*units, "alone"]])
    shop.journal.execute([flag.join_command(unit, "account") for unit in units])
    clock.now += 60.0
    batches = iter(range(1000))

    def ordered(buyers):
        number = next(batches)
        commands = [flag.order_command(unit, f"{number} {unit}") for unit in buyers]
        shop.journal.execute(commands)
        assert {command.error for command in commands} == {None}

    alone = seconds(ordered, ["alone"])
    assert seconds(ordered, units[:100]) < MOST_TIMES * alone
    assert check(shop.store)["wrong"] == []


def test_groups_as_the_naive_ones():
    """Any pairs in any order; the roots are units of the groups."""
    rng = np.random.default_rng(1)
    groups = AliasGroups()
    naive = [{unit} for unit in "abcdefgh"]
    for unit, other in rng.choice(list("abcdefgh"), (60, 2)):
        groups.join(unit, other)
        both = [person for person in naive if unit in person or other in person]
        naive = [person for person in naive if person not in both] + [set().union(*both)]
        for person in naive:
            for one in person:
                assert set(groups.units(one)) == person
                assert len(groups.units(one)) == len(person)
                assert groups.root(one) in person
