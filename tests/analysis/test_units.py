"""Units that come back: intervals count units, not decisions."""

from __future__ import annotations

import numpy as np

from patientbandits import analyse, read_events


def shop(tmp_path, random, units=600, times=6, rate=0.2):
    """Every unit is exposed several times to its arm, and buys once, late; two equal arms."""
    exposures = ["unit,time,variant"]
    orders = ["unit,time"]
    for unit in range(units):
        start = 1_700_000_000 + 600 * unit
        for time in range(times):
            exposures.append(f"u{unit},{start + time},{'ab'[unit % 2]}")
        if random.random() < rate:
            orders.append(f"u{unit},{start + 3600}")
    orders.append(f"nobody,{1_700_000_000 + 600 * units + 10 * 86400}")
    for name, rows in (("exposures", exposures), ("orders", orders)):
        (tmp_path / f"{name}.csv").write_text("\n".join(rows) + "\n")
    return tmp_path / "exposures.csv", tmp_path / "orders.csv"


def test_several_decisions_of_a_unit_count_as_one(tmp_path):
    """40 shops in which every order counts for six decisions: the rate's interval holds in 95 %,
    and the lift's; if decisions counted it would be 60 %."""
    random = np.random.default_rng(3)
    held = lifts = certain = 0
    for _ in range(40):
        events = read_events(*shop(tmp_path, random), window="1d", credit="every")
        assert events.per_unit == 6.0
        analysis = analyse(events)
        arm = analysis.arms["b"]
        held += arm.low <= 0.2 <= arm.high
        lifts += arm.lift_low <= 0 <= arm.lift_high
        certain += analysis.verdict.certain
        assert arm.anytime_low <= arm.rate <= arm.anytime_high
    assert held >= 35
    assert lifts >= 35
    assert certain <= 2


def test_every_and_first_are_known_alike(tmp_path):
    """Six decisions of a unit say no more than one."""
    files = shop(tmp_path, np.random.default_rng(4))
    every = analyse(read_events(*files, window="1d", credit="every"))
    first = analyse(read_events(*files, window="1d", credit="first"))
    for name in "ab":
        one, other = every.arms[name], first.arms[name]
        wide = [np.log(arm.high / arm.low) for arm in (one, other)]
        assert 0.9 < wide[0] / wide[1] < 1.15
    assert "intervals count units" in " ".join(every.events.report.notes)
    assert first.events.per_unit == 1.0
