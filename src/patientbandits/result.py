"""What a simulation gives: `Result`, its file, and paired differences between two of them."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from patientbandits.errors import InputError, require
from patientbandits.files import CHECKSUM_LENGTH, checksum, json_default, write_atomically
from patientbandits.policies import Policy
from patientbandits.problem import Problem
from patientbandits.registry import policy_from, problem_from
from patientbandits.statistics import LEVEL, FloatArray, mean_interval

SAME_WORLDS = ("problem", "horizon", "runs", "first_run", "seed")
"""The settings that two results must share for their runs to be paired."""

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


@dataclass(frozen=True)
class Result:
    """The outcome of `simulate`."""

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

    @property
    def label(self) -> str:
        if self.policy is None:
            return str(self.settings["policy"]["policy"])
        return self.policy.label

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

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file; it appears complete or not at all.

        It is an .npz file, the same to the last byte whenever it is written. Its last 64
        characters, in the place of the archive's comment, are the SHA-256 of all before them.
        """
        arrays: dict[str, Any] = {"rounds": self.rounds, "regret": self.regret, "pulls": self.pulls}
        if self.trace is not None:
            arrays["trace"] = self.trace
        settings = np.array(json.dumps(self.settings, default=json_default))
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
