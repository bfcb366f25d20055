"""Arms promised to units that may never see them: they count from the exposure, on both stores."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from naive.kept_arms import NaivePeople

from patientbandits import live
from patientbandits.live.commands.commands import Evaluate
from patientbandits.live.commands.exposures import drawn
from patientbandits.live.errors import ConflictError, MismatchError, RefusedError
from patientbandits.live.operations.checks import check, same_state
from patientbandits.live.policy.state import PolicyState
from patientbandits.live.settings.flags import flag_value


def pulls(handle):
    return sum(arm["pulls"] for arm in handle.report()["arms"])


def checked(shop):
    found = check(shop.store)
    assert found["wrong"] == []
    return found["experiments"][0]


@pytest.fixture
def flag(shop):
    return shop.experiment("flag", ["a", "b"], window="30d", seed=7)


def test_a_promise_is_kept_and_counts_from_the_exposure(shop, flag, clock):
    promised = flag.evaluate("v", provisional=True)
    assert promised.id is None
    assert promised.propensity == pytest.approx(0.5)
    clock.now += 3600
    assert flag.evaluate("v", provisional=True) == promised
    assert pulls(flag) == 0
    assert not flag.convert(unit="v", order="early").exposed
    clock.now += 3600
    seen = flag.evaluate("v")
    assert seen == promised._replace(id=seen.id)
    assert seen.id is not None
    assert pulls(flag) == 1
    assert flag.evaluate("v", provisional=True) == seen
    assert flag.decide("v")[:3] == (seen.id, seen.arm, seen.propensity)
    clock.now += 60
    assert flag.convert(unit="v", order="late").counted
    row = next(line for line in b"".join(flag.export()).decode().splitlines()[1:])
    assert row.split(",")[7] == "60.0", "the delay begins with the exposure, not with the promise"
    assert checked(shop)["assignments"] == 1


@pytest.mark.parametrize("how", ["decide", "expose", "evaluate", "alias"])
def test_every_way_of_being_exposed(shop, flag, how):
    for number in range(20):
        unit = f"v{number}"
        arm = flag.evaluate(unit, provisional=True).arm
        if how == "decide":
            assert flag.decide(unit, key=f"k{number}").arm == arm
        elif how == "evaluate":
            assert flag.evaluate(unit).arm == arm
        elif how == "alias":
            shop.alias(unit, f"account{number}")
            assert flag.evaluate(f"account{number}").arm == arm
        else:
            other = "b" if arm == "a" else "a"
            with pytest.raises(MismatchError, match="another arm"):
                flag.expose(unit, other)
            assert not flag.expose(unit, arm).duplicate
            assert flag.expose(unit, arm).duplicate
    assert pulls(flag) == 20
    assert checked(shop)["decisions"] == 20
    with shop.store.reading() as reader:
        made = reader.all_decided(flag.experiment.id)
    assert all(about.decision.propensity == pytest.approx(0.5, abs=0.4) for about in made)


def test_a_retired_arm_is_promised_anew(shop, flag):
    arm = flag.evaluate("v", provisional=True).arm
    flag.change(retire=[arm])
    assert flag.evaluate("v", provisional=True).arm != arm
    flag.change(restore=[arm])
    assert flag.evaluate("v").arm != arm, "the last promise stands"
    assert checked(shop)["assignments"] == 2


def test_one_batch(shop, flag):
    """Several requests about a unit in one transaction are answered as if one after the other."""
    units = ["u", "u", "w", "u"]
    provisional = [True, False, True, True]
    asked = [
        flag.evaluate_command(unit, promise)
        for unit, promise in zip(units, provisional, strict=True)
    ]
    asked.append(flag.decide_command("w"))
    shop.journal.execute(asked)
    assert [command.error for command in asked] == [None] * 5
    first, second, third, fourth = [command.outcome for command in asked[:4]]
    assert first.id is None
    assert second == fourth == first._replace(id=second.id)
    assert asked[4].outcome.arm == third.arm
    assert isinstance(asked[0], Evaluate)
    assert checked(shop)["decisions"] == 2


def test_paused_and_not_sticky(shop, flag):
    known = flag.evaluate("known")
    promised = flag.evaluate("promised", provisional=True)
    flag.change(paused=True)
    for provisional in (True, False):
        assert flag.evaluate("new", provisional).arm is None
        assert flag.evaluate("known", provisional) == known, "who has an arm keeps it"
        assert flag.evaluate("promised", provisional).arm == promised.arm
    assert flag.decide("promised").arm == promised.arm
    with pytest.raises(ConflictError, match="paused"):
        flag.decide("new")
    flag.change(paused=False, sticky=False)
    with pytest.raises(RefusedError, match="must be sticky"):
        flag.evaluate("v")


def test_the_policy_hears_only_of_exposures(shop, clock):
    """Two experiments, one with promises that nobody saw: their policies know the same."""
    quiet = shop.experiment("quiet", ["a", "b"], policy="UCB1", seed=1)
    noisy = shop.experiment("noisy", ["a", "b"], policy="UCB1", seed=1)
    for number in range(30):
        clock.now += 10
        noisy.evaluate(f"nobody{number}", provisional=True)
        made = [handle.decide(f"v{number}") for handle in (quiet, noisy)]
        assert made[0].arm == made[1].arm
        if number % 3 == 0:
            for handle, decision in zip((quiet, noisy), made, strict=True):
                handle.convert(decision.id)
    assert quiet.report()["arms"] == noisy.report()["arms"]
    assert check(shop.store)["wrong"] == []


def test_promises_survive_a_restart(address, clock):
    with live.open(address, clock=clock) as shop:
        flag = shop.experiment("flag", ["a", "b"], policy="PatientThompson", seed=3)
        promised = {}
        for number in range(40):
            clock.now += 50
            promised[f"v{number}"] = flag.evaluate(f"v{number}", provisional=True)
            if number % 2:
                flag.convert(flag.evaluate(f"v{number}").id)
    with live.open(address, clock=clock) as shop:
        flag = shop.open("flag")
        for unit, was in promised.items():
            assert flag.evaluate(unit, provisional=True)[:3] == was[:3]
        with shop.store.reading() as reader:
            rebuilt = PolicyState(reader, flag.experiment, use_snapshot=False)
            assert same_state(PolicyState(reader, flag.experiment), rebuilt)
        assert checked(shop)["decisions"] == 20


def test_promises_follow_the_weights(shop, clock):
    """Arms are promised by the policy's present weights, and the propensity is that weight."""
    flag = shop.experiment("flag", ["a", "b", "c"], policy="PatientThompson", seed=5)
    for number in range(60):
        clock.now += 100
        made = flag.decide(f"v{number}")
        if made.arm == "b":
            flag.convert(made.id)
    clock.now += 2000
    weights = flag.weights()
    assert weights["b"] > 0.6
    found = [flag.evaluate(f"w{number}", provisional=True) for number in range(5)]
    for one in found:
        assert one.propensity == pytest.approx(weights[one.arm])


def test_draws_have_their_probabilities():
    """Each arm as often as its share: within 4 standard deviations, fixed seed; 0: never."""
    shares = [0.0, 0.2, 0.7, 0.1, 0.0]
    draws = 20_000
    found = Counter(drawn(shares, 11, seq) for seq in range(1, draws + 1))
    assert set(found) == {1, 2, 3}
    for place in found:
        share = shares[place]
        spread = (draws * share * (1 - share)) ** 0.5
        assert abs(found[place] - draws * share) < 4 * spread
    wrong = [0.0, 0.3, 0.6, 0.1, 0.0]
    spread = (draws * 0.3 * 0.7) ** 0.5
    assert abs(found[1] - draws * wrong[1]) > 4 * spread


def test_values_have_the_type_of_all_arms():
    for arms, values in (
        (("false", "true"), (False, True)),
        (("1", "2"), (1, 2)),
        (("9.5", "12"), (9.5, 12.0)),
        (('{"a": 1}', "{}"), ({"a": 1}, {})),
        (("1", "true"), ("1", "true")),
        (("null", "1"), ("null", "1")),
        (("blue", "1"), ("blue", "1")),
    ):
        found = [flag_value(arm, arms) for arm in arms]
        assert found == list(values)
        assert [type(value) for value in found] == [type(value) for value in values]


@pytest.mark.parametrize("seed", range(4))
def test_as_the_naive_one(tmp_path, clock, seed):
    """A thousand calls in any order; every arm is the naive one's, and so is what is counted."""
    choose = random.Random(seed)
    arms = ["a", "b", "c"]
    naive = NaivePeople()
    with live.open(str(tmp_path / "shop.db"), clock=clock) as shop:
        flag = shop.experiment("flag", arms, policy="UCB1", seed=seed)
        for _ in range(250):
            clock.now += choose.random() * 3
            unit = f"v{choose.randrange(40)}"
            what = choose.choice(["promise"] * 4 + ["evaluate"] * 2 + ["decide", "expose", "other"])
            must = naive.arm(unit)
            if what == "other" and choose.random() < 0.5:
                other = f"v{choose.randrange(40)}"
                flag.alias(unit, other)
                naive.join(unit, other)
            elif what == "other":
                naive.retired = frozenset(choose.sample(arms, choose.randrange(3)))
                flag.change(retired=sorted(naive.retired))
            elif what == "expose":
                if must is not None:
                    flag.expose(unit, must)
                    naive.told(unit, must)
            else:
                promised = what == "promise"
                made = flag.decide(unit) if what == "decide" else flag.evaluate(unit, promised)
                assert must in (None, made.arm)
                assert made.arm not in naive.retired
                assert (made.id is None) == (promised and not naive.decided(unit, made.arm))
                naive.give(unit, made.arm, promised)
        wanted = Counter(arm for what, _, arm, _ in naive.happened if what == "decision")
        assert {arm["arm"]: arm["pulls"] for arm in flag.report()["arms"]} == {
            arm: wanted[arm] for arm in arms
        }
        promises = sum(what == "promise" for what, *_ in naive.happened)
        assert checked(shop)["assignments"] == promises > 20
        assert sum(wanted.values()) > 20
