"""Writes data/v4.db, data/v4.sql (for PostgreSQL) and data/v4.json: a database of the fourth
schema, with orders, aliases, goals and exposures that were told, and what it must give.

Made once, with the last program of that schema; later versions must be able to go on with it.
python tests/live/make_v4.py
"""

from __future__ import annotations

import json
from pathlib import Path

from make_v1 import literals

from patientbandits import live
from patientbandits.live.storage.queries import TABLES
from patientbandits.live.storage.schema import MIGRATIONS, for_postgres

DATA = Path(__file__).parent / "data"


def fill(shop, clock) -> dict:
    """An experiment to which everything happens; what must come out."""
    button = shop.experiment(
        "button",
        ["red", "green", "blue"],
        policy="UCB1",
        window="1d",
        largest_value=20,
        goals=["order", "cart"],
        seed=4,
    )
    for number in range(40):
        clock[0] += 7.25 * (number % 5)
        unit = f"visitor {number}"
        if number % 4 == 3:
            button.expose(unit, ["red", "blue"][number % 2], propensity=0.5)
        else:
            button.decide(unit, key=f"key {number}")
        if number % 3 == 1:
            button.convert(unit=unit, order=f"order {number}", value=number % 7)
        if number % 5 == 2:
            button.convert(unit=unit, order=f"cart {number}", goal="cart")
        if number % 11 == 4:
            button.alias(unit, f"account {number}")
        if number % 12 == 10:
            button.retract(order=f"order {number}")
    report = button.report()
    return {
        "units": {f"visitor {n}": button.decide(f"visitor {n}")[:2] for n in range(40)},
        "arms": {arm["arm"]: [arm["pulls"], arm["value"]] for arm in report["arms"]},
        "carts": sum(arm["count"] for arm in report["goals"][0]["arms"]),
    }


def main() -> None:
    assert len(MIGRATIONS) == 4, "the fourth schema is history"
    path, clock = DATA / "v4.db", [1_700_000_000.0]
    path.unlink(missing_ok=True)
    with live.open(str(path), clock=lambda: clock[0]) as shop:
        told = fill(shop, clock)
        lines = [f"{for_postgres(statement)};" for step in MIGRATIONS for statement in step]
        with shop.store.reading() as reader:
            facts = {"program": "patientbandits live", "version": "4"}
            facts |= {name: reader.fact(name) for name in ("secret", "seal")}
            for name, value in facts.items():
                lines.append(f"INSERT INTO facts VALUES ('{name}', '{value}');")
            for table in ("experiments", "log"):
                for row in reader.rows(f"SELECT {TABLES[table]} FROM {table} ORDER BY 1, 2"):
                    lines.append(f"INSERT INTO {table} ({TABLES[table]}) VALUES ({literals(row)});")
    (DATA / "v4.sql").write_text("\n".join(lines) + "\n")
    (DATA / "v4.json").write_text(json.dumps({"clock": clock[0], **told}, indent=1) + "\n")


if __name__ == "__main__":
    main()
