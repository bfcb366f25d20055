"""Columns: found by presets, by name, and by what both tables share."""

from __future__ import annotations

from pathlib import Path

import pytest
from event_files import BEGIN, rows_add_up, write_rows

from patientbandits._util.durations import DAY
from patientbandits.analysis.events import read_events
from patientbandits.analysis.events.columns import EVENT_PRESETS
from patientbandits.errors import InputError

ONE_TABLE = {
    "segment": (
        "anonymous_id,event,timestamp,experiment_id,variation_id,order_id,revenue",
        ["a,Experiment Viewed,{0},exp,x,,", "a,Order Completed,{1},,,17,9.5"],
    ),
    "ga4": (
        "user_pseudo_id,event_name,event_timestamp,experiment_id,variation_id,transaction_id,purchase_revenue",
        ["a,experiment_viewed,{0}000000,exp,x,,", "a,purchase,{1}000000,,,17,9.5"],
    ),
    "amplitude": (
        "user_id,event_type,event_time,flag_key,variant,$insert_id,revenue",
        ["a,$exposure,{0},exp,x,1,", "a,revenue_amount,{1},,,17,9.5"],
    ),
    "wide": (
        "visitor_id,exposed_at,variant,order_time,amount",
        ["a,{0},x,{1},9.5", "b,{0},x,,"],
    ),
    "growthbook": ("", []),
    "stripe": ("", []),
}


@pytest.mark.parametrize("preset", EVENT_PRESETS)
def test_presets_on_one_table(tmp_path: Path, preset: str) -> None:
    heading, rows = ONE_TABLE[preset]
    if not rows:
        return  # has two tables: with pandas above
    filled = [row.format(BEGIN, BEGIN + 3600) for row in rows]
    filled.append(filled[-1].replace("a,", "other,", 1) if preset != "wide" else filled[0])
    path = write_rows(tmp_path / "events.csv", heading, filled)
    events = read_events(path, preset=preset)
    arm = events.arms[0]
    assert arm.name == "x"
    assert arm.delays[0] == 3600.0
    assert arm.order_values.tolist() == [9.5]
    rows_add_up(events)


def test_columns_can_be_told(tmp_path: Path) -> None:
    first = write_rows(tmp_path / "e.csv", "wer,wann,was", ["a,2026-01-01,x"])
    second = write_rows(tmp_path / "o.csv", "wer,bezahlt,betrag", ["a,2026-01-02,3"])
    with pytest.raises(InputError, match=r"e\.csv: a column for unit is needed, such as unit"):
        read_events(first, second)
    told = {"unit": "wer", "exposures.time": "wann", "variant": "was", "orders.time": "bezahlt"}
    assert read_events(first, second, columns=told).arms[0].delays.tolist() == [DAY]
    with pytest.raises(InputError, match="role of a column must be one of"):
        read_events(first, second, columns={**told, "colour": "was"})
    with pytest.raises(InputError, match=r"column for value must be one of .*betrag"):
        read_events(first, second, columns={**told, "value": "betrga"})


def test_a_unit_column_that_both_have_comes_first(tmp_path: Path) -> None:
    first = write_rows(
        tmp_path / "e.csv", "anonymous_id,user_id,time,variant", ["z9,a,2026-01-01,x"]
    )
    second = write_rows(tmp_path / "o.csv", "anonymous_id,time", ["z9,2026-01-02"])
    assert read_events(first, second).arms[0].delays.tolist() == [DAY]
