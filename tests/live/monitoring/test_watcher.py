"""The watcher looks at every experiment now and then, whatever happens to one of them."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from patientbandits.live.monitoring import Watcher, watcher


def fails(experiment: int) -> str | None:
    return "it is broken"


def test_all_experiments_are_looked_at(
    shop: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """One that cannot be read is logged, and hides none of the others."""
    broken = shop.experiment("a-broken-one", ["a", "b"])
    shop.experiment("button", ["a", "b"])
    monkeypatch.setattr(shop.journal, "cause_of_failure", fails)
    watching = Watcher(shop.journal, every=0.0)
    look = watching._watch.look

    def look_at(experiment: Any) -> Any:
        if experiment == broken.experiment:
            raise ValueError("a damaged line")
        return look(experiment)

    monkeypatch.setattr(watching._watch, "look", look_at)
    with caplog.at_level(logging.ERROR, "patientbandits.live"):
        watching.look()
    assert watching.active == [("button", "failed", "")]
    assert [record.fields for record in caplog.records] == [{"experiment": "a-broken-one"}]


def test_looks_have_an_interval_and_deliveries_have_none(
    shop: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    done: list[str] = []
    monkeypatch.setattr(watcher.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(watcher, "deliver_due", lambda *_: done.append("deliver"))
    watching = Watcher(shop.journal, every=60.0)
    monkeypatch.setattr(watching, "look", lambda: done.append("look"))
    now[0] = 0.0  # machines have just started, too
    for now[0] in (0.0, 2.0, 59.9, 60.0, 61.0):
        watching.turn()
    assert done == ["look", "deliver", "deliver", "deliver", "look", "deliver", "deliver"]
