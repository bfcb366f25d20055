"""What only the whole log tells is not read again for every few lines."""

from __future__ import annotations

from typing import Any

import pytest

from patientbandits.live.monitoring import alerts
from patientbandits.live.monitoring.alerts import (
    GROWTH,
    QUICK_LOOK,
    STANDS_FOR,
    WholeLog,
    arm_models,
)
from patientbandits.live.monitoring.watched_log import WatchedLog


class Looks:
    """Looks at an experiment, and counts how often all of its log is read."""

    def __init__(self, handle: Any, monkeypatch: pytest.MonkeyPatch, takes: float) -> None:
        self.handle = handle
        self.now = 0.0
        self.spent = 0.0
        self.readings = 0
        self.takes = takes
        self.whole = WholeLog(clock=lambda: self.now, used=lambda: self.spent)
        self.watched: WatchedLog | None = None
        read = alerts.verdict_on

        def verdict_on(*about: Any) -> Any:
            self.readings += 1
            self.spent += self.takes
            return read(*about)

        monkeypatch.setattr(alerts, "verdict_on", verdict_on)

    def look(self) -> list[Any]:
        handle = self.handle
        journal = handle.journal
        with journal.store.reading() as reader:
            if self.watched is None:
                self.watched = WatchedLog(handle.settings)
            self.watched.read_on(reader, handle.experiment.id)
            look = self.whole.look(
                reader, handle.experiment, handle.settings, self.watched.seq, journal.now()
            )
        return arm_models(look.curves, handle.settings, self.watched)

    def decide(self, number: int) -> None:
        self.handle.journal.execute([self.handle.decide_command() for _ in range(number)])


@pytest.fixture
def button(shop: Any) -> Any:
    found = shop.experiment("button", ["a", "b"], policy="Uniform")
    for _ in range(3):
        found.convert(found.decide().id)
    return found


def test_a_long_log_is_read_again_in_proportion_to_what_is_new(
    button: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = Looks(button, monkeypatch, takes=2 * QUICK_LOOK)
    looks.decide(640)
    looks.look()
    assert looks.readings == 1
    before = looks.watched.seq // GROWTH
    looks.decide(before)
    models = looks.look()
    assert looks.readings == 1
    assert sum(model.made.total for model in models) == 643 + before  # decisions are up to date
    looks.decide(1)
    looks.look()
    assert looks.readings == 2
    looks.look()
    assert looks.readings == 2


def test_it_is_read_again_after_an_hour_and_after_a_change(
    button: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = Looks(button, monkeypatch, takes=2 * QUICK_LOOK)
    looks.decide(200)
    looks.look()
    looks.now = STANDS_FOR - 1.0
    looks.look()
    assert looks.readings == 1
    looks.now = STANDS_FOR
    looks.look()
    assert looks.readings == 2
    button.change(window="30d")
    looks.look()
    assert looks.readings == 3


def test_what_is_quick_is_always_up_to_date(button: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = Looks(button, monkeypatch, takes=QUICK_LOOK / 2)
    for times in (1, 2, 3):
        looks.look()
        assert looks.readings == times
