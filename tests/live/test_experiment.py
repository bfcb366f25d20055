"""What both stores promise: the table of answers to conversions, keys, sticky units, retractions,
changes, one log for all."""

from __future__ import annotations

import math

import pytest
from folds import counts, same

import patientbandits as pb
from patientbandits import live
from patientbandits.live.commands.draft import SKEW
from patientbandits.live.storage.identifiers import Signer

MICRO = 10**6
UCB = pb.UCB1()
FORGETS_NOT = pb.AdaptPatientBandits(
    c=0.7, alpha_floor=0.2, mean_floor=0.6, ratio=0.35, penalty=0.3, width="published"
)
FORGETS = (pb.UCB1(), pb.PatientThompson(), pb.CalendarThompson(), FORGETS_NOT)
"""One without a memory, two whose memory can take a conversion back, one whose memory cannot."""


# --- conversions ---


def test_first_and_again(shop, clock):
    button = shop.experiment("button", ["a", "b"], policy=UCB)
    made = button.decide()
    assert button.convert(made.id, 0.5) == (False, True)
    for later in (0, 10, 10**7):
        clock.now += later
        assert button.convert(made.id, 0.5) == (True, True)
    assert counts(button) == {made.arm: (1, 500_000)}


def test_other_content_is_refused_and_the_first_stays(shop, clock):
    button = shop.experiment("button", ["a", "b"], policy=UCB)
    one, two = button.decide(), button.decide()
    start = clock.now
    clock.now += 100
    button.convert(one.id, 0.5, at=start + 50)
    button.convert(two.id, 0.25)
    for change in ({"value": 0.6}, {"value": 0.5, "at": start + 51}, {"value": 0.0}):
        with pytest.raises(live.MismatchError) as refusal:
            button.convert(one.id, **change)
        assert refusal.value.status == 422
    assert button.convert(one.id, 0.5, at=start + 50) == (True, True)
    assert button.convert(one.id, 0.5) == (True, True)  # says nothing of the time, so nothing else
    with pytest.raises(live.MismatchError):
        button.convert(two.id, 0.25, at=start + 7)  # the first was now
    assert button.convert(two.id, 0.25, at=start + 100) == (True, True)
    assert counts(button) == {one.arm: (1, 500_000), two.arm: (1, 250_000)}


@pytest.mark.parametrize("ahead", [-200, -1, 0, 1, 200])
def test_the_same_again_is_the_same_whatever_the_clocks(shop, clock, ahead):
    """The client's clock is ahead of ours, or behind: what it repeats is still the same."""
    button = shop.experiment("button", ["a"], policy=UCB)
    made = button.decide()
    at = clock.now + ahead
    assert button.convert(made.id, 1.0, at=at) == (False, True)
    for later in (0, 50, 500):
        clock.now += later
        assert button.convert(made.id, 1.0, at=at) == (True, True)
    assert counts(button) == {"a": (1, MICRO)}


def test_unknown_and_forged_ids(shop):
    button, other = (
        shop.experiment("button", ["a"], policy=UCB),
        shop.experiment("other", ["a"], policy=UCB),
    )
    made, foreign = button.decide(), other.decide()
    forged = Signer(b"guessed").name(button.experiment.id, 2)
    never = shop.journal.signer.name(button.experiment.id, 999)
    a_change = shop.journal.signer.name(button.experiment.id, 1)
    nobodys = shop.journal.signer.name(77, 2)
    broken = [made.id[:-1], made.id + "A", made.id[::-1], "", "é" * 27, 7, None, made.id.encode()]
    for id in [forged, never, a_change, nobodys, foreign.id, *broken]:
        for call in (button.convert, button.retract):
            with pytest.raises(live.NotFoundError) as refusal:
                call(id)
            assert refusal.value.status == 404
    assert counts(button) == {"a": (1, 0)}


def test_after_the_window_it_is_kept_but_not_counted(shop, clock):
    button = shop.experiment("button", ["a"], policy=UCB, window=100.0)
    start, made = clock.now, [button.decide() for _ in range(4)]
    clock.now += 100
    assert button.convert(made[0].id) == (False, True)
    clock.now += 0.001
    assert button.convert(made[1].id) == (False, False)
    assert button.convert(made[1].id) == (True, False)
    assert button.convert(made[2].id, at=start + 99.0) == (
        False,
        True,
    )  # reported late, happened in time
    assert button.retract(made[1].id) == (False,)
    assert counts(button) == {"a": (4, 2 * MICRO)}
    assert len(shop.store.lines(button.experiment.id, 0)) == 1 + 4 + 3 + 1


def test_before_its_decision_or_in_the_future(shop, clock):
    button, skew = shop.experiment("button", ["a"], policy=UCB), SKEW / MICRO
    for wrong in (-skew - 1, skew + 1, -1e9, 1e9):
        made = button.decide()
        with pytest.raises(live.RefusedError) as refusal:
            button.convert(made.id, at=clock.now + wrong)
        assert refusal.value.status == 422
    for fine in (-skew, skew):
        assert button.convert(button.decide().id, at=clock.now + fine) == (False, True)
    with shop.store.reading() as reader:
        decided = list(reader.all_decided(button.experiment.id))
    converted = [about for about in decided if about.conversion]
    assert len(converted) == 2
    assert all(about.conversion.happened >= about.decision.time for about in converted)


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, -math.inf, 10.1, -0.1, "1", True, None, 10**400, [1], 1j]
)
def test_values_that_are_none(shop, value):
    button = shop.experiment("button", ["a"], policy=UCB, scale=10.0)
    made = button.decide()
    with pytest.raises(live.RefusedError) as refusal:
        button.convert(made.id, value)
    assert refusal.value.status == 422
    assert button.convert(made.id, 10) == (False, True)


def test_one_bad_item_never_spoils_the_rest(shop):
    button = shop.experiment("button", ["a", "b"], policy=UCB)
    made = [button.decide() for _ in range(5)]
    command = button.convert_command
    unknown = command(shop.journal.signer.name(button.experiment.id, 999))
    batch = [
        command(made[0].id),
        unknown,
        command(made[0].id),
        command(made[0].id, 0.5),
        command(made[1].id, 0.25),
        button.retract_command(made[2].id),
    ]
    shop.journal.execute(batch)
    kinds = [type(item.error).__name__ if item.error else item.outcome for item in batch]
    assert kinds == [
        (False, True),
        "NotFoundError",
        (True, True),
        "MismatchError",
        (False, True),
        "ConflictError",
    ]
    assert sum(paid for _, paid in counts(button).values()) == 1_250_000


def test_values_are_exact_in_any_order(shop):
    """Millionths: sums are the same in any order, and nothing is lost between 0.1 and 0.3."""
    values = [0.1, 0.2, 0.3, 1e-6, 0.7, 1.4e-6, 0.999999, 1.0, 0.0] * 3
    expected = sum(round(value * MICRO) for value in values)
    for name, order in (("up", 1), ("down", -1)):
        button = shop.experiment(name, ["a"], policy=UCB)
        made = [button.decide() for _ in values]
        for decision, value in list(zip(made, values, strict=True))[::order]:
            button.convert(decision.id, value)
        assert counts(button) == {"a": (len(values), expected)}


def test_a_value_that_would_be_kept_as_nothing_is_refused(shop):
    button = shop.experiment("button", ["a"], policy=UCB, scale=2.0)
    made = button.decide()
    for little in (1e-7, 5e-324):
        with pytest.raises(live.RefusedError, match="at least a millionth"):
            button.convert(made.id, little)
    assert button.convert(made.id, 2e-6) == (False, True)
    assert button.convert(button.decide().id, 0) == (False, True)


# --- decisions ---


def test_keys(shop, clock):
    button = shop.experiment("button", ["a", "b", "c"], policy=pb.Thompson(), sticky=False)
    first = button.decide(unit="u", key="k")
    assert not first.duplicate
    for later in (0, 60, 10**8):
        clock.now += later
        assert button.decide(unit="u", key="k") == first._replace(duplicate=True)
    with pytest.raises(live.MismatchError):
        button.decide(unit="v", key="k")
    with pytest.raises(live.MismatchError):
        button.decide(key="k")
    other = shop.experiment("other", ["a", "b"], policy=UCB, sticky=False)
    assert not other.decide(unit="u", key="k").duplicate
    assert button.decide(unit="u", key="K").id != first.id
    assert not button.decide(unit="u").duplicate
    assert sum(pulls for pulls, _ in counts(button).values()) == 3


def test_the_same_key_twice_in_one_batch(shop):
    button = shop.experiment("button", ["a", "b"], policy=pb.PatientThompson())
    batch = [button.decide_command(key=key) for key in ("k", "l", "k", "k", "l")]
    batch.append(button.decide_command(unit="u", key="k"))
    shop.journal.execute(batch)
    one, two, *others = batch
    assert [item.outcome for item in others[:3]] == [
        made.outcome._replace(duplicate=True) for made in (one, one, two)
    ]
    assert isinstance(others[3].error, live.MismatchError)
    assert one.outcome.id != two.outcome.id
    assert one.outcome.propensity is not None
    assert sum(pulls for pulls, _ in counts(button).values()) == 2


def test_sticky_units(shop):
    button = shop.experiment("button", ["a", "b", "c"], policy=pb.Uniform(), sticky=True)
    first = {unit: button.decide(unit=unit) for unit in "uvwxyz"}
    for unit, made in first.items():
        assert button.decide(unit=unit) == made._replace(duplicate=True)
        assert button.decide(unit=unit, key=f"new {unit}") == made._replace(duplicate=True)
    batch = [button.decide_command(unit=unit) for unit in ("new", "u", "new")]
    shop.journal.execute(batch)
    assert batch[2].outcome == batch[0].outcome._replace(duplicate=True)
    assert batch[1].outcome.id == first["u"].id
    assert button.decide().id != button.decide().id
    gone = first["u"].arm
    button.change(retired=[gone])
    again = button.decide(unit="u")
    assert not again.duplicate
    assert again.arm != gone
    assert button.decide(unit="u") == again._replace(duplicate=True)
    button.change(sticky=False)
    assert not button.decide(unit="u").duplicate


@pytest.mark.parametrize("arms", [1, 50])
@pytest.mark.parametrize(
    "policy", [UCB, pb.PatientThompson(), pb.CalendarThompson()], ids=lambda policy: policy.owner
)
def test_one_arm_and_fifty(shop, clock, arms, policy):
    names = [f"arm {j}" for j in range(arms)]
    button = shop.experiment("button", names, policy=policy)
    for _ in range(3):
        batch = [button.decide_command() for _ in range(40)]
        shop.journal.execute(batch)
        clock.now += 1
        shop.journal.execute([button.convert_command(item.outcome.id) for item in batch[::3]])
    assert sum(pulls for pulls, _ in counts(button).values()) == 120
    assert set(counts(button)) <= set(names)
    assert same(button)


def test_a_clock_that_goes_back(shop, clock):
    button = shop.experiment("button", ["a", "b"], policy=pb.PatientThompson())
    made = [button.decide()]
    clock.now -= 1000
    made.append(button.decide())
    assert button.convert(made[0].id) == (False, True)
    button.change(window=10.0)
    clock.now += 500
    made.append(button.decide())
    button.convert(made[1].id)
    times = [line.time for line in shop.store.lines(button.experiment.id, 0)]
    assert times == sorted(times)
    assert same(button)


# --- retractions ---


@pytest.mark.parametrize("policy", FORGETS, ids=lambda policy: policy.owner)
def test_retractions(shop, clock, policy):
    button = shop.experiment("button", ["a", "b"], policy=policy, seed=5)
    made = []
    for _ in range(12):
        made.append(button.decide())
        clock.now += 1
    for decision in made[::2]:
        button.convert(decision.id, 0.5)
    with pytest.raises(live.ConflictError) as refusal:
        button.retract(made[1].id)
    assert refusal.value.status == 409
    before = sum(paid for _, paid in counts(button).values())
    assert button.retract(made[2].id) == (False,)
    assert button.retract(made[2].id) == (True,)
    assert sum(paid for _, paid in counts(button).values()) == before - 500_000
    assert button.convert(made[2].id, 0.5) == (True, False)  # for good
    take, pay, decide = button.retract_command, button.convert_command, button.decide_command
    batch = [
        take(made[4].id),
        pay(made[5].id),
        take(made[5].id),
        decide(),
        take(made[4].id),
        take(made[0].id),
        decide(),
        pay(made[7].id),
    ]
    shop.journal.execute(batch)
    assert not any(item.error for item in batch)
    assert batch[4].outcome == (True,)
    assert sum(paid for _, paid in counts(button).values()) == before - 3 * 500_000 + MICRO
    assert same(button)
    for _ in range(3):
        clock.now += 1
        button.decide()
    assert same(button)


# --- changes ---


def test_changes_keep_the_history(shop, clock):
    button = shop.experiment("button", ["a", "b"], policy=UCB, seed=1)
    start, made = clock.now, [button.decide() for _ in range(20)]
    for j, decision in enumerate(made):
        clock.now = start + 10 * (j + 1)
        button.convert(decision.id, 0.25)
    of = {arm: [d for d in made if d.arm == arm] for arm in "ab"}
    every = {arm: (len(of[arm]), 250_000 * len(of[arm])) for arm in "ab"}
    assert counts(button) == every
    for policy in (pb.PatientThompson(), FORGETS_NOT, pb.KLUCB()):
        button.change(policy=policy)
        assert counts(button) == every
        assert button.settings.policy == policy
    button.change(window=100.0)
    in_time = {arm: sum(1 for d in of[arm] if made.index(d) < 10) for arm in "ab"}
    assert counts(button) == {arm: (len(of[arm]), 250_000 * in_time[arm]) for arm in "ab"}
    button.change(window=None)
    assert counts(button) == every
    button.change(arms=["a", "b", "new"])
    assert counts(button) == every
    assert button.decide().arm == "new"  # never tried
    button.change(retired=["a"])
    assert "a" not in {button.decide().arm for _ in range(20)}
    assert "a" not in counts(button)
    assert button.convert(of["a"][0].id, 0.25) == (True, True)  # still known
    button.change(retired=[])
    assert counts(button)["a"] == every["a"]
    assert same(button)


def test_pause(shop):
    button = shop.experiment("button", ["a"], policy=UCB)
    made = button.decide(key="k")
    button.change(paused=True)
    with pytest.raises(live.ConflictError) as refusal:
        button.decide()
    assert refusal.value.status == 409
    assert button.decide(key="k").id == made.id
    assert button.convert(made.id) == (False, True)
    button.change(paused=False)
    assert button.decide().arm == "a"
    assert counts(button) == {"a": (2, MICRO)}
