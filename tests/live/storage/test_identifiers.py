"""Ids of decisions, from their definition."""

from __future__ import annotations

import base64
import hashlib
import random

from patientbandits.live.storage.identifiers import Era, Signer

SECRET = b"a secret of this test"


def by_definition(experiment: int, seq: int, salt: str = "") -> str:
    body = experiment.to_bytes(4, "big") + seq.to_bytes(6, "big")
    signed = hashlib.blake2b(body + salt.encode(), key=SECRET, digest_size=10).digest()
    return base64.urlsafe_b64encode(body + signed + b"\0").decode()[:27]


def test_names_one_by_one_and_many_at_once():
    pick = random.Random(3)
    signer = Signer(SECRET)
    for _ in range(50):
        experiment = pick.choice([1, 7, 2**31])
        first = pick.choice([1, 255, 2**40])
        seqs = range(first, first + pick.choice([0, 1, 2, 64]))
        names = signer.names(experiment, seqs)
        assert names == [by_definition(experiment, seq) for seq in seqs]
        assert names == [signer.name(experiment, seq) for seq in seqs]
        assert [tuple(signer.read(name)) for name in names] == [(experiment, seq) for seq in seqs]


def test_names_across_the_beginning_of_an_era():
    era = Era("salt", {1: 10})
    names = Signer(SECRET, [era]).names(1, range(8, 14))
    old = [by_definition(1, seq) for seq in (8, 9, 10)]
    new = [by_definition(1, seq, era.salt) for seq in (11, 12, 13)]
    assert names == old + new
