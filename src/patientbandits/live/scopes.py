"""What a key can be made for. In a file of its own: the command line asks for it first."""

from __future__ import annotations

from typing import Literal, get_args

KeyScope = Literal["decide", "convert", "read", "admin"]
"""``admin`` includes the others."""

SCOPES: tuple[str, ...] = get_args(KeyScope)
