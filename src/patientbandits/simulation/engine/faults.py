"""Errors of a policy's own methods, explained by method and line."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from numba.core.errors import NumbaError

from patientbandits._util.codegen import FILE
from patientbandits.errors import InputError
from patientbandits.policies.base import Policy
from patientbandits.policies.rule import HOOKS

FAULTS = (ArithmeticError, IndexError, ValueError)
"""Undefined in compiled code: divisions by zero, logarithms of 0, indices beyond an array."""

SOURCES = Path(__file__).resolve().parents[2]
COLOUR = re.compile("\x1b\\[[0-9;]*m")
PLACE = re.compile(r'File "([^"]+)", line (\d+)')
FUNCTION = re.compile(r"<function (?:[\w.<>]+\.)?(\w+) at")


def compile_fault(policy: Policy, error: NumbaError) -> InputError:
    """The error of a method that cannot be compiled, with the first reason that numba gives."""
    text = COLOUR.sub("", str(error))
    lines = [line.strip() for line in text.splitlines()]
    reason = next(
        (line for line in lines if line and not line.startswith("Failed in nopython")), ""
    )
    return InputError(
        f"{policy.owner}: its methods must be plain numerical Python that numba can compile; "
        f"got: {reason}{compile_place(policy, text)}"
    )


def compile_place(policy: Policy, text: str) -> str:
    """`` (index, line 12 of mine.py)``, or nothing if numba's message does not say."""
    named = next((name for name in FUNCTION.findall(text) if name in HOOKS), None)
    places = [place for place in PLACE.findall(text) if is_theirs(place[0], policy)]
    code = getattr(getattr(type(policy), named or "", None), "__code__", None)
    if not places and code is not None:  # numba says only who called the method
        places = [(code.co_filename, code.co_firstlineno)]
    if not places:
        return ""
    file, line = places[0]
    method = named or method_at(policy, int(line))
    where = f"line {line} of {Path(file).name}"
    return f" ({method}, {where})" if method else f" ({where})"


def is_theirs(file: str, policy: Policy) -> bool:
    """True if the file may be at fault: not the package's, unless the policy is."""
    home = getattr(sys.modules[type(policy).__module__], "__file__", None) or ""
    ours = Path(file).resolve().is_relative_to(SOURCES)
    return not file.startswith(FILE) and (not ours or Path(home).resolve().is_relative_to(SOURCES))


def method_at(policy: Policy, line: int) -> str | None:
    """The hook of the policy's class that holds this line."""
    for name in HOOKS:
        code = getattr(getattr(type(policy), name, None), "__code__", None)
        if code is None:
            continue
        lines = [number for _, _, number in code.co_lines() if number is not None]
        if min(lines) <= line <= max(lines):
            return name
    return None


def run_fault(policy: Policy, error: Exception) -> InputError:
    """The error of an interpreted run that failed."""
    frames = list(frames_of(error))
    method = next((name for name, _, _ in frames if name in HOOKS), "a method")
    _, place, _ = frames[-1]
    at = next((round_ for name, _, round_ in frames if name == "kernel" and round_), "")
    return InputError(
        f"{policy.owner}: {method} must be defined for all that it is given; "
        f"got {type(error).__name__}: {error} ({place}{at})."
    )


def frames_of(error: Exception) -> Iterator[tuple[str, str, str]]:
    """(function, line and file, round and run) of each step of the traceback, outermost first."""
    traceback = error.__traceback__
    while traceback is not None:
        code = traceback.tb_frame.f_code
        place = f"line {traceback.tb_lineno} of {Path(code.co_filename).name}"
        yield code.co_name, place, round_of(traceback.tb_frame)
        traceback = traceback.tb_next


def round_of(frame: FrameType) -> str:
    """``, round 3 of run 0`` in the frame of an episode's kernel."""
    names: dict[str, Any] = frame.f_locals
    if not {"t", "run"} <= names.keys():
        return ""
    return f", round {names['t']} of run {names['run']}"
