"""Results of simulations: `Result`, its file, and paired differences between two of them.

A result leaves for other tools by `Result.to_pandas` and `Result.plot`.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from patientbandits._util.files import CHECKSUM_LENGTH, checksum, json_default, write_atomically
from patientbandits.errors import InputError, choice, require
from patientbandits.inference import LEVEL, FloatArray, mean_interval
from patientbandits.policies import Policy
from patientbandits.policies.registry import policy_from, problem_from
from patientbandits.problems import Problem

SAME_WORLDS = ("problem", "horizon", "runs", "first_run", "seed")
"""The settings that two results must share for their runs to be paired."""

PLOTTED = ("regret", "pulls", "trace")
"""The quantities that `Result.plot` draws."""

UNREADABLE = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    EOFError,
    RuntimeError,
    zipfile.BadZipFile,
)
"""What reading a damaged or foreign file may raise."""

Built = TypeVar("Built")


@dataclass(frozen=True)
class Difference:
    """Regret of one policy minus another's, run by run in the same worlds."""

    rounds: NDArray[np.int64]
    values: FloatArray
    """(runs, rounds)"""

    def mean(self) -> FloatArray:
        return self.values.mean(axis=0)

    def interval(self, level: float = LEVEL) -> tuple[FloatArray, FloatArray]:
        return mean_interval(self.values, level)


@dataclass(frozen=True, repr=False)
class Result:
    """The outcome of `simulate`.

    result[run]         regret of one run, at the recorded rounds
    result[run, round]  its regret at one recorded round
    result[:, round]    regret at this round, run by run

    Runs are counted from 0, and taken as Python takes places in a list. Rounds go by their number:
    ``result[:, 100:500]`` has the recorded rounds from 100 to 500, both included.
    """

    rounds: NDArray[np.int64]
    """the recorded rounds; the last is the horizon"""
    regret: FloatArray
    """(runs, rounds): sum over arms of gap * pulls"""
    pulls: NDArray[np.int64]
    """(runs, arms), at the horizon"""
    trace: FloatArray | None
    """(runs, rounds): what the policy's `trace` gives, if it has one"""
    settings: dict[str, Any]
    """problem, policy, horizon, runs, first_run, seed, anytime and versions, as plain data"""
    problem: Problem | None = field(default=None, repr=False)
    """None if it was loaded from a file and uses a law of your own"""
    policy: Policy | None = field(default=None, repr=False)
    """None if it was loaded from a file and is a policy of your own"""
    counts: NDArray[np.int32] | None = field(default=None, repr=False)
    """(runs, rounds, arms): pulls over time, see `pulls_over_time`; not written to files"""

    def __repr__(self) -> str:
        runs, _ = self.regret.shape
        mean = float(self.final.mean())
        return (
            f"Result({self.label}: {runs} x {int(self.rounds[-1])} rounds, "
            f"{self.pulls.shape[1]} arms, regret {mean:.4g})"
        )

    def __len__(self) -> int:
        """The number of runs."""
        return len(self.regret)

    def __iter__(self) -> Iterator[FloatArray]:
        """Regret, run by run."""
        return iter(self.regret)

    def __getitem__(self, place: Any) -> Any:
        run = place
        round_: Any = slice(None)
        if isinstance(place, tuple):
            require(len(place) == 2, "Result", "result[run, round] takes two places", place=place)
            run, round_ = place
        try:
            rows = self.regret[run]
        except IndexError:
            raise InputError(
                f"Result: run must be one of the {len(self)}; got run={run!r}."
            ) from None
        return rows[..., self._columns(round_)]

    def _columns(self, round_: Any) -> Any:
        """The columns in which the round, or the rounds of a slice, are recorded."""
        if isinstance(round_, slice):
            require(
                round_.step is None, "Result", "rounds are taken without a step", step=round_.step
            )
            first = 0 if round_.start is None else np.searchsorted(self.rounds, round_.start)
            if round_.stop is None:
                return slice(first, None)
            return slice(first, np.searchsorted(self.rounds, round_.stop, side="right"))
        column = int(np.searchsorted(self.rounds, round_))
        recorded = column < len(self.rounds) and self.rounds[column] == round_
        require(recorded, "Result", "round must be one that was recorded", round=round_)
        return column

    @property
    def label(self) -> str:
        if self.policy is not None:
            return self.policy.label
        return str(self.settings.get("policy", {}).get("policy", "policy"))

    @property
    def final(self) -> FloatArray:
        """Regret at the horizon, run by run."""
        return self.regret[:, -1]

    def mean(self) -> FloatArray:
        """Mean regret at the recorded rounds."""
        return self.regret.mean(axis=0)

    def interval(self, level: float = LEVEL) -> tuple[FloatArray, FloatArray]:
        """Confidence interval of the mean regret at the recorded rounds, lower and upper end."""
        return mean_interval(self.regret, level)

    def minus(self, other: Result) -> Difference:
        """The paired difference: this policy's regret minus the other's, in the same worlds."""
        for name in SAME_WORLDS:
            mine = self.settings[name]
            others = other.settings[name]
            if mine != others:
                raise InputError(
                    f"Result.minus: both must have the same {name}; got {mine!r} and {others!r}."
                )
        require(
            np.array_equal(self.rounds, other.rounds),
            "Result.minus",
            "both must be recorded at the same rounds",
            rounds=(len(self.rounds), len(other.rounds)),
        )
        return Difference(rounds=self.rounds, values=self.regret - other.regret)

    def to_pandas(self) -> Any:
        """A pandas table with a line for every run and recorded round.

        Columns policy, run, round and regret, and trace if the policy has one. Runs have their
        numbers in the simulation: the first is ``first_run``.
        """
        try:
            import pandas
        except ImportError:
            raise InputError(
                "Result.to_pandas: pandas is needed; install patientbandits[pandas]."
            ) from None
        runs, rounds = self.regret.shape
        first_run = self.settings.get("first_run", 0)
        columns: dict[str, Any] = {
            "policy": self.label,
            "run": np.repeat(np.arange(first_run, first_run + runs), rounds),
            "round": np.tile(self.rounds, runs),
            "regret": self.regret.ravel(),
        }
        if self.trace is not None:
            columns["trace"] = self.trace.ravel()
        return pandas.DataFrame(columns)

    def plot(self, what: str = "regret", axis: Any = None, **style: Any) -> Any:
        """Draw "regret" with its 95 % band, "pulls" or the policy's "trace" over the rounds.

        On matplotlib's ``axis``, or on a new one; ``style`` goes to its `plot`. Returns the axis.
        Nothing is simulated: where the pulls over time were not kept, for they are many or the
        result is from a file, call `pulls_over_time` first.
        """
        from patientbandits.plotting import plot_means

        curves = self._curves(choice("Result.plot", "what", what, PLOTTED))
        return plot_means(axis, self.rounds, curves, ylabel=what, style=style)

    def _curves(self, what: str) -> dict[str, FloatArray]:
        """Curves of one of `PLOTTED`: name -> (runs, rounds)."""
        if what == "regret":
            return {self.label: self.regret}
        if what == "trace":
            if self.trace is None:
                raise InputError(f"Result.plot: {self.label} records no trace.")
            return {self.label: self.trace}
        if self.counts is None:
            raise InputError(
                "Result.plot: pulls over time must be kept, and this result has none; "
                "pb.pulls_over_time(result) plays it again and keeps them."
            )
        arms = range(self.counts.shape[2])
        return {f"arm {arm}": self.counts[:, :, arm].astype(float) for arm in arms}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file; it appears complete or not at all.

        It is an .npz file, the same to the last byte whenever it is written. Its last 64
        characters, in the place of the archive's comment, are the SHA-256 of all before them.
        """
        arrays: dict[str, Any] = {"rounds": self.rounds, "regret": self.regret, "pulls": self.pulls}
        if self.trace is not None:
            arrays["trace"] = self.trace
        settings = np.array(json.dumps(self.settings, default=json_default))
        # The comment is the last thing in a zip archive: it is put in with dashes, so that lengths
        # are right, and then written over with the checksum of all that comes before it.
        buffer = io.BytesIO()
        np.savez(buffer, settings=settings, **arrays)
        with zipfile.ZipFile(buffer, "a") as archive:
            archive.comment = b"-" * CHECKSUM_LENGTH
        content = buffer.getvalue()[:-CHECKSUM_LENGTH]
        write_atomically(path, content + checksum(content))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Result:
        """Read what `save` wrote; a damaged or foreign file is refused."""
        name = os.fspath(path)
        try:
            return cls._from_bytes(Path(path).read_bytes())
        except FileNotFoundError:
            raise InputError(f"Result.load: the file must exist; got {name!r}.") from None
        except UNREADABLE as error:
            raise InputError(
                f"Result.load: {name!r} is not a complete result file ({error})."
            ) from None

    @classmethod
    def _from_bytes(cls, content: bytes) -> Result:
        if checksum(content[:-CHECKSUM_LENGTH]) != content[-CHECKSUM_LENGTH:]:
            raise ValueError("its checksum is wrong")
        with np.load(io.BytesIO(content), allow_pickle=False) as data:
            settings = json.loads(str(data["settings"]))
            return cls(
                rounds=data["rounds"],
                regret=data["regret"],
                pulls=data["pulls"],
                trace=data.get("trace"),
                settings=settings,
                problem=_or_none(problem_from, settings["problem"]),
                policy=_or_none(policy_from, settings["policy"]),
            )


def join_runs(results: list[Result]) -> Result:
    """Results of consecutive runs of one simulation, as one."""
    first = results[0]
    if len(results) == 1:
        return first
    trace = None
    if traces := [result.trace for result in results if result.trace is not None]:
        trace = np.concatenate(traces)
    runs = sum(result.settings["runs"] for result in results)
    return Result(
        rounds=first.rounds,
        regret=np.concatenate([result.regret for result in results]),
        pulls=np.concatenate([result.pulls for result in results]),
        trace=trace,
        settings={**first.settings, "runs": runs},
        problem=first.problem,
        policy=first.policy,
    )


def _or_none(build: Callable[[Any], Built], data: Any) -> Built | None:
    try:
        return build(data)
    except InputError:
        return None
