"""Names made with the database's secret: signed ids of decisions, hashed names of people.

An id says which experiment and which line of its log. Its signature has a forged one refused
without a look at the store. So is one of a line that was lost: who restores an older backup begins
an era, whose lines are signed otherwise. Without it a conversion of a lost decision would be
credited to the one that has taken its line since.

Unless asked otherwise a database keeps no unit, order or key as it was sent, but its hash under the
secret: h(x) = BLAKE2b-128(secret, kind of name, x). The same name always has the same hash, so
repeating, joining and crediting work as with names in the clear; without the secret nobody can tell
whose hash it is, not even by trying.

A name that was erased is replaced by a mark and random letters. No client can send the mark: it is
a control character, which names must not contain.
"""

from __future__ import annotations

import base64
import binascii
import copy
import hashlib
import hmac
import secrets
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from patientbandits.errors import InputError
from patientbandits.live.errors import NotFoundError
from patientbandits.live.log import Naming
from patientbandits.live.storage.base import BROKEN, ERAS, NAMES_KEPT, PLACE, SECRET, LogStore

EXPERIMENT_BYTES = 4
SEQ_BYTES = 6
BODY_BYTES = EXPERIMENT_BYTES + SEQ_BYTES
SIGNATURE_BYTES = 10
"""a forger succeeds once in 2^80"""

PADDING = b"\0"
"""21 bytes make 28 characters without an odd end; the last one is always A, and left out"""

NAME_LENGTH = 27
URL_SAFE = bytes.maketrans(b"+/", b"-_")

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


class DecisionId(NamedTuple):
    experiment: int
    seq: int


class Era(NamedTuple):
    """Begun when a database was restored, or is elsewhere than it was."""

    salt: str
    heads: Mapping[int, int]
    """the last line of each experiment then; of others, none"""
    told: bool = False
    """whether somebody said that lines are lost"""

    def holds(self, experiment: int, seq: int) -> bool:
        return seq > self.heads.get(experiment, 0)


ERAS_DECODER = msgspec.json.Decoder(list[Era])
"""made before there are threads: see `settings.DECODER`"""


def stored_eras(text: str | None) -> list[Era]:
    return [] if text is None else ERAS_DECODER.decode(text)


def begin_era(store: LogStore, announced: bool = False) -> None:
    """Within a transaction: begin a new era of decision ids.

    Decisions may be lost whose ids are out there: they must not name the decisions that get the
    same lines now.
    """
    heads = {experiment.id: store.head(experiment.id) for experiment in store.experiments()}
    era = Era(salt=secrets.token_hex(8), heads=heads, told=announced)
    eras = [*stored_eras(store.fact(ERAS)), era]
    store.set_fact(ERAS, msgspec.json.encode(eras).decode())
    if announced:
        store.remove_fact(BROKEN)
    store.seal()


def begin_era_if_moved(store: LogStore) -> None:
    """Begin a new era if the database is elsewhere than it was: a copy may lack the last lines."""
    place = store.place()
    if place is None or store.fact(PLACE) == place:
        return
    with store.transaction():
        before = store.fact(PLACE)
        if before not in (None, place):
            begin_era(store)
        store.set_fact(PLACE, place)


class Signer:
    """Signs with BLAKE2b and a key (RFC 7693): a tenth of the time that HMAC takes."""

    def __init__(self, secret: bytes, eras: Sequence[Era] = ()) -> None:
        self._keyed = hashlib.blake2b(key=secret, digest_size=SIGNATURE_BYTES)
        self._latest_first = list(reversed(eras))

    @property
    def eras(self) -> list[Era]:
        return self._latest_first[::-1]

    def within(self, eras: Sequence[Era]) -> Signer:
        """A signer with the same secret."""
        other = copy.copy(self)
        other._latest_first = list(reversed(eras))
        return other

    def _signature(self, body: bytes) -> bytes:
        keyed = self._keyed.copy()
        keyed.update(body)
        # without a restored backup there is no era, and names are as they always were
        if self._latest_first:
            keyed.update(self._salt(*said_by(body)))
        return keyed.digest()

    def _salt(self, experiment: int, seq: int) -> bytes:
        """The salt of the last era that the line belongs to, if to any."""
        for era in self._latest_first:
            if era.holds(experiment, seq):
                return era.salt.encode()
        return b""

    def name(self, experiment: int, seq: int) -> str:
        return self.names(experiment, (seq,))[0]

    def names(self, experiment: int, seqs: Iterable[int]) -> list[str]:
        """The names of many lines, written at once."""
        first = experiment << 8 * SEQ_BYTES
        bodies = [(first | seq).to_bytes(BODY_BYTES, "big") for seq in seqs]
        raw = b"".join([body + self._signature(body) + PADDING for body in bodies])
        # as `urlsafe_b64encode`, which takes twice the time
        text = binascii.b2a_base64(raw, newline=False).translate(URL_SAFE).decode()
        step = NAME_LENGTH + 1
        return [text[at : at + NAME_LENGTH] for at in range(0, len(text), step)]

    def read(self, name: object) -> DecisionId:
        """The decision that the name is of, if the signature is ours."""
        try:
            body = self._verified(name)
        except (ValueError, binascii.Error):
            raise NotFoundError(f"decision: no decision has this id; got {name!r:.100}.") from None
        return said_by(body)

    def _verified(self, name: object) -> bytes:
        if not isinstance(name, str) or len(name) != NAME_LENGTH:
            raise ValueError
        raw = base64.b64decode(name + "A", altchars=b"-_", validate=True)
        body = raw[:BODY_BYTES]
        if not hmac.compare_digest(self._signature(body), raw[BODY_BYTES:-1]):
            raise ValueError
        if raw[-1:] != PADDING:
            raise ValueError
        return body


def said_by(body: bytes) -> DecisionId:
    """The part of a name before its signature."""
    return DecisionId(
        experiment=int.from_bytes(body[:EXPERIMENT_BYTES], "big"),
        seq=int.from_bytes(body[EXPERIMENT_BYTES:], "big"),
    )


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
