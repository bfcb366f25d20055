"""Writes data/v1.db, data/v1.sql (for PostgreSQL) and data/v1.json: a database of the first
schema, and what it must give.

Made once, with the first version that was released; later versions must be able to go on with it.
python tests/live/make_v1.py
"""

from __future__ import annotations

import json
from pathlib import Path

from psycopg.sql import Literal

import patientbandits as pb
from patientbandits import live
from patientbandits.live.storage.queries import TABLES
from patientbandits.live.storage.schema import MIGRATIONS, for_postgres

DATA = Path(__file__).parent / "data"
FACTS = {"program": "patientbandits live", "version": "1"}
ADAPT = pb.AdaptPatientBandits(
    c=0.7, alpha_floor=0.2, mean_floor=0.6, ratio=0.35, penalty=0.3, width="published"
)


def literals(row) -> str:
    return ", ".join(Literal(value).as_string() for value in row)


def fill(shop, clock) -> dict:
    """Three experiments to which everything happens; what must come out."""
    told = {}
    for name, policy, window in (
        ("thompson", pb.PatientThompson(), None),
        ("adapt", ADAPT, 3600.0),
        ("ducb", pb.DUCB(pb.Lomax(0.7, 60.0), 600), 7200.0),
    ):
        button = shop.experiment(
            name,
            ["red", "green", "blue"],
            policy=policy,
            window=window,
            sticky=name == "ducb",
            scale=20.0,
            seed=4,
        )
        made, paid = [], {}
        for j in range(60):
            clock[0] += 7.25 * (j % 5)
            made.append(button.decide(unit=f"visitor {j % 50}", key=f"{name}/{j}"))
            if j % 3 == 1 and not made[j - 1].duplicate:
                value = (j % 7) * 20.0 / 6
                button.convert(made[j - 1].id, value, at=None if j % 2 else clock[0] - 1.0)
                paid[made[j - 1].id] = round(value / 20.0 * 10**6)
            if j % 17 == 16:
                button.retract(made[j - 4].id if made[j - 4].id in paid else next(iter(paid)))
            if j == 30:
                button.change(retired=["green"])
            if j == 40:
                button.change(arms=["red", "green", "blue", "grey"], retired=[])
            if j == 45:
                button.change(paused=True)
                button.change(paused=False)
        late = next(
            decision for decision in made if decision.id not in paid and not decision.duplicate
        )
        clock[0] += 10_000.0
        button.convert(late.id, 20.0)
        state = shop.journal.state(button.experiment.id)
        told[name] = {
            "arms": list(state.settings.arms),
            "pulls": state.memory.tally.pulls.tolist(),
            "paid": state.memory.tally.paid.tolist(),
            "decisions": [
                [made[j].id, made[j].arm, f"visitor {j % 50}", f"{name}/{j}"]
                for j in range(len(made))
            ],
            "late": late.id,
        }
    return told


def main() -> None:
    assert len(MIGRATIONS) == 1, "the first schema is history"
    DATA.mkdir(exist_ok=True)
    path, clock = DATA / "v1.db", [1_700_000_000.0]
    path.unlink(missing_ok=True)
    with live.open(str(path), clock=lambda: clock[0]) as shop:
        told = fill(shop, clock)
        lines = [f"{for_postgres(statement)};" for statement in MIGRATIONS[0]]
        with shop.store.reading() as reader:
            secret = {"secret": reader.fact("secret")}
            lines += [
                f"INSERT INTO facts VALUES ('{name}', '{value}');"
                for name, value in {**FACTS, **secret}.items()
            ]
            for table in ("experiments", "log"):
                for row in reader.rows(f"SELECT {TABLES[table]} FROM {table} ORDER BY 1, 2"):
                    lines.append(f"INSERT INTO {table} ({TABLES[table]}) VALUES ({literals(row)});")
    (DATA / "v1.sql").write_text("\n".join(lines) + "\n")
    (DATA / "v1.json").write_text(
        json.dumps({"clock": clock[0], "experiments": told}, indent=1) + "\n"
    )


if __name__ == "__main__":
    main()
