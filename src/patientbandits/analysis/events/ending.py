"""The time as of which is counted, and dates without a time of day."""

from __future__ import annotations

from typing import Any

from patientbandits._util.durations import DAY, spoken
from patientbandits.analysis.events.columns import EXPOSURES, ORDERS
from patientbandits.analysis.events.parsing import MICRO, set_aside, time_of
from patientbandits.errors import InputError

SILENCE = 30
"""Orders seem to have ended if none has come for so many times their usual distance."""


def in_whole_days(database: Any) -> list[str]:
    """If one of the tables has dates only, both are counted in days: otherwise an order of the
    same day would seem to be before its exposure."""
    for kind in (EXPOSURES, ORDERS):
        if database.execute(f"SELECT coalesce(bool_and(dated), false) FROM {kind}").fetchone()[0]:
            break
    else:
        return []
    for table in (EXPOSURES, ORDERS):
        database.execute(
            f"UPDATE {table} SET time = epoch_us(date_trunc('day', to_timestamp(time / {MICRO})))"
        )
    return [f"The {kind} have dates without a time of day: all times are counted in whole days."]


def in_equal_days(database: Any) -> list[str]:
    """As `in_whole_days`, by days of 24 hours each: where clocks are put back, a day has 25."""
    notes = in_whole_days(database)
    if notes:
        for table in (EXPOSURES, ORDERS):
            day = f"CAST(CAST(to_timestamp(time / {MICRO}) AS DATE) AS TIMESTAMP)"
            database.execute(f"UPDATE {table} SET time = epoch_us({day})")
        database.execute("SET TimeZone = 'UTC'")
    return notes


def cut_at_end(database: Any, owner: str, as_of: object, exposures: str, orders: str) -> int:
    """The end in microseconds; rows after it are set aside."""
    if as_of is None:
        latest = database.execute(
            "SELECT max(time) FROM (SELECT time FROM exposures UNION ALL SELECT time FROM orders)"
        )
        return int(latest.fetchone()[0])
    zone = database.execute("SELECT current_setting('TimeZone')").fetchone()[0]
    told = database.execute(
        f"SELECT {time_of('t', 'VARCHAR', zone, None)} FROM (SELECT ? AS t)", [str(as_of)]
    )
    end = told.fetchone()[0]
    if end is None:
        raise InputError(f"{owner}: as_of must be a date or a time; got as_of={as_of!r}.")
    for kind, label in ((EXPOSURES, exposures), (ORDERS, orders)):
        set_aside(
            database,
            kind,
            source=label,
            broken=f"time > {end}",
            shown="time_text",
            field="time",
            rule=f"time must not be after {as_of}",
            reason="after the end",
        )
    if not database.execute("SELECT count(*) FROM exposures").fetchone()[0]:
        raise InputError(f"{owner}: as_of must not be before all exposures; got as_of={as_of!r}.")
    return int(end)


def orders_end_early(database: Any, end: int) -> list[str]:
    """A word if no order has come for much longer than usual before the end."""
    count, first, last = database.execute(
        "SELECT count(*), min(time), max(time) FROM orders"
    ).fetchone()
    if count < 2:
        return []
    usual = (last - first) / (count - 1)
    silence = end - last
    if silence < max(SILENCE * usual, DAY * MICRO):
        return []
    day = database.execute(f"SELECT strftime(to_timestamp({last} / {MICRO}), '%Y-%m-%d %H:%M')")
    return [
        f"The last order is of {day.fetchone()[0]}, {spoken(silence / MICRO)} before the last "
        "exposure. If the table of orders ends there, say so with as_of: otherwise these "
        "exposures count as having sold nothing."
    ]
