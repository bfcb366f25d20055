"""A comparison that is played: repeated, refused, on a cluster that is not there."""

from __future__ import annotations

from pathlib import Path

import pytest

import patientbandits as pb
from patientbandits import cli
from patientbandits.research import compare

pytestmark = pytest.mark.slow


TWO, FEW = (
    ("no_delay", "equal_means", "heterogeneous"),
    ("KLUCB", "UCB1", "PatientBandits", "Uniform", "DUCB"),
)


def test_again_plays_nothing_and_gives_the_same_bytes(
    small: tuple[Path, compare.Comparison], monkeypatch: pytest.MonkeyPatch
) -> None:
    out, _ = small
    before = {path: path.read_bytes() for path in out.rglob("*.*")}

    def refuse(*arguments: object, **options: object) -> None:
        raise AssertionError("nothing is to be played")

    monkeypatch.setattr(pb.Simulation, "play", refuse)
    compare.run(out, TWO, FEW, runs=8, seed=3)
    after = {path: path.read_bytes() for path in out.rglob("*.*")}
    assert after == before
    with pytest.raises(AssertionError):
        compare.run(out, TWO, FEW, runs=8, seed=4)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--problems", "homogenous"), "'homogeneous'"),
        (("--policies", "KLUBC"), "'KLUCB'"),
        (("--runs", "1"), "runs must be an integer >= 2"),
        (("--seed", "-1"), "seed must be an integer >= 0"),
        (("--problems", "no_delay", "no_delay"), "no_delay"),
        (("--study", "missing.toml"), "the file must exist"),
    ],
)
def test_bad_arguments_are_refused(
    arguments: tuple[str, ...],
    expected: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["compare", *arguments]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert len(told.err.splitlines()) == 1
    assert expected in told.err
    assert list(tmp_path.iterdir()) == []


def test_a_cluster_that_is_not_there_is_told_before_anything_is_written(tmp_path):
    from patientbandits.errors import InputError

    for where in ("nowhere", "tcp://127.0.0.1:1"):
        with pytest.raises(InputError, match="scheduler"):
            compare.run(tmp_path / "out", ["no_delay"], ["KLUCB"], 2, on=where)
        assert not (tmp_path / "out").exists()
