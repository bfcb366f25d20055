"""Results: statistics, files, refusals."""

from __future__ import annotations

import json
import os
import random
import zipfile
from dataclasses import dataclass

import numpy as np
import pytest
from cases import LAW, PROBLEMS
from scipy import stats

import patientbandits as pb

HEAVY = PROBLEMS["heavy tails"]


@pytest.fixture(scope="module")
def result():
    return pb.simulate(HEAVY, pb.PatientBandits(0.3), 100, 7, seed=3, record=[10, 50])


def test_statistics(result):
    assert result.rounds.tolist() == [10, 50, 100]
    assert result.regret.shape == (7, 3)
    np.testing.assert_allclose(result.regret[:, -1], result.pulls @ np.array(HEAVY.gaps))
    np.testing.assert_array_equal(result.pulls.sum(axis=1), 100)
    np.testing.assert_array_equal(result.final, result.regret[:, 2])
    np.testing.assert_allclose(result.mean(), [sum(column) / 7 for column in result.regret.T])
    low, high = result.interval(0.9)
    half = stats.norm.ppf(0.95) * stats.sem(result.regret, axis=0)
    np.testing.assert_allclose(low, result.mean() - half)
    np.testing.assert_allclose(high, result.mean() + half)
    one = pb.simulate(HEAVY, pb.UCB1(), 100, 1)
    assert np.all(np.isinf(one.interval()))  # one run says nothing about the spread


def test_interval_covers_the_mean():
    """95 % intervals from 40 runs, 300 times: between 91 and 98 % cover, error rate 1e-3.

    Intervals of 80 % must fail.
    """
    many = pb.simulate(HEAVY, pb.UCB1(), 60, 12_000, seed=1).regret[:, -1]
    for level, good in ((0.95, True), (0.8, False)):
        cover = 0
        for chunk in many.reshape(300, 40, 1):
            low, high = pb.Result(np.array([60]), chunk, chunk, None, {}).interval(level)
            cover += low[0] <= many.mean() <= high[0]
        assert (0.91 <= cover / 300 <= 0.98) == good


@pytest.mark.parametrize("record", [1, 7, 200, [3], [100, 3, 3], np.array([5, 9])])
def test_recorded_rounds(record):
    rounds = pb.simulate(HEAVY, pb.UCB1(), 100, 1, record=record).rounds
    expected = {1: [100], 7: [14, 29, 43, 57, 71, 86, 100], 200: list(range(1, 101))}
    assert rounds.tolist() == (
        expected[record] if isinstance(record, int) else sorted({*(int(t) for t in record), 100})
    )


def test_paired_difference(result):
    other = pb.simulate(HEAVY, pb.UCB1(), 100, 7, seed=3, record=[10, 50])
    difference = result.minus(other)
    np.testing.assert_array_equal(difference.values, result.regret - other.regret)
    np.testing.assert_allclose(difference.mean(), result.mean() - other.mean())
    low, high = difference.interval()
    half = stats.norm.ppf(0.975) * stats.sem(difference.values, axis=0)
    np.testing.assert_allclose([low, high], [difference.mean() - half, difference.mean() + half])


@pytest.mark.parametrize(
    ("word", "change"),
    [
        ("seed", {"seed": 4}),
        ("horizon", {"horizon": 101}),
        ("runs", {"runs": 8}),
        ("first_run", {"first_run": 1}),
        ("problem", {"problem": HEAVY.without_delays()}),
        ("recorded", {"record": [11, 50]}),
    ],
)
def test_only_the_same_worlds_are_paired(result, word, change):
    given = {
        "problem": HEAVY,
        "policy": pb.UCB1(),
        "horizon": 100,
        "runs": 7,
        "seed": 3,
        "record": [10, 50],
        **change,
    }
    with pytest.raises(pb.InputError, match=rf"^Result\.minus: both must .*{word}"):
        result.minus(pb.simulate(**given))


@dataclass(frozen=True)
class Mine(pb.Policy):
    scale: float

    def bonus(self, pulls, round):
        return self.scale / pulls


@pytest.mark.parametrize(
    ("problem", "policy"),
    [
        (HEAVY, pb.PatientBandits(0.3, bias="sum")),
        (PROBLEMS["mixed"], pb.AdaptPatientBandits(0.7, 0.2, 0.5, ratio=0.3, penalty=1)),
        (PROBLEMS["30 arms"].select([4, 1]), pb.DUCB(LAW, window=9)),
        (pb.Problem(np.array([0.5, 0.6]), pb.Fixed(np.int64(3))), pb.KLUCB(np.float32(0.5))),
    ],
)
def test_save_and_load(tmp_path, problem, policy):
    before = pb.simulate(problem, policy, 60, 3, seed=5, first_run=2, anytime=True)
    before.save(tmp_path / "a.npz")
    after = pb.Result.load(tmp_path / "a.npz")
    for name in ("rounds", "regret", "pulls", "trace"):
        np.testing.assert_array_equal(getattr(after, name), getattr(before, name))
    assert (after.problem, after.policy, after.label) == (problem, policy, policy.label)
    assert after.settings == json.loads(json.dumps(before.settings, default=float))
    assert {
        name: after.settings[name] for name in ("horizon", "runs", "first_run", "seed", "anytime")
    } == {
        "horizon": 60,
        "runs": 3,
        "first_run": 2,
        "seed": 5,
        "anytime": True,
    }
    assert set(after.settings["versions"]) == {"patientbandits", "python", "numpy", "numba"}
    again = pb.simulate(after.problem, after.policy, 60, 3, seed=5, first_run=2, anytime=True)
    np.testing.assert_array_equal(again.regret, before.regret)


def test_a_policy_of_your_own_is_not_restored(tmp_path):
    pb.simulate(HEAVY, Mine(0.5), 60, 2).save(tmp_path / "a.npz")
    after = pb.Result.load(tmp_path / "a.npz")
    assert after.policy is None
    assert after.label == "Mine"
    assert after.settings["policy"] == {"policy": "Mine", "scale": 0.5}


def test_damaged_files_are_refused(result, tmp_path):
    result.save(tmp_path / "good.npz")
    good, bad = (tmp_path / "good.npz").read_bytes(), tmp_path / "bad.npz"
    for length in [0, 1, 10, *range(100, len(good), 97), len(good) - 1]:
        bad.write_bytes(good[:length])
        with pytest.raises(pb.InputError, match=r"^Result\.load: .*is not a complete result file"):
            pb.Result.load(bad)
    pick = random.Random(1)
    for _ in range(400):  # one byte changed: refused, or it was one that does not matter
        at = pick.randrange(len(good))
        bad.write_bytes(good[:at] + bytes([good[at] ^ pick.randrange(1, 256)]) + good[at + 1 :])
        try:
            loaded = pb.Result.load(bad)
        except pb.InputError:
            continue
        assert loaded.settings == result.settings
        np.testing.assert_array_equal(loaded.regret, result.regret)


def test_foreign_files_are_refused(result, tmp_path):
    np.save(tmp_path / "array.npy", np.zeros(3))
    np.savez(tmp_path / "other.npz", x=np.zeros(3))
    np.savez(
        tmp_path / "empty.npz", settings=np.array("{}"), rounds=[1], regret=[[1.0]], pulls=[[1]]
    )
    np.savez(
        tmp_path / "list.npz", settings=np.array("[1]"), rounds=[1], regret=[[1.0]], pulls=[[1]]
    )
    np.savez(
        tmp_path / "pickle.npz",
        settings=np.array([{}], dtype=object),
        rounds=[1],
        regret=[[1.0]],
        pulls=[[1]],
    )
    (tmp_path / "text.npz").write_text("regret = 3\n")
    (tmp_path / "folder.npz").mkdir()
    files = sorted(tmp_path.iterdir())
    assert len(files) == 7
    for path in [*files, tmp_path / "missing.npz"]:
        with pytest.raises(pb.InputError, match=r"^Result\.load: [^\n]*$"):
            pb.Result.load(path)


@pytest.mark.parametrize("fails", ["replace", "fsync"])
def test_interrupted_write_leaves_the_old_file(result, tmp_path, monkeypatch, fails):
    path = tmp_path / "a.npz"
    pb.simulate(HEAVY, pb.UCB1(), 30, 2).save(path)
    old = path.read_bytes()

    def fail(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, fails, fail)
        with pytest.raises(KeyboardInterrupt):
            result.save(path)
    assert path.read_bytes() == old
    assert list(tmp_path.iterdir()) == [path]
    result.save(path)
    assert path.read_bytes() != old


def test_files_are_the_same_whenever_written_and_any_damage_is_seen(result, tmp_path):
    path = tmp_path / "a.npz"
    result.save(path)
    content = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}, (
            "no time in it"
        )
    pb.Result.load(path).save(tmp_path / "b.npz")
    assert (tmp_path / "b.npz").read_bytes() == content
    for position in range(0, len(content), 7):
        damaged = bytearray(content)
        damaged[position] ^= 1 << position % 8
        path.write_bytes(damaged)
        with pytest.raises(pb.InputError, match="not a complete result file"):
            pb.Result.load(path)
    for length in (0, 1, 63, 64, 65, len(content) // 2, len(content) - 64, len(content) - 1):
        path.write_bytes(content[:length])
        with pytest.raises(pb.InputError, match="not a complete result file"):
            pb.Result.load(path)


TABLE_PROBLEM = pb.Problem([0.2, 0.5, 0.9], [pb.Pareto(1.0), pb.Pareto(0.3), pb.NoDelay()])


@pytest.fixture(scope="module")
def four_runs() -> pb.Result:
    return pb.simulate(TABLE_PROBLEM, pb.UCB1(), 200, 4, seed=3, record=[10, 50, 100], first_run=2)


def test_a_result_is_shown_in_one_line(four_runs: pb.Result) -> None:
    assert (
        repr(four_runs)
        == f"Result(UCB1: 4 x 200 rounds, 3 arms, regret {four_runs.final.mean():.4g})"
    )


def test_indexing_by_run_and_round(four_runs: pb.Result) -> None:
    assert len(four_runs) == 4
    assert [run.tolist() for run in four_runs] == four_runs.regret.tolist()
    assert four_runs[1].tolist() == four_runs.regret[1].tolist()
    assert four_runs[-1, 50] == four_runs.regret[3, 1]
    assert four_runs[:, 200].tolist() == four_runs.final.tolist()
    assert four_runs[1:3, 50:200].tolist() == four_runs.regret[1:3, 1:].tolist()
    assert four_runs[0, :100].tolist() == four_runs.regret[0, :3].tolist()
    for place, rule in (
        (4, "run must be one of the 4; got run=4"),
        ((0, 51), "round must be one that was recorded; got round=51"),
        ((0, 201), "round must be one that was recorded"),
        ((0, slice(1, 9, 2)), "without a step"),
        ((0, 1, 2), "takes two places"),
    ):
        with pytest.raises(pb.InputError, match=rule):
            four_runs[place]


def test_to_pandas(four_runs: pb.Result) -> None:
    table = four_runs.to_pandas()
    assert list(table.columns) == ["policy", "run", "round", "regret"]
    assert table.shape == (16, 4)
    wide = table.pivot(index="run", columns="round", values="regret")
    assert wide.index.tolist() == [2, 3, 4, 5]
    np.testing.assert_array_equal(wide.to_numpy(), four_runs.regret)
    traced = pb.simulate(TABLE_PROBLEM, pb.AdaptPatientBandits(0.7, 0.2, 0.5), 60, 2, record=3)
    np.testing.assert_array_equal(traced.to_pandas()["trace"], traced.trace.ravel())
