"""Writes data/v8.db, data/v8.sql (for PostgreSQL) and data/v8.json: a database of the eighth
schema, with promises, quarantine, hashed names and people whose units were given different arms.

Made once, with the last program of that schema; later versions must be able to go on with it.
python tests/live/make_v8.py
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
        "button", ["red", "green", "blue"], policy="UCB1", window="1d", largest_value=20, seed=8
    )
    for number in range(40):
        clock[0] += 7.25 * (number % 5)
        unit = f"visitor {number}"
        if number % 3 == 0:
            button.evaluate(unit, provisional=True)
        if number % 6 != 3:
            button.decide(unit, key=f"key {number}")
        if number % 4 == 1:
            button.convert(unit=unit, order=f"order {number}", value=number % 7)
    for number in range(0, 8, 2):
        for one in (number, number + 1):
            button.evaluate(f"promised {one}", provisional=True)
        button.alias(f"promised {number}", f"promised {number + 1}")
        button.decide(f"promised {number}")
    together = [f"visitor {number}" for number in range(20)]
    for number in range(0, 20, 2):
        button.alias(f"visitor {number}", f"visitor {number + 1}")
    for unit in together:
        button.decide(unit)
    button.quarantine(unit="visitor 25", note="a robot")
    button.change(retire=["green"])
    alone = {}
    for number in range(20, 40):
        if number != 25:
            alone[f"visitor {number}"] = button.decide(f"visitor {number}")[:2]
    report = button.report()
    return {
        "units": alone,
        "arms": {arm["arm"]: [arm["pulls"], arm["value"]] for arm in report["arms"]},
    }


def main() -> None:
    assert len(MIGRATIONS) == 8, "the eighth schema is history"
    path, clock = DATA / "v8.db", [1_700_000_000.0]
    path.unlink(missing_ok=True)
    with live.open(str(path), clock=lambda: clock[0]) as shop:
        told = fill(shop, clock)
        lines = [f"{for_postgres(statement)};" for step in MIGRATIONS for statement in step]
        with shop.store.reading() as reader:
            facts = {"program": "patientbandits live", "version": "8"}
            facts |= {name: reader.fact(name) for name in ("secret", "seal", "units")}
            for name, value in facts.items():
                lines.append(f"INSERT INTO facts VALUES ('{name}', '{value}');")
            for table in ("experiments", "log"):
                for row in reader.rows(f"SELECT {TABLES[table]} FROM {table} ORDER BY 1, 2"):
                    lines.append(f"INSERT INTO {table} ({TABLES[table]}) VALUES ({literals(row)});")
    written = [line for line in lines if line != ";"]
    (DATA / "v8.sql").write_text("\n".join(written) + "\n")
    (DATA / "v8.json").write_text(json.dumps({"clock": clock[0], **told}, indent=1) + "\n")


if __name__ == "__main__":
    main()
