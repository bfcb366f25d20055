"""API keys: random, shown once, stored as a hash, limited to scopes, revocable.

A key reads ``pb_<scopes>_<random>``: d decide, e expose, c convert, r read, a admin. The scopes in
its name are for people; the table decides. A slow hash is for passwords that can be guessed: nobody
can try all values of 32 random bytes.
"""

from __future__ import annotations

import hashlib
import hmac
import math
import re
import secrets
import time
from collections.abc import Iterable
from typing import NamedTuple

from patientbandits.live.commands import Journal
from patientbandits.live.errors import NotFoundError, RefusedError
from patientbandits.live.log import StoredKey
from patientbandits.live.names import SCOPES, printable_text
from patientbandits.live.storage import LogStore

KEY_PREFIX = "pb_"
RANDOM_BYTES = 32
RANDOM_LENGTH = 43
"""letters that so many bytes are written with"""

TOKEN = re.compile(f"{KEY_PREFIX}a_[A-Za-z0-9_-]{{{RANDOM_LENGTH},}}")
FOR = "in:"
"""begins the name of an experiment among a key's scopes, as they are stored"""

ID_LENGTH = 12
LONGEST_KEY = 100


class Key(NamedTuple):
    id: str
    """the first characters of the hash: names the key without revealing it"""
    hash: str
    note: str
    scopes: frozenset[str]
    created: int
    """microseconds since 1970"""
    revoked: int | None
    experiments: frozenset[str] = frozenset()
    """the experiments that it is for; empty: all"""

    @classmethod
    def of(cls, stored: StoredKey) -> Key:
        words = stored.scopes.split()
        return cls(
            id=stored.id,
            hash=stored.hash,
            note=stored.note,
            scopes=frozenset(word for word in words if not word.startswith(FOR)),
            created=stored.created,
            revoked=stored.revoked,
            experiments=frozenset(word[len(FOR) :] for word in words if word.startswith(FOR)),
        )

    def is_for(self, experiment: str) -> bool:
        return not self.experiments or experiment in self.experiments

    def allows(self, scope: str) -> bool:
        if scope == "expose" and self.scopes >= {"decide", "convert"}:
            return True  # keys of servers, made before the scope was
        return scope in self.scopes or "admin" in self.scopes

    @property
    def for_pages(self) -> bool:
        """Tell whether everybody may know it: it can do nothing but decide."""
        return self.scopes == {"decide"}


def token_hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def new_token(scopes: Iterable[str]) -> str:
    chosen = set(scopes)
    letters = "".join(scope[0] for scope in SCOPES if scope in chosen)
    return f"{KEY_PREFIX}{letters}_{secrets.token_urlsafe(RANDOM_BYTES)}"


def checked_token(token: str) -> str:
    """A key that somebody else has made: as hard to guess as ours."""
    if not TOKEN.fullmatch(token) or len(token) > LONGEST_KEY:
        raise RefusedError(
            f"key: a key must be {KEY_PREFIX}a_ and {RANDOM_LENGTH} or more random letters, digits,"
            f" dashes or underscores; got {len(token)} characters."
        )
    return token


def checked_scopes(scopes: Iterable[str]) -> list[str]:
    listed = list(scopes)
    if not listed or any(scope not in SCOPES for scope in listed):
        raise RefusedError(
            f"key: scopes must be one or more of {', '.join(SCOPES)}; got {listed!r:.200}."
        )
    return listed


class Keyring:
    """The keys of a shop.

    `find` answers from a cache: call `load` now and then, for keys that other processes create or
    revoke.
    """

    def __init__(self, store: LogStore, journal: Journal) -> None:
        self._store = store
        self._journal = journal
        self._valid: dict[str, Key] = {}
        self._loaded = -math.inf

    def find(self, token: str) -> Key | None:
        """The key, if it is valid."""
        if len(token) > LONGEST_KEY:
            return None
        # Looked up by a part of the hash, compared in constant time: timing reveals nothing.
        hashed = token_hash(token)
        key = self._valid.get(hashed[:ID_LENGTH])
        if key is None or not hmac.compare_digest(key.hash, hashed):
            return None
        return key

    def load(self) -> None:
        began = time.monotonic()  # before the query: a key revoked during it counts as unseen
        self._valid = {key.id: key for key in self.all() if key.revoked is None}
        self._loaded = began

    def age(self) -> float:
        """Seconds since the keys were read."""
        return time.monotonic() - self._loaded

    def all(self) -> list[Key]:
        with self._store.reading() as reader:
            stored = reader.keys()
        return [Key.of(key) for key in stored]

    def create(self, scopes: Iterable[str], note: str = "", experiments: Iterable[str] = ()) -> str:
        """Create a key and return it: it cannot be read again; ``experiments``: for these only."""
        chosen = checked_scopes(scopes)
        named = sorted(set(experiments))
        self._require(named)
        token = new_token(chosen)
        self._journal.alone(lambda: self._add(token, chosen, note, named))
        self.load()
        return token

    def create_first(self, token: str | None = None) -> str | None:
        """Create an admin key, if there never was a key; ``token``: the one that it shall be."""
        token = new_token(["admin"]) if token is None else checked_token(token)

        def add() -> bool:
            if self._store.keys():
                return False
            self._add(token, ["admin"], "first key")
            return True

        return token if self._journal.alone(add) else None

    def _require(self, names: Iterable[str]) -> None:
        with self._store.reading() as reader:
            existing = {experiment.name for experiment in reader.experiments()}
        missing = [name for name in names if name not in existing]
        if missing:
            raise NotFoundError(f"key: no experiments have these names; got {missing!r:.200}.")

    def _add(
        self, token: str, scopes: Iterable[str], note: str, experiments: Iterable[str] = ()
    ) -> None:
        if note:
            printable_text("key: note", note)
        hashed = token_hash(token)
        words = [scope for scope in SCOPES if scope in scopes]
        words += [FOR + name for name in experiments]
        self._store.add_key(
            id=hashed[:ID_LENGTH],
            hash=hashed,
            note=note,
            scopes=" ".join(words),
            created=self._journal.now(),
        )

    def revoke(self, id: str) -> None:
        """Revoke the key: refused from now on, by other processes once they have loaded again."""

        def revoke() -> None:
            if all(key.id != id for key in self._store.keys()):  # noqa: SIM118 - no dictionary
                raise NotFoundError(f"key: no key has this id; got {id!r:.100}.")
            self._store.revoke_key(id, self._journal.now())

        self._journal.alone(revoke)
        self.load()
