"""Keys for the service: random, shown once, kept as a hash, limited to scopes, revocable.

A key reads ``pb_<scopes>_<random>``: d decide, c convert, r read, a admin. The scopes in its name are for people; what
counts is the table. 32 random bytes need no slow hash: nobody can try them all.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from typing import NamedTuple

from patientbandits.live.refusals import RefusedError, UnknownError
from patientbandits.live.scopes import SCOPES
from patientbandits.live.settings import text
from patientbandits.live.shop import Shop

PREFIX = "pb_"
LONGEST_KEY = 100


class Key(NamedTuple):
    id: str
    """begins the hash: names the key without revealing it"""
    hash: str
    note: str
    scopes: frozenset[str]
    created: int
    """microseconds since 1970"""
    revoked: int | None

    def allows(self, scope: str) -> bool:
        return scope in self.scopes or "admin" in self.scopes


def digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def new_token(scopes: Iterable[str]) -> str:
    letters = "".join(scope[0] for scope in SCOPES if scope in set(scopes))
    return f"{PREFIX}{letters}_{secrets.token_urlsafe(32)}"


def checked(scopes: Iterable[str]) -> list[str]:
    wanted = list(scopes)
    if not wanted or any(scope not in SCOPES for scope in wanted):
        raise RefusedError(
            f"key: scopes must be one or more of {', '.join(SCOPES)}; got {wanted!r:.200}."
        )
    return wanted


class Keyring:
    """The keys of a shop. `find` answers from memory: `load` now and then, to hear of keys made or revoked elsewhere."""

    def __init__(self, shop: Shop) -> None:
        self._shop = shop
        self._valid: dict[str, Key] = {}

    def find(self, token: str) -> Key | None:
        """The key, if it is valid."""
        if len(token) > LONGEST_KEY:
            return None
        hashed = digest(token)
        key = self._valid.get(hashed[:12])
        return key if key is not None and hmac.compare_digest(key.hash, hashed) else None

    def load(self) -> None:
        self._valid = {key.id: key for key in self.all() if key.revoked is None}

    def all(self) -> list[Key]:
        with self._shop.store.reading() as reader:
            rows = reader.keys()
        return [
            Key(id, hashed, note, frozenset(scopes.split()), created, revoked)
            for id, hashed, note, scopes, created, revoked in rows
        ]

    def create(self, scopes: Iterable[str], note: str = "") -> str:
        """Make a key and return it: it cannot be read again."""
        token = new_token(checked(scopes))
        self._shop.journal.alone(lambda: self._add(token, scopes, note))
        self.load()
        return token

    def create_first(self) -> str | None:
        """A key for everything, if there never was a key."""
        token = new_token(["admin"])

        def add() -> bool:
            if self._shop.store.keys():
                return False
            self._add(token, ["admin"], "first key")
            return True

        return token if self._shop.journal.alone(add) else None

    def _add(self, token: str, scopes: Iterable[str], note: str) -> None:
        if note:
            text("key: note", note)
        hashed, kept = digest(token), " ".join(scope for scope in SCOPES if scope in scopes)
        self._shop.store.add_key(hashed[:12], hashed, note, kept, self._shop.journal.now())

    def revoke(self, id: str) -> None:
        """From now on the key is refused; by other processes, within the second in which they load again."""
        store = self._shop.store

        def revoke() -> None:
            known = [row[0] for row in store.keys()]  # noqa: SIM118 - no dictionary
            if id not in known:
                raise UnknownError(f"key: there is none with this id; got {id!r:.100}.")
            store.revoke_key(id, self._shop.journal.now())

        self._shop.journal.alone(revoke)
        self.load()
