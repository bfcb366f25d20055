"""Names of experiments, arms, units and keys, and scopes of keys.

Imports little: the command line starts with it.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Literal, get_args

from patientbandits.live.errors import RefusedError

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
LONGEST_TEXT = 200
UNPRINTABLE = ("Cc", "Cs")
"""Unicode's control characters and lone surrogates"""

KeyScope = Literal["decide", "expose", "convert", "read", "admin"]
"""``admin`` includes the others; ``decide`` with ``convert`` includes ``expose``."""

SCOPES: tuple[str, ...] = get_args(KeyScope)


def experiment_name(value: object) -> str:
    """The name of an experiment, checked: it becomes a part of a path."""
    if not isinstance(value, str) or not NAME.fullmatch(value):
        raise RefusedError(
            "experiment: a name must be 1 to 100 letters, digits, dots, dashes or underscores; "
            f"got {value!r}."
        )
    return value


def printable_text(what: str, value: object) -> str:
    """The text, checked: printable, and not too long."""
    if isinstance(value, str) and 1 <= len(value) <= LONGEST_TEXT:
        if value.isprintable():  # the common case, without a loop
            return value
        if not any(unicodedata.category(letter) in UNPRINTABLE for letter in value):
            return value
    raise RefusedError(
        f"{what} must be 1 to {LONGEST_TEXT} printable characters; got {value!r:.300}."
    )
