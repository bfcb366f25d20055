"""Checks that find what is wrong with a database."""

from __future__ import annotations

import json

import apsw
import pytest
from damage import flips
from histories import busy

from patientbandits import live
from patientbandits.live.operations.checks import check
from patientbandits.live.operations.keys import Keyring
from patientbandits.live.storage import open_store


def test_check_finds_nothing_wrong(shop, clock):
    busy(shop, clock)
    (found,) = check(shop.store)["experiments"]
    assert found == {
        "experiment": "button",
        "decisions": 40,
        "conversions": 9,
        "retractions": 1,
        "changes": 2,
    }
    assert check(shop.store)["wrong"] == []


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (
            "UPDATE log SET arm = 1 - arm WHERE kind = 'decision' AND seq > 30",
            "are not those that the policy makes",
        ),
        ("DELETE FROM log WHERE seq = 30", "numbered"),
        ("UPDATE log SET time = time - 60000000 WHERE seq = 20", "time must not go back"),
        (
            "UPDATE log SET decision = 1 WHERE kind = 'conversion' AND decision = 4",
            "must be of decisions",
        ),
        (
            "DELETE FROM log WHERE kind = 'conversion' AND decision = 2",
            "retractions must be of conversions",
        ),
    ],
)
def test_check_finds_what_was_tampered_with(tmp_path, clock, damage, message):
    path = str(tmp_path / "shop.db")
    with live.open(path, clock=clock) as shop:
        busy(shop, clock)
    connection = apsw.Connection(path)
    connection.execute(damage)
    connection.close()
    store = open_store(path)
    wrong = check(store)["wrong"]
    store.close()
    assert any(message in finding for finding in wrong), wrong


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE log SET unit = NULL WHERE kind = 'alias'",
        "UPDATE log SET unit = NULL WHERE kind = 'order'",
        "UPDATE log SET key = NULL WHERE kind = 'alias'",
        "UPDATE log SET happened = NULL WHERE kind = 'order'",
        "UPDATE log SET value = NULL WHERE kind = 'order'",
        "UPDATE log SET settings = 'x' WHERE kind = 'change' AND seq > 1",
    ],
)
def test_check_says_what_is_wrong_however_a_line_is_damaged(tmp_path, clock, damage):
    """A damaged file keeps none of the table's promises; what follows from them must not fail."""
    path = str(tmp_path / "shop.db")
    with live.open(path, clock=clock) as shop:
        button, _ = busy(shop, clock)
        button.change(paused=False)
        button.alias("@u1", "account")
        button.convert(unit="@u2", order="A-1", value=0.5)
        assert check(shop.store)["wrong"] == []
    connection = apsw.Connection(path)
    connection.pragma("ignore_check_constraints", 1)
    connection.execute(damage)
    connection.close()
    store = open_store(path)
    wrong = check(store)["wrong"]
    store.close()
    assert wrong


def test_check_finds_a_wrong_snapshot(tmp_path, clock):
    path = str(tmp_path / "shop.db")
    with live.open(path, clock=clock) as shop:
        busy(shop, clock)
    with live.open(path, clock=clock) as shop:  # so that there is one to compare
        state = shop.journal.state(1)
        state.memory.tally.paid[0] += 1
        state.saved = 0
        with shop.store.transaction():
            shop.store.save_snapshot(1, state.snapshot())
        assert any("snapshot" in finding for finding in check(shop.store)["wrong"])


def test_check_on_the_command_line(tmp_path, clock, capsys):
    from patientbandits.cli import main

    path = str(tmp_path / "shop.db")
    with live.open(path, clock=clock) as shop:
        busy(shop, clock)
    assert main(["check", path]) == 0
    assert "40 decisions, 9 conversions" in capsys.readouterr().out
    connection = apsw.Connection(path)
    connection.execute("DELETE FROM log WHERE seq = 30")
    connection.close()
    with pytest.raises(SystemExit) as stop:
        main(["check", path, "--json"])
    assert stop.value.code == 1
    assert json.loads(capsys.readouterr().out)["wrong"]


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE experiments SET seed = seed + 1",
        "UPDATE experiments SET name = 'knopf'",
        "UPDATE keys SET scopes = 'admin'",
        "UPDATE keys SET revoked = NULL",
        "UPDATE keys SET note = 'x'",
        "UPDATE facts SET value = replace(value, 'a', 'b') WHERE name = 'secret'",
    ],
)
def test_check_finds_changes_of_what_is_not_chained(tmp_path, clock, damage):
    path = str(tmp_path / "shop.db")
    with live.open(path, clock=clock) as shop:
        busy(shop, clock)
        keyring = Keyring(shop.store, shop.journal)
        keyring.create(["read"], "a note")
        keyring.revoke(keyring.all()[0].id)
        assert check(shop.store)["wrong"] == []
    connection = apsw.Connection(path)
    connection.execute(damage)
    connection.close()
    store = open_store(path)
    wrong = check(store)["wrong"]
    store.close()
    assert any("not as they were written" in finding for finding in wrong), wrong


@pytest.mark.slow
def test_no_flipped_bit_does_harm_unseen(tmp_path, clock):
    path = tmp_path / "shop.db"
    with live.open(str(path), clock=clock) as shop:
        busy(shop, clock)
        Keyring(shop.store, shop.journal).create(["read", "convert"], "a note")
    fates = flips(path, tmp_path, 250)
    assert fates["found"] > 20
    assert fates["harmless"] > 20
    assert sum(fates.values()) == fates["found"] + fates["harmless"], fates


def test_check_counts_conversions_as_the_report_does(shop, clock):
    """Of visitors and by id; not what is late, withdrawn or in quarantine."""
    button = shop.experiment("button", ["a", "b"], window="1d", seed=1)
    made = [button.decide(f"v{number}") for number in range(10)]
    for number in range(6):
        button.convert(unit=f"v{number}", order=f"o{number}")
    button.convert(made[7].id)
    button.retract(order="o1")
    button.quarantine(unit="v2")
    clock.now += 2 * 86400
    button.convert(unit="v8", order="late")
    (found,) = check(shop.store)["experiments"]
    assert found["conversions"] == 5
    assert found["conversions"] == sum(arm["conversions"] for arm in button.report()["arms"])
