"""Shares that hold whatever the policy chooses, and propensities of what was really done."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from patientbandits import live
from patientbandits.live.errors import ConflictError, NotFoundError, RefusedError
from patientbandits.live.operations.checks import check
from patientbandits.live.policy.state import PolicyState
from patientbandits.simulation.engine.shares import (
    CAP,
    FREE,
    ShareBook,
    lead_of,
    mixed_share,
    shared_arm,
)

pytestmark = pytest.mark.slow

ARMS = ["control", "blue", "green"]
RATES = {"control": 0.30, "blue": 0.25, "green": 0.45}
POLICIES = ["PatientThompson", "CalendarThompson", "UCB1", "Uniform", "PatientBandits"]
DAY = 86400.0


def described(policy):
    if policy == "PatientBandits":
        return {"policy": policy, "alpha": 0.5}
    return policy


def decide_many(handle, count):
    commands = [handle.decide_command() for _ in range(count)]
    handle.journal.execute(commands)
    return [command.outcome for command in commands]


def convert_many(handle, decisions):
    commands = [handle.convert_command(one.id) for one in decisions]
    handle.journal.execute(commands)


def run(handle, clock, count, seed, batch=500, rates=None):
    """Decisions, the conversions of each batch told after it: (arm, propensity, converted)."""
    random = np.random.default_rng(seed)
    found = []
    for number in range(count // batch):
        clock.now += DAY * 20 * batch / count
        made = decide_many(handle, batch)
        late = 2 * number >= count // batch
        paid = [random.random() < (rates or RATES)[one.arm] + 0.5 * late for one in made]
        convert_many(handle, [one for one, pays in zip(made, paid, strict=True) if pays])
        found += [(one.arm, one.propensity, pays) for one, pays in zip(made, paid, strict=True)]
    return found


@pytest.mark.parametrize("policy", POLICIES)
def test_floors_hold_in_propensities_and_counts(tmp_path, clock, policy):
    """20 000 decisions. Each count of n decisions with chances p has mean sum p; a departure of
    4.5 standard errors has a chance below 7e-6, over all arms and policies below 1e-4."""
    shares = {"minimum": 0.05, "arms": {"blue": 0.1}, "control": 0.2}
    with live.open(str(tmp_path / "shop.db"), clock=clock) as shop:
        handle = shop.experiment(
            "button",
            ARMS,
            policy=described(policy),
            control="control",
            shares=shares,
            sticky=False,
            seed=5,
        )
        made = run(handle, clock, 20_000, seed=1)
        for arm, least in (("blue", 0.1), ("green", 0.05)):
            assert min(p for shown, p, _ in made if shown == arm) >= least
            assert max(p for shown, p, _ in made if shown == arm) <= 1 - 0.2 - 0.15 + least
        assert {p for shown, p, _ in made if shown == "control"} == {0.2}
        for arm in ARMS:
            inverse = np.array([(shown == arm) / p for shown, p, _ in made])
            spread = np.sqrt(np.sum(np.square(inverse)))  # at least the standard error
            assert abs(np.sum(inverse - 1.0)) < 4.5 * spread
        counts = Counter(shown for shown, _, _ in made)
        assert abs(counts["control"] - 4000) < 4.5 * np.sqrt(20_000 * 0.2 * 0.8)
        assert counts["blue"] > 2000 - 4.5 * np.sqrt(20_000 * 0.1 * 0.9)
        assert check(shop.store)["wrong"] == []
        weights = handle.weights()
        assert weights["control"] == 0.2
        assert weights["blue"] >= 0.1
        assert weights["green"] >= 0.05
        assert sum(weights.values()) == pytest.approx(1.0)


def inverse_weighted(made, arm, propensities):
    """Distances in standard errors of the arm's estimated rate from the true one."""
    terms = [
        (shown == arm) * pays / p for (shown, _, pays), p in zip(made, propensities, strict=True)
    ]
    truth = RATES[arm] + 0.25  # 0.5 more in the second half
    return (np.mean(terms) - truth) / (np.std(terms) / np.sqrt(len(terms)))


@pytest.mark.parametrize("policy", ["UCB1", "PatientThompson"])
def test_inverse_weighting_is_unbiased(tmp_path, clock, policy):
    """Rates rise while the policy turns to green: plain means are wrong, weighted ones are not.

    4.5 standard errors: a false alarm below 7e-6 for each of six. The negative control weighs with
    the shares that the arms had on the whole.
    """
    with live.open(str(tmp_path / "shop.db"), clock=clock) as shop:
        handle = shop.experiment(
            "button",
            ARMS,
            policy=policy,
            shares={"minimum": 0.1, "per_day": 0.05},
            sticky=False,
            seed=9,
        )
        made = run(handle, clock, 20_000, seed=2)
        assert check(shop.store)["wrong"] == []
    logged = [p for _, p, _ in made]
    assert all(abs(inverse_weighted(made, arm, logged)) < 4.5 for arm in ARMS)
    counts = Counter(shown for shown, _, _ in made)
    overall = [counts[shown] / len(made) for shown, _, _ in made]
    assert max(abs(inverse_weighted(made, arm, overall)) for arm in ARMS) > 6


def test_shares_move_slowly(tmp_path, clock):
    """The share of an arm in 1000 decisions a day moves by at most the cap; without it, at once."""
    moves = {}
    for per_day in (0.05, None):
        kept = {"minimum": 0.1}
        if per_day is not None:
            kept["per_day"] = per_day
        with live.open(str(tmp_path / f"{per_day}.db"), clock=clock) as shop:
            handle = shop.experiment(
                "button", ARMS[:2], policy="UCB1", shares=kept, sticky=False, seed=3
            )
            days = []
            for _ in range(12):
                clock.now += DAY
                made = decide_many(handle, 1000)
                convert_many(handle, [one for one in made if one.arm == "blue"])
                days.append(np.mean([chance_of_blue(one) for one in made]))
            moves[per_day] = np.max(np.abs(np.diff([0.5, *days])))
            assert check(shop.store)["wrong"] == []
    noise = 4.5 * np.sqrt(0.25 / 1000)
    assert moves[0.05] <= 0.05 + noise
    assert moves[None] > 0.2


def chance_of_blue(made):
    return made.propensity if made.arm == "blue" else 1.0 - made.propensity


def test_mixture_by_its_definition():
    """(S) and the largest lead, found by bisection; the arms' stretches of the draw have their
    shares' lengths."""
    random = np.random.default_rng(4)
    for _ in range(200):
        arms = int(random.integers(1, 5))
        parts = random.dirichlet(np.ones(arms + 1))
        floors = parts[:-1] * random.integers(0, 2, arms)
        free = 1.0 - floors.sum()
        book = ShareBook.of(floors, free, float(random.uniform(0.01, 0.5)))
        book.base[:] = random.dirichlet(np.ones(arms))
        book.own[:] = random.dirichlet(np.ones(arms))
        low, high = 0.0, 1.0
        for _ in range(60):
            lead = (low + high) / 2
            moved = free * lead * np.max(np.abs(book.own - book.base))
            if moved <= book.numbers[CAP]:
                low = lead
            else:
                high = lead
        assert lead_of(book) == pytest.approx(high, abs=1e-9)
        lead = lead_of(book)
        wanted = floors + free * (lead * book.own + (1 - lead) * book.base)
        got = [mixed_share(book, lead, arm) for arm in range(arms)]
        assert got == pytest.approx(wanted)
        assert book.numbers[FREE] == free
        ends = np.cumsum(got)
        for arm in range(arms):
            if got[arm] > 1e-6:
                middle = ends[arm] - got[arm] / 2
                assert shared_arm(book, lead, middle) == arm
                assert shared_arm(book, lead, ends[arm] - 1e-9) == arm


def test_another_seed_would_have_drawn_others(shop, clock):
    """What `check` counts: the draws follow from the seed and the line."""
    handle = shop.experiment(
        "button",
        ARMS,
        control="control",
        policy="Uniform",
        sticky=False,
        seed=3,
        shares={"control": 0.3, "minimum": 0.1, "per_day": 0.2},
    )
    run(handle, clock, 600, seed=3, batch=100)
    assert check(shop.store)["wrong"] == []
    other = handle.experiment._replace(seed=4)
    with shop.store.reading() as reader:
        assert PolicyState(reader, handle.experiment, use_snapshot=False).different == 0
        assert PolicyState(reader, other, use_snapshot=False).different > 100


def test_closing_and_opening_the_database_changes_nothing(tmp_path, clock):
    """Snapshots hold what shares remember."""
    made = []
    begin = clock.now
    for name, stops in (("once", 1), ("often", 6)):
        clock.now = begin
        found = []
        for _ in range(stops):
            with live.open(str(tmp_path / f"{name}.db"), clock=clock) as shop:
                handle = shop.experiment(
                    "button", ARMS, policy="UCB1", sticky=False, seed=3, shares={"per_day": 0.1}
                )
                for _ in range(12 // stops):
                    clock.now += DAY / 2
                    found += [(one.arm, one.propensity) for one in decide_many(handle, 50)]
        made.append(found)
    assert made[0] == made[1]


def test_close_and_reopen(shop):
    handle = shop.experiment("button", ARMS, control="control", seed=1)
    known = handle.decide("ann")
    handle.change(closed=True)
    again = handle.decide("ann")
    assert (again.id, again.arm, again.duplicate) == (known.id, known.arm, True)
    new = handle.decide("bob")
    assert (new.id, new.arm, new.propensity, new.outside) == (None, "control", None, "closed")
    assert handle.convert(unit="ann", order="A-1").counted
    assert not handle.convert(unit="bob", order="B-1").exposed
    assert sum(arm["pulls"] for arm in handle.report()["arms"]) == 1
    with pytest.raises(NotFoundError):
        handle.convert(new.id)
    handle.change(fallback="green")
    assert handle.decide("bob").arm == "green"
    handle.change(closed=False)
    assert handle.decide("bob").id is not None
    assert check(shop.store)["wrong"] == []


def test_closed_without_a_fallback(shop):
    handle = shop.experiment("button", ARMS, sticky=False, seed=1)
    known = handle.decide("ann")
    handle.change(closed=True)
    assert handle.decide("ann").arm == known.arm  # though units are not sticky
    with pytest.raises(ConflictError, match="closed"):
        handle.decide("bob")


def test_holdback(shop):
    """The same units are outside, whatever happens; 0.2 of 2000 within 4.5 standard errors."""
    handle = shop.experiment(
        "button", ARMS, control="control", policy="Uniform", seed=1, shares={"holdback": 0.2}
    )
    units = [f"unit-{number}" for number in range(2000)]
    commands = [handle.decide_command(unit) for unit in units]
    handle.journal.execute(commands)
    told = dict(zip(units, commands, strict=True))
    outside = {unit for unit, one in told.items() if one.outcome.outside == "holdback"}
    assert abs(len(outside) - 400) < 4.5 * np.sqrt(2000 * 0.2 * 0.8)
    assert {told[unit].outcome.arm for unit in outside} == {"control"}
    assert sum(arm["pulls"] for arm in handle.report()["arms"]) == 2000 - len(outside)
    handle.change(shares={"holdback": 0.4})
    commands = [handle.decide_command(unit) for unit in outside]
    handle.journal.execute(commands)
    assert all(one.outcome.outside for one in commands)
    with pytest.raises(RefusedError, match="needs the unit"):
        handle.decide()
    assert check(shop.store)["wrong"] == []


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"shares": {"minimum": 0.5}}, "at most 1"),
        ({"shares": {"minimum": -0.1}}, "in \\[0, 1\\]"),
        ({"shares": {"arms": {"red": 0.1}}}, "red"),
        ({"shares": {"control": 0.1}}, "needs a control"),
        ({"shares": {"holdback": 0.1}}, "fallback"),
        ({"shares": {"holdback": 1.0}, "control": "blue"}, "below 1"),
        ({"shares": {"per_day": 0.0}}, "per_day"),
        ({"shares": {"share": 0.1}}, "share"),
        ({"shares": 0.1}, "named numbers"),
        ({"fallback": "red"}, "fallback"),
    ],
)
def test_what_is_refused(shop, settings, words):
    with pytest.raises(RefusedError, match=words):
        shop.experiment("button", ARMS, **settings)
