"""Random shops whose orders end at midnight while exposures run on: warned, and not biased."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from event_files import BEGIN, tables

from patientbandits._util.durations import DAY
from patientbandits.analysis.arms import counts_of
from patientbandits.analysis.events import read_events
from patientbandits.cli.main import main
from patientbandits.inference.posterior import posterior

pytestmark = pytest.mark.slow

SHOPS = 24
WINDOW = 2 * DAY


class Shop(NamedTuple):
    shown: list[tuple[str, int, str]]
    bought: list[tuple[str, int, float, str]]
    truth: dict[str, float]
    """the rate of each arm within the window"""
    midnight: str


def nightly_shop(seed: int) -> Shop:
    """A fast and a slow arm; orders up to midnight, exposures for 6 to 23 hours more."""
    source = np.random.default_rng(seed)
    whole = int(source.integers(5, 12))
    days = whole + source.uniform(6, 23) / 24
    visitors = source.integers(600, 1200)
    rate = dict(zip("fs", source.uniform(0.1, 0.2, 2), strict=True))
    # of the delays: log-normal, with the median in hours
    median = {"f": source.uniform(0.2, 2), "s": source.uniform(10, 20)}
    spread = source.uniform(0.4, 1.0)
    shown, bought = [], []
    for number, time in enumerate(np.sort(source.random(int(visitors * days))) * days * DAY):
        arm = "fs"[number % 2]
        shown.append((f"u{number}", int(time), arm))
        when = time + source.lognormal(np.log(median[arm] * 3600), spread)
        if source.random() < rate[arm] and when < whole * DAY:
            bought.append((f"u{number}", int(when), 1.0, f"o{number}"))
    draws = {arm: source.lognormal(np.log(median[arm] * 3600), spread, 100_000) for arm in "fs"}
    truth = {arm: rate[arm] * float(np.mean(draws[arm] <= WINDOW)) for arm in "fs"}
    return Shop(shown, bought, truth, f"2026-01-{whole + 1:02d}")


def rates_of(events) -> dict[str, tuple[float, float, float]]:
    counts = [counts_of(arm, WINDOW) for arm in events.arms]
    estimates = posterior(counts, window=WINDOW, level=0.95)
    return {
        arm.name: (one.rate.mean, one.rate.low, one.rate.high)
        for arm, one in zip(events.arms, estimates, strict=True)
    }


def test_with_complete_until_the_slow_arm_is_not_biased(tmp_path: Path) -> None:
    """And without it is: as if the orders were complete to the end."""
    ratios: dict[str, list[float]] = {"end": [], "found": [], "said": []}
    held = dict.fromkeys(ratios, 0)
    for seed in range(SHOPS):
        shop = nightly_shop(seed)
        folder = tmp_path / str(seed)
        folder.mkdir()
        files = tables(folder, shop.shown, shop.bought)
        said = read_events(*files, window="2d", complete_until=shop.midnight)
        found = read_events(*files, window="2d")
        assert found.report is not None
        assert "later exposures do not count yet" in found.report.warnings[0]  # in every case
        assert abs(found.end - said.end) < DAY / 4
        end = read_events(*files, window="2d", complete_until="end")
        for name, events in (("end", end), ("found", found), ("said", said)):
            mean, low, high = rates_of(events)["s"]
            ratios[name].append(mean / shop.truth["s"])
            held[name] += low <= shop.truth["s"] <= high
    mean = {name: float(np.mean(values)) for name, values in ratios.items()}
    error = float(np.std(ratios["said"])) / SHOPS**0.5
    assert mean["end"] < 0.95
    assert mean["end"] < 1 - 4 * error
    for name in ("said", "found"):
        assert abs(mean[name] - 1) < 0.03 + 2 * error, mean
        assert held[name] >= 0.85 * SHOPS
    assert held["end"] < held["said"]


@pytest.mark.parametrize("seed", [100, 101])
def test_page_command_line_and_json_warn(tmp_path: Path, capsys, seed: int) -> None:
    shop = nightly_shop(seed)
    files = [str(path) for path in tables(tmp_path, shop.shown, shop.bought)]
    run = ["analyse", *files, "--window", "2d", "--out", str(tmp_path / "out"), "--quiet"]
    main(run)
    assert "later exposures do not count yet" in capsys.readouterr().out
    page = (tmp_path / "out" / "analysis.html").read_text()
    assert "later exposures do not count yet" in page
    main([*run, "--complete-until", shop.midnight, "--json"])
    reading = json.loads(capsys.readouterr().out)["reading"]
    assert reading["completeness"]["source"] == "given"
    assert reading["completeness"]["until"] == BEGIN + (int(shop.midnight[-2:]) - 1) * DAY
    assert reading["warnings"] == []
    main(["import", "shop", *files, "--db", str(tmp_path / "shop.db"), "--quiet"])
    assert "! The last order is from" in capsys.readouterr().out
