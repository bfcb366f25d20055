"""Questions asked with every batch are answered from an index: their cost must not grow with the
log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from patientbandits import live
from patientbandits.live.log.records import CreditLine, WithdrawalLine
from patientbandits.live.storage import queries
from patientbandits.live.storage.sqlite import SQLiteStore

pytestmark = pytest.mark.slow


class Explained(SQLiteStore):
    """Explains every question instead of answering it."""

    plans: list[str]

    def rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        if hasattr(self, "plans"):
            self.plans += [
                row[3] for row in super().rows(f"EXPLAIN QUERY PLAN {statement}", *values)
            ]
            return []
        return super().rows(statement, *values)


@pytest.fixture
def store(tmp_path: Any) -> Iterator[Explained]:
    found = Explained(tmp_path / "shop.db")
    found.plans = []
    yield found
    found.close()


@pytest.mark.parametrize(
    ("column", "values"), [("seq", [1, 2]), ("key", ["a", "b"]), ("unit", ["a"])]
)
def test_decided(store: Explained, column: str, values: list[Any]) -> None:
    store.decided(1, column, values)
    assert any(f"{column}=?" in plan for plan in store.plans)
    narrow(store.plans)


def test_lines(store: Explained) -> None:
    store.lines(1, 1000)
    narrow(store.plans)


def narrow(plans: list[str]) -> None:
    """Every step looks up rows by more than the experiment's number, which all rows share."""
    steps = [
        plan for plan in plans if plan.startswith(("SEARCH", "SCAN")) and "json_each" not in plan
    ]
    assert steps
    for step in steps:
        assert step.startswith("SEARCH"), step
        assert "experiment=? AND" in step, step


@pytest.mark.parametrize("column", ["key", "unit"])
def test_postgres_searches_the_index_of_a_young_log(
    server: Any, column: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the server has statistics of a log, and after it has grown since."""
    with live.open(server.fresh(), units="clear") as shop:
        button = shop.experiment("button", ["a", "b"], seed=1)
        shop.journal.execute(
            [button.decide_command(**{column: f"{column} {number}"}) for number in range(1000)]
        )
        wanted = [f"{column} {number}" for number in range(990, 1054)]
        found = shop.store.decided(1, column, wanted)
        assert [about.decision.seq for about in found] == list(range(992, 1002))
        explain = shop.store.rows
        plan: list[str] = []

        def explained(statement: str, *values: Any) -> list[tuple[Any, ...]]:
            plan.extend(row[0] for row in explain(f"EXPLAIN {statement}", *values))
            return []

        monkeypatch.setattr(shop.store, "rows", explained)
        shop.store.decided(1, column, wanted)
        monkeypatch.undo()
    assert any(f"log_{column}" in step for step in plan), plan
    assert not any("Filter" in step or "Seq Scan" in step for step in plan), plan


def test_what_a_batch_looks_up(store: Explained) -> None:
    """Whatever the log holds, each is found by an index of its own."""
    store.lines_about(1, CreditLine, [1, 2])
    store.lines_about(1, WithdrawalLine, [1, 2])
    for kind in ("order", "goal", "alias"):
        store.lines_of(1, kind, "key", ["a", "b"])
    for kind in ("decision", "order", "goal", "alias"):
        store.lines_of(1, kind, "unit", ["a", "b"])
    narrow(store.plans)


def test_changes_are_found_among_a_million_lines(store: Explained) -> None:
    store.changes(1)
    assert any("log_change" in plan for plan in store.plans), store.plans


@pytest.mark.parametrize(
    ("statement", "values"),
    [
        (queries.SPAN_OF_DECISIONS, (1, 0, 1, 0)),
        (queries.DECISIONS_BETWEEN, (1, 0, 5, 6)),
        (queries.CONVERSION_TIMES, (1, 5, 6)),
        (queries.CREDIT_TIMES, (1, 5, 6, 1)),
        (queries.ORDER_COUNTS, (1,)),
        (queries.NEVER_EXPOSED, (1,)),
        (queries.GOALS_OF_UNITS, (1,)),
        (queries.GOALS_OF_DECISIONS, (1,)),
        (queries.PAID, (1, 5, 6)),
        (queries.CREDITED, (1, 5, 6, 1)),
        (queries.LAST_RETRACTION, (1,)),
        (queries.LAST_SUPERSEDING, (1,)),
    ],
)
def test_a_report_never_reads_all_lines(
    store: Explained, statement: str, values: tuple[int, ...]
) -> None:
    """No step goes through the log by its primary key without the line's number."""
    store.rows(statement, *values)
    for plan in store.plans:
        assert "PRIMARY KEY (experiment=?)" not in plan, plan
        assert "SCAN log" not in plan, plan
    assert store.plans
