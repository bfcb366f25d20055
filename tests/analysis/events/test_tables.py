"""Tables: files and frames opened, and what is wrong with those that are none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from event_files import rows_add_up, tables, write_rows

import patientbandits as pb
from patientbandits._util.durations import DAY
from patientbandits.analysis.events import Events, read_events
from patientbandits.errors import InputError


def as_frames() -> tuple[Any, Any]:
    import pandas

    exposures = pandas.DataFrame(
        {
            "user_id": [1, 2, 3, 4],
            "timestamp": pandas.to_datetime(["2026-01-01"] * 4, utc=True),
            "variation_id": ["0", "1", "0", "1"],
        }
    )
    orders = pandas.DataFrame(
        {
            "user_id": [2, 4],
            "timestamp": pandas.to_datetime(["2026-01-02", "2026-01-03"], utc=True),
            "value": [10.0, None],
        }
    )
    return exposures, orders


def check_frames(events: Events) -> None:
    assert events.names == ["0", "1"]
    assert events.control == "0"
    assert events.arms[1].delays.tolist() == [DAY, 2 * DAY]
    assert events.arms[1].order_values[0] == 10.0
    assert np.isnan(events.arms[1].order_values[1])
    rows_add_up(events)


def test_pandas_arrow_duckdb_and_parquet(tmp_path: Path) -> None:
    import duckdb
    import pyarrow

    exposures, orders = as_frames()
    check_frames(read_events(exposures, orders, preset="growthbook"))
    arrow = [pyarrow.Table.from_pandas(frame) for frame in (exposures, orders)]
    check_frames(read_events(*arrow))
    database = duckdb.connect()
    check_frames(read_events(database.from_arrow(arrow[0]), database.from_arrow(arrow[1])))
    for frame, name in ((exposures, "e.parquet"), (orders, "o.parquet")):
        frame.to_parquet(tmp_path / name)
    check_frames(read_events(tmp_path / "e.parquet", str(tmp_path / "o.parquet")))


def test_refuses_what_is_no_table(tmp_path: Path) -> None:
    good, _ = tables(tmp_path, [("a", 0, "x")], [("a", 5, 1.0, "1")])
    with pytest.raises(InputError, match="the file must exist; got"):
        read_events(tmp_path / "missing.csv", good)
    with pytest.raises(InputError, match="a path or a table is needed; got list"):
        read_events([1, 2], good)
    with pytest.raises(InputError, match="a table of orders is needed"):
        read_events(good)
    empty = tmp_path / "empty.csv"
    empty.write_text("")
    with pytest.raises(InputError, match="a line with the names of the columns is needed"):
        read_events(empty, good)
    twice = write_rows(tmp_path / "twice.csv", "unit,unit,time,variant", [])
    with pytest.raises(InputError, match="a name of its own; got 'unit' twice"):
        read_events(twice, good)
    only_names = write_rows(tmp_path / "names.csv", "unit,time,variant", [])
    with pytest.raises(InputError, match="at least one row of exposures is needed"):
        read_events(only_names, good)
    broken = tmp_path / "broken.parquet"
    broken.write_text("no parquet")
    with pytest.raises(InputError, match="the file must be a readable table"):
        read_events(broken, good)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (b"unit,Unit,time,variant\na,b,1767225600,x\n", "line 1.*'unit' and 'Unit'"),
        (b"unit,time,variant\ra,1767225600,x\r", "line 1: lines must end with a line feed"),
        (b"unit,time,variant\na,b,c,d\n", r"e.csv, line 2: a row must have 3 columns"),
        (b"unit,time,variant\na,31.01.2026,x\n", "Name another format with time_format"),
        (b",".join(b"c%d" % place for place in range(99)) + b"\n", "c19 and 79 more"),
    ],
)
def test_what_is_wrong_with_a_file_is_told(write, text, rule):
    with pytest.raises(pb.InputError, match=rule):
        pb.read_events(write("e.csv", text), write("o.csv", "unit,time\na,1767225600\n"))
