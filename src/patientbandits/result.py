"""What a simulation gives, and its files."""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from patientbandits.errors import InputError, number, require
from patientbandits.policies import POLICIES, Policy
from patientbandits.problem import Problem, construct, law_from, laws_from, problem_from

Array = NDArray[np.float64]
TEMPORARY = ".*.tmp"
"""Names of files that are being written."""


def mean_interval(values: Array, level: float) -> tuple[Array, Array]:
    """mean +- z sd / sqrt(runs) over the first axis: the normal interval, fit for 30 runs and more."""
    level = number("interval", "level", level)
    require(0 < level < 1, "interval", "level must be in (0, 1)", level=level)
    mean = values.mean(axis=0)
    if len(values) == 1:
        return np.full_like(mean, -np.inf), np.full_like(mean, np.inf)
    half = NormalDist().inv_cdf((1 + level) / 2) * values.std(axis=0, ddof=1) / np.sqrt(len(values))
    return mean - half, mean + half


@dataclass(frozen=True)
class Difference:
    """Regret of one policy minus another's, run by run in the same worlds; ``values`` is (runs, rounds)."""

    rounds: NDArray[np.int64]
    values: Array

    def mean(self) -> Array:
        return self.values.mean(axis=0)

    def interval(self, level: float = 0.95) -> tuple[Array, Array]:
        return mean_interval(self.values, level)


@dataclass(frozen=True)
class Result:
    """The outcome of `simulate`."""

    rounds: NDArray[np.int64]
    """the recorded rounds; the last is the horizon"""
    regret: Array
    """(runs, rounds): sum over arms of gap * pulls"""
    pulls: NDArray[np.int64]
    """(runs, arms), at the horizon"""
    trace: Array | None
    """(runs, rounds): what the policy's `trace` gives, if it has one"""
    settings: dict[str, Any]
    """problem, policy, horizon, runs, first_run, seed, anytime and versions, as plain data"""
    problem: Problem | None = field(default=None, repr=False)
    """None if it was loaded from a file and uses a law of your own"""
    policy: Policy | None = field(default=None, repr=False)
    """None if it was loaded from a file and is a policy of your own"""

    @property
    def label(self) -> str:
        return (
            self.policy.label if self.policy is not None else str(self.settings["policy"]["policy"])
        )

    @property
    def final(self) -> Array:
        """Regret at the horizon, run by run."""
        return self.regret[:, -1]

    def mean(self) -> Array:
        """Mean regret at the recorded rounds."""
        return self.regret.mean(axis=0)

    def interval(self, level: float = 0.95) -> tuple[Array, Array]:
        """Confidence interval of the mean regret at the recorded rounds, lower and upper end."""
        return mean_interval(self.regret, level)

    def minus(self, other: Result) -> Difference:
        """The paired difference: this policy's regret minus the other's, in the same worlds."""
        for name in ("problem", "horizon", "runs", "first_run", "seed"):
            if self.settings[name] != other.settings[name]:
                raise InputError(
                    f"Result.minus: both must have the same {name}; got {self.settings[name]!r} and {other.settings[name]!r}."
                )
        require(
            np.array_equal(self.rounds, other.rounds),
            "Result.minus",
            "both must be recorded at the same rounds",
            rounds=(len(self.rounds), len(other.rounds)),
        )
        return Difference(self.rounds, self.regret - other.regret)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file; it appears complete or not at all.

        It is an .npz file, the same to the last byte whenever it is written. Its last 64 characters, in the place of the
        archive's comment, are the SHA-256 of all before them.
        """
        buffer = io.BytesIO()
        arrays: dict[str, Any] = {"rounds": self.rounds, "regret": self.regret, "pulls": self.pulls}
        if self.trace is not None:
            arrays["trace"] = self.trace
        np.savez(buffer, settings=np.array(json.dumps(self.settings, default=plain)), **arrays)
        with zipfile.ZipFile(buffer, "a") as archive:
            archive.comment = b"-" * CHECKSUM
        content = buffer.getvalue()[:-CHECKSUM]
        write_atomically(path, content + checksum(content))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Result:
        """Read what `save` wrote; a damaged or foreign file is refused."""
        try:
            content = Path(path).read_bytes()
            if checksum(content[:-CHECKSUM]) != content[-CHECKSUM:]:
                raise ValueError("its checksum is wrong")
            with np.load(io.BytesIO(content), allow_pickle=False) as data:
                settings = json.loads(str(data["settings"]))
                trace = data.get("trace")
                rounds, regret, pulls = data["rounds"], data["regret"], data["pulls"]
                problem, policy = (
                    _or_none(problem_from, settings["problem"]),
                    _or_none(policy_from, settings["policy"]),
                )
        except FileNotFoundError:
            raise InputError(
                f"Result.load: the file must exist; got {os.fspath(path)!r}."
            ) from None
        except (
            OSError,
            ValueError,
            LookupError,
            TypeError,
            EOFError,
            RuntimeError,
            zipfile.BadZipFile,
        ) as error:
            raise InputError(
                f"Result.load: {os.fspath(path)!r} is not a complete result file ({error})."
            ) from None
        return cls(rounds, regret, pulls, trace, settings, problem, policy)


CHECKSUM = 64


def checksum(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def plain(value: Any) -> Any:
    """NumPy's numbers as Python's, for files."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} has no place in a file")


def join(results: list[Result]) -> Result:
    """Results of consecutive runs of one simulation, as one."""
    first = results[0]
    if len(results) == 1:
        return first
    settings = {**first.settings, "runs": sum(r.settings["runs"] for r in results)}
    trace = (
        None
        if first.trace is None
        else np.concatenate([r.trace for r in results if r.trace is not None])
    )
    regret, pulls = (
        np.concatenate([r.regret for r in results]),
        np.concatenate([r.pulls for r in results]),
    )
    return Result(first.rounds, regret, pulls, trace, settings, first.problem, first.policy)


def policy_from(data: Any, owner: str = "policy") -> Policy:
    """The policy that ``describe`` gave, or a study file names: {policy = "DUCB", law = {...}, window = 50}."""
    from patientbandits.errors import choice

    if isinstance(data, str):
        data = {"policy": data}
    if not isinstance(data, dict) or "policy" not in data:
        raise InputError(
            f'{owner}: a policy is needed, for example {{policy = "PatientBandits", alpha = 0.5}}; got {data!r}.'
        )
    kind = POLICIES[choice(owner, "policy", data["policy"], POLICIES)]
    nested = {
        "law": law_from,
        "laws": laws_from,
        "envelope": law_from,
        "base": policy_from,
        "guard": policy_from,
    }
    arguments = {
        name: nested[name](value, owner) if name in nested and value is not None else value
        for name, value in data.items()
        if name != "policy"
    }
    return construct(kind, arguments, owner)


def _or_none(build: Any, data: Any) -> Any:
    try:
        return build(data)
    except InputError:
        return None


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file so that a reader, or a crash, finds the old content or the new, never a part."""
    target = Path(path)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
