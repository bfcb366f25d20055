"""PullLines against a list with one line per pull."""

from __future__ import annotations

import random

import numpy as np
import pytest

from patientbandits.live.policy.memory import FIRST_ROOM, PullLines


def batches(pick, number, gap):
    """Lines in order, in batches of 1 to 100, other lines between and within them."""
    line = pick.choice([0, 1, 7])
    for _ in range(number):
        batch = []
        for _ in range(pick.choice([0, 1, 1, 64, 100])):
            line += 1
            if pick.random() < gap:
                line += pick.choice([1, 2, 30])
            batch.append(line)
        yield np.array(batch, np.int64)


@pytest.mark.parametrize("gap", [0.0, 0.02, 0.5])
def test_lines_and_pulls_against_a_list(gap):
    pick = random.Random(9)
    kept = PullLines()
    twin = []
    copies = []
    for batch in batches(pick, 200, gap):
        kept.add(batch)
        twin += batch.tolist()
        assert kept.made == len(twin)
        if not twin:
            continue
        pulls = np.array(pick.choices(range(1, len(twin) + 1), k=20))
        lines = np.array(twin)[pulls - 1]
        assert np.array_equal(kept.lines_of(pulls), lines)
        assert np.array_equal(kept.pulls_of(lines), pulls)
        copies.append((kept.copied(), len(twin)))
    assert (kept.runs.shape[1] > FIRST_ROOM) == (gap > 0.0)
    for copy, made in copies[::20]:  # they did not grow with it
        assert copy.made == made
        assert np.array_equal(copy.lines_of(np.arange(1, made + 1)), twin[:made])


def test_runs_go_on_where_they_were_saved():
    whole = PullLines()
    saved = PullLines()
    for batch in batches(random.Random(4), 100, 0.1):
        whole.add(batch)
        saved = PullLines.of(saved.runs, saved.made)
        saved.add(batch)
        assert np.array_equal(saved.runs, whole.runs)
        assert saved.made == whole.made


def test_consecutive_lines_take_no_room():
    kept = PullLines()
    for first in range(1, 100_000, 100):
        kept.add(np.arange(first, first + 100))
    assert kept.runs.tolist() == [[1], [1]]
