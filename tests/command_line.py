"""Commands of the program, run in this process."""

from __future__ import annotations

import contextlib
import io
import json
import subprocess

from patientbandits.cli import main


def command(*arguments):
    """`patientbandits ARGUMENTS`, in this process."""
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(argument) for argument in arguments])
    return subprocess.CompletedProcess(
        arguments, code, out.buffer.getvalue().decode(), err.getvalue()
    )


def printed(*arguments):
    """What the command printed, which must have worked."""
    done = command(*arguments)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def as_json(*arguments):
    return json.loads(printed(*arguments, "--json"))
