"""Names of people and their orders in the log.

Unless asked otherwise a database keeps no unit, order or key as it was sent, but its hash under the
database's own secret: h(x) = BLAKE2b-128(secret, kind of name, x). The same name always has the
same hash, so repeating, joining and crediting work as with names in the clear; without the secret
nobody can tell whose hash it is, not even by trying.

A name that was erased is replaced by a mark and random letters. No client can send the mark: it is
a control character, which names must not contain.
"""

from __future__ import annotations

import binascii
import hashlib
import secrets
from collections.abc import Callable, Sequence
from typing import NamedTuple

from patientbandits.errors import InputError
from patientbandits.live.log import Era, Signer, stored_eras
from patientbandits.live.storage.base import ERAS, NAMES_KEPT, SECRET, LogStore

HASHED = "hashed"
CLEAR = "clear"
WAYS = (HASHED, CLEAR)
"""how units, orders and keys are kept"""

HASH_BYTES = 16
HASH_LENGTH = 22
"""letters, base 64 without its padding"""

ERASED = "\x1a"
LETTERS = bytes.maketrans(b"+/", b"._")
"""none that a spreadsheet takes for a formula"""

Naming = Callable[[str], str]


class Pseudonyms:
    """``way``: one of `WAYS`."""

    def __init__(self, secret: bytes, way: str) -> None:
        self.way = way
        self.unit = naming(secret, way, b"unit")
        self.order = naming(secret, way, b"order")
        self.key = naming(secret, way, b"key")

    def maybe_unit(self, said: str | None) -> str | None:
        return None if said is None else self.unit(said)

    def maybe_order(self, said: str | None) -> str | None:
        return None if said is None else self.order(said)

    def maybe_key(self, said: str | None) -> str | None:
        return None if said is None else self.key(said)


def naming(secret: bytes, way: str, kind: bytes) -> Naming:
    """A function from a name as it is sent to the name in the log."""
    if way == CLEAR:
        return str
    keyed = hashlib.blake2b(key=secret, person=kind, digest_size=HASH_BYTES)

    def hashed(said: str) -> str:
        mine = keyed.copy()
        mine.update(said.encode())
        letters = binascii.b2a_base64(mine.digest(), newline=False)
        return letters.translate(LETTERS)[:HASH_LENGTH].decode()

    return hashed


def erased_name() -> str:
    """Somebody, but nobody knows who."""
    return ERASED + secrets.token_hex(8)


def is_erased(name: str) -> bool:
    return name.startswith(ERASED)


class DatabaseNames(NamedTuple):
    """The secret and the rules that all names in a database are made with."""

    secret: bytes
    way: str
    eras: Sequence[Era]

    @property
    def signer(self) -> Signer:
        return Signer(self.secret, self.eras)

    @property
    def pseudonyms(self) -> Pseudonyms:
        return Pseudonyms(self.secret, self.way)


def database_names(store: LogStore, way: str | None = None) -> DatabaseNames:
    """The secret and the way names are kept, made when a database is new.

    way  the way that a new one gets, hashed unless given; of others it must be theirs. One of an
            earlier version keeps names as they were sent.
    """
    if way not in (None, *WAYS):
        raise InputError(f"live: units must be one of {', '.join(WAYS)}; got units={way!r}.")
    if store.fact(SECRET) is None:
        with store.transaction():
            if store.fact(SECRET) is None:
                store.set_fact(SECRET, secrets.token_hex(32))
                store.set_fact(NAMES_KEPT, way or HASHED)
                store.seal()
    secret = store.fact(SECRET)
    assert secret is not None
    kept = store.fact(NAMES_KEPT) or CLEAR
    if way not in (None, kept):
        raise InputError(
            f"live: {store.shown!r} keeps its units {kept}; got units={way!r}. "
            "`patientbandits units hashed` hashes what is in the clear; there is no way back."
        )
    eras = stored_eras(store.fact(ERAS))
    return DatabaseNames(secret=bytes.fromhex(secret), way=kept, eras=eras)
