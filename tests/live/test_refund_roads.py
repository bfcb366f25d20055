"""A shop with refunds has the same net numbers on every road: files, imports, HTTP."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import pytest
from command_line import as_json
from service import Running

from patientbandits.analysis.events import read_events
from patientbandits.live.operations.checks import check

pytestmark = pytest.mark.slow

START = 1_700_000_000
DAY = 86400
ARMS = ["a", "b"]
WINDOW = "10d"
LARGEST = 1000


def made_up_shop(seed: int):
    """(unit, time, arm) and (unit, time, value, order) with every kind of refund."""
    source = random.Random(seed)
    units = [f"u{number}" for number in range(80)]
    shown = [(unit, START + source.randrange(20 * DAY), source.choice(ARMS)) for unit in units]
    times = {unit: time for unit, time, _ in shown}
    times |= {f"never {number}": START for number in range(5)}
    bought = []
    for number in range(120):
        unit = source.choice(list(times))
        time = times[unit] + source.randrange(-2 * DAY, 13 * DAY)
        value = source.randrange(100, 9000) / 100
        bought.append((unit, time, value, f"o{number}"))
        kind = source.randrange(6)
        later = time + source.randrange(1, 15 * DAY)
        if kind == 0:
            bought.append((unit, later, -value, f"o{number}"))
        elif kind == 1:
            part = round(value / 3, 2)
            bought += [(unit, later + n, -part, f"o{number}") for n in range(2)]
        elif kind == 2:
            bought.append((unit, later, -round(value / 2, 2), f"refund {number}"))
        elif kind == 3:
            bought.append((unit, later, -1.5 * value, f"o{number}"))  # more than there was
    bought += [row for row in bought[::9] if row[2] < 0]  # once more
    return sorted(shown, key=lambda row: row[1]), sorted(bought, key=lambda row: row[1])


def written(folder: Path, name: str, heading: str, rows) -> Path:
    path = folder / name
    lines = [heading, *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    return path


def by_files(exposures: Path, orders: Path):
    events = read_events(exposures, orders, window=WINDOW)
    longest = 10 * DAY
    return {
        arm.name: (
            arm.decisions,
            int(arm.converted_within(longest).sum()),
            round(float(arm.paid_by_decision(longest).sum()), 2),
        )
        for arm in events.arms
    }


def by_report(report):
    return {
        arm["arm"]: (arm["pulls"], arm["conversions"], round(arm["value"], 2))
        for arm in report["arms"]
    }


def naive(shown, bought):
    """From the definition, order by order."""
    left, seen = {}, set()
    owner = {order: (unit, time) for unit, time, value, order in bought if value > 0}
    for row in bought:
        unit, time, value, order = row
        if value > 0:
            left[order] = value
        if value > 0 or row in seen:
            continue
        seen.add(row)
        earlier = [one for one in left if owner[one][0] == unit]
        candidates = [order] if order in owner else sorted(earlier, key=lambda o: -owner[o][1])
        for one in candidates:
            if left[one] + value > -0.001:
                left[one] = round(left[one] + value, 2)
                break
    arms = {arm: [0, 0, 0.0] for arm in ARMS}
    for unit, time, arm in shown:
        paid = sum(
            value
            for order, value in left.items()
            if owner[order][0] == unit and 0 <= owner[order][1] - time <= 10 * DAY
        )
        for place, amount in enumerate((1, int(paid > 0), paid)):
            arms[arm][place] += amount
    return {arm: (n, paid, round(money, 2)) for arm, (n, paid, money) in arms.items()}


@pytest.mark.parametrize("seed", range(2))
def test_every_road_leads_to_the_same_numbers(tmp_path: Path, seed: int) -> None:
    shown, bought = made_up_shop(seed)
    exposures = written(tmp_path, "exposures.csv", "unit,time,variant", shown)
    heading = "unit,time,value,order_id"
    orders = written(tmp_path, "orders.csv", heading, bought)
    expected = naive(shown, bought)
    assert by_files(exposures, orders) == expected

    db = tmp_path / "shop.db"
    options = ["--window", WINDOW, "--largest-value", LARGEST, "--db", db]
    for _ in range(2):  # repeating an import changes nothing
        as_json("import", "imported", exposures, orders, *options)
    as_json("import", "counts", exposures, orders, "--window", WINDOW, "--db", db)
    cuts = [START + place * DAY for place in (0, 9, 18, 60)]
    for night, (begin, end) in enumerate(pairwise(cuts)):
        new = [row for row in bought if (begin if night else 0) <= row[1] < end]
        dump = written(tmp_path, f"night{night}.csv", heading, new)
        so_far = [row for row in bought if row[1] < end]
        whole = written(tmp_path, f"until{night}.csv", heading, so_far)
        as_json("import", "dumps", exposures, dump, *options)
        as_json("import", "whole", exposures, whole, *options)
    nothing = written(tmp_path, "nothing.csv", heading, [])
    as_json("import", "http", exposures, nothing, *options)
    with Running(db) as server:
        one = "/v1/experiments/http"
        for unit, time, value, order in bought:
            named = {"order": order} if value > 0 or not order.startswith("refund") else {}
            body = {"unit": unit, "value": value, "at": time, **named}
            answer = server.api.post(f"{one}/conversions", json=body)
            assert answer.status_code in (200, 201, 404, 409), answer.text
        for name in ("imported", "dumps", "whole", "http"):
            report = server.api.get(f"/v1/experiments/{name}/report").json()
            assert by_report(report) == expected, name
        counts = by_report(server.api.get("/v1/experiments/counts/report").json())
        for arm, (pulls, conversions, _) in counts.items():
            assert (pulls, conversions) == expected[arm][:2]
    from patientbandits import live

    with live.open(str(db)) as shop:
        assert check(shop.store)["wrong"] == []
