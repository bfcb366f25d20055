"""Rehearsals: worlds like the data, policies in them, a sentence."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from patientbandits._util.durations import DAY
from patientbandits.analysis import Analysis, analyse
from patientbandits.analysis.events import Events
from patientbandits.analysis.rehearsal import Rehearsal, rehearse
from patientbandits.analysis.rehearsal.page import write_rehearsal
from patientbandits.analysis.rehearsal.players import (
    EVEN_SPLIT,
    WAITING,
    after_the_window,
    all_players,
)
from patientbandits.analysis.rehearsal.run import turning_days
from patientbandits.analysis.rehearsal.worlds import (
    DrawnWorld,
    draw_law,
    draw_worlds,
    inverse_curve,
)
from patientbandits.cli import main
from patientbandits.errors import InputError

TRAFFIC = 100.0


@pytest.fixture(scope="module")
def found() -> Analysis:
    """Two arms, 5 and 15 %, exponential delays with means of 1 and 4 days, a window of 10."""
    random = np.random.default_rng(1)
    arms = {}
    for name, rate, mean in (("control", 0.05, 1.0), ("slow", 0.15, 4.0)):
        ages = random.random(8000) * 40 * DAY
        delays = random.exponential(mean * DAY, 8000)
        converts = (random.random(8000) < rate) & (delays <= ages)
        arms[name] = (ages, np.where(converts, delays, np.inf))
    return analyse(Events.of(arms, window=10 * DAY))


@pytest.fixture(scope="module")
def played(found: Analysis) -> Rehearsal:
    return rehearse(found, traffic=TRAFFIC, days=30, policies=["Thompson"], draws=12, workers=1)


def test_drawn_worlds_are_like_the_data(found: Analysis) -> None:
    worlds = draw_worlds(found, TRAFFIC, draws=60, seed=3)
    means = np.array([world.problem.means for world in worlds])
    truth = [0.05 * (1 - math.exp(-10)), 0.15 * (1 - math.exp(-2.5))]
    assert means.mean(axis=0) == pytest.approx(truth, rel=0.1)
    assert np.all(means.std(axis=0) > 0)
    assert worlds[0].window_rounds == 1000
    within = np.array([law.cdf([200, 999, 1000]) for law in (w.problem.delays[1] for w in worlds)])
    share = (1 - math.exp(-0.5)) / (1 - math.exp(-2.5))
    assert within[:, 0].mean() == pytest.approx(share, abs=0.03)
    assert np.all(within[:, 2] == 1.0)  # nothing counts after the window


def test_the_law_is_the_lag_curve(found: Analysis) -> None:
    class Middle:
        """Draws the middle of the band."""

        def standard_normal(self) -> float:
            return 0.0

    curve = found.lag["slow"]
    law = draw_law(curve, TRAFFIC, Middle())  # type: ignore[arg-type]
    for day in (0.5, 2.0, 6.0):
        expected = float(np.interp(day * DAY, curve.times, curve.mean))
        assert law.cdf(round(day * TRAFFIC)) == pytest.approx(expected, abs=0.02)


def test_inverse_of_a_curve_with_flat_parts() -> None:
    times = np.array([1.0, 2.0, 3.0, 4.0])
    shares = np.array([0.2, 0.2, 0.6, 1.0])
    assert inverse_curve(times, shares, [0.1, 0.4, 1.0]) == pytest.approx([0.5, 2.0, 4.0], abs=0.51)


def test_everyone_told_nothing_plays() -> None:
    names = [player.name for player in all_players()]
    assert {"PatientThompson", "KLUCB", "Thompson", EVEN_SPLIT, WAITING} <= set(names)
    assert not {"DUCB", "PatientKL", "DelayedUCB1"} & set(names)


def test_waiting_is_told_at_the_end_of_the_window(found: Analysis) -> None:
    world = draw_worlds(found, TRAFFIC, draws=2, seed=1)[0]
    told = after_the_window(world)
    assert told.feedback == "reports"
    assert told.means == world.problem.means
    assert all(law.cdf([999, 1000]).tolist() == [0.0, 1.0] for law in told.delays)


def test_what_a_rehearsal_says(played: Rehearsal) -> None:
    parts = {part.player: part for part in played.parts}
    assert set(parts) == {"Thompson", EVEN_SPLIT, WAITING}
    split = parts[EVEN_SPLIT]
    gap = 0.15 * (1 - math.exp(-2.5)) - 0.05
    assert split.lost.mean == pytest.approx(gap / 2 * TRAFFIC * 30, rel=0.1)
    assert split.saved.mean == 0
    assert split.turn is None
    best = parts["Thompson"]
    assert best.saved.low > 0
    assert best.best_share > 0.6
    assert best.turn is not None
    for part in played.parts:
        assert sum(part.shares.values()) == pytest.approx(1)
        assert len(part.curve) == len(played.days) == 30
        assert part.curve[-1] == pytest.approx(part.lost.mean)
    assert played.words.startswith("Take Thompson: over 30 days it loses")
    assert played.best.player == "Thompson"


def test_the_same_seed_gives_the_same_numbers(found: Analysis, played: Rehearsal) -> None:
    again = rehearse(found, traffic=TRAFFIC, days=30, policies=["Thompson"], draws=12)
    assert again.data() == played.data()


def test_turning_days_from_the_definition() -> None:
    from patientbandits.problems.problem import Problem

    world = DrawnWorld(problem=Problem([0.1, 0.2]), window_rounds=1)
    days = np.arange(1.0, 31.0)
    split = 0.05 * TRAFFIC  # what an even split loses a day
    daily = np.where(days <= 10, split, 0.2 * split)
    lost = np.stack([np.cumsum(daily), np.cumsum(np.full(30, split))])
    turned = turning_days(lost, [world, world], days, TRAFFIC)
    assert 7 <= turned[0] <= 11  # a week's mean is below half of it once most of the week is
    assert turned[1] == math.inf


def test_the_page(played: Rehearsal, tmp_path: Path) -> None:
    page = write_rehearsal(played, tmp_path).read_text()
    assert played.words in page
    assert "https://" not in page
    assert page.count("data:image/svg+xml;base64,") == 2
    data = json.loads((tmp_path / "rehearsal.json").read_text())
    assert data["policy"] == "Thompson"


def test_refuses(found: Analysis) -> None:
    with pytest.raises(InputError, match="traffic must be a finite number > 0"):
        rehearse(found, traffic=0, days=3)
    with pytest.raises(InputError, match="policy must be one of"):
        rehearse(found, traffic=10, days=3, policies=["Thomson"])
    with pytest.raises(InputError, match="policies must name at least one besides those"):
        rehearse(found, traffic=10, days=3, policies=["even split"])
    silent = Events.of({"a": ([DAY] * 5, [math.inf] * 5), "b": ([DAY] * 5, [math.inf] * 5)})
    with pytest.raises(InputError, match="at least one conversion is needed"):
        rehearse(silent, traffic=10, days=3)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["example", str(tmp_path)]) == 0
    files = [str(tmp_path / "exposures.csv"), str(tmp_path / "orders.csv")]
    few = ["--window", "7d", "--traffic", "40/day", "--days", "5", "--draws", "2"]
    out = str(tmp_path / "out")
    arguments = ["rehearse", *files, *few, "--policies", "KLUCB", "--out", out]
    assert main(arguments) == 0
    assert "KLUCB" in capsys.readouterr().out
    assert (tmp_path / "out" / "rehearsal.html").exists()
    assert main([*arguments[:-2], "--out", out, "--traffic", "lots"]) == 2
