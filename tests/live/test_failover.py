"""PostgreSQL fails over to a replica, under two machines, with or without the last lines."""

from __future__ import annotations

import contextlib

import pytest
from failover import Pair

from patientbandits import live
from patientbandits.live.operations import accept_loss
from patientbandits.live.operations.checks import check

pytestmark = pytest.mark.slow


@pytest.fixture
def pair():
    running = Pair()
    yield running
    running.close()


@pytest.fixture
def machines(pair):
    with contextlib.ExitStack() as stack:
        shops = [stack.enter_context(live.open(pair.address)) for _ in range(2)]
        shops[0].experiment("flag", ["a", "b"], policy="UCB1", seed=1)
        yield [shop.open("flag") for shop in shops]


def decide(handles, count, name):
    return {f"{name}{n}": handles[n % len(handles)].decide(f"{name}{n}") for n in range(count)}


def answers(call, *arguments):
    """The outcome, once connections are new; or why nothing is written."""
    for _ in range(10):
        try:
            return call(*arguments)
        except live.UnavailableError as error:
            if "went back in time" in str(error):
                return str(error)
    raise AssertionError("neither an answer nor a reason")


@pytest.mark.parametrize("idle", [False, True], ids=["both write", "one is idle"])
def test_without_the_last_lines(pair, machines, idle):
    """Nothing is written until somebody accepts the loss, and no lost id names another's line."""
    kept = decide(machines, 12, "kept")
    pair.catch_up()
    pair.replica.kill()
    lost = decide(machines[:1] if idle else machines, 10, "lost")
    pair.fail_over()
    if idle:  # it has seen none of them, and cannot know
        assert answers(machines[1].decide, "z").arm in "ab"
    assert "went back in time" in answers(machines[0].decide, "w")
    for handle in machines:
        assert "went back in time" in answers(handle.decide, "w")
        with pytest.raises((live.UnavailableError, live.NotFoundError)):
            handle.convert(lost["lost0"].id)
    with live.open(pair.address) as third:
        assert "went back in time" in answers(third.open("flag").decide, "w")
    written = pair.replica.rows("SELECT MAX(seq), COUNT(*) FROM log")[0]
    assert written[0] == written[1]
    accept_loss(pair.address)
    new = [answers(handle.decide, f"new{n}") for n in range(8) for handle in machines]
    assert not {made.id for made in new} & {made.id for made in lost.values()}
    for made in lost.values():
        for handle in machines:
            with pytest.raises(live.NotFoundError):
                handle.convert(made.id)
    for unit, made in kept.items():
        assert machines[1].decide(unit)[:2] == made[:2]
    with live.open(pair.address) as shop:
        assert check(shop.store)["wrong"] == []


def test_with_all_lines(pair, machines):
    """Both go on by themselves."""
    kept = decide(machines, 12, "kept")
    pair.catch_up()
    pair.replica.kill()
    pair.fail_over()
    for handle in machines:
        for unit, made in kept.items():
            assert answers(handle.decide, unit)[:2] == made[:2]
        assert answers(handle.decide, "new").arm in "ab"
    assert check(machines[0].journal.store)["wrong"] == []
