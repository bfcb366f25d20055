"""Several processes on one database, and what happens to them when it fails."""

from __future__ import annotations

import time
from collections import Counter

import pytest
from folds import counts, same
from servers import Server
from workers import LEAST, Workers

import patientbandits as pb
from patientbandits import live

pytestmark = pytest.mark.slow

NAMES = ["ann", "bob", "cat", "dan"]


def prepared(address, policy):
    with live.open(address) as shop:
        shop.experiment("button", ["a", "b", "c"], policy=policy, sticky=False, seed=2).decide()


def settled(address, answers):
    """Nothing acknowledged is lost, nothing is there twice, and the memory is what the log says."""
    with live.open(address) as shop:
        button = shop.open("button")
        decided = {
            key: (id, arm)
            for kind, *rest in answers
            if kind == "decided"
            for key, id, arm in [rest[:3]]
        }
        converted = {rest[0]: rest[1] for kind, *rest in answers if kind == "converted"}
        retracted = {rest[0] for kind, *rest in answers if kind == "retracted"}
        assert all(
            (again := button.decide(unit=key.split("-")[0], key=key))[:2] == made
            and again.duplicate
            for key, made in decided.items()
        )
        lines = shop.store.lines(button.experiment.id, 0)
        kinds = Counter(line.kind for line in lines)
        assert [line.seq for line in lines] == list(range(1, len(lines) + 1))
        assert kinds == {
            "change": 1,
            "decision": 1 + len(decided),
            "conversion": len(converted),
            "retraction": len(retracted),
        }
        paid = sum(value for id, value in converted.items() if id not in retracted)
        assert sum(total for _, total in counts(button).values()) == paid
        assert len({id for id, _ in decided.values()}) == len(decided)
        assert same(button)
        return len(decided)


@pytest.mark.parametrize(
    "policy", [pb.UCB1(), pb.PatientThompson()], ids=lambda policy: policy.owner
)
def test_several_processes(address, policy, tmp_path):
    prepared(address, policy)
    workers = Workers(address, NAMES[:3], tmp_path)
    try:
        workers.work_on()
        answers = workers.finish()
    finally:
        workers.kill()
    assert settled(address, answers) >= 3 * LEAST


@pytest.fixture
def own_server():
    """A server that may be killed."""
    running = Server()
    yield running
    running.close()


@pytest.mark.parametrize("how", ["connections cut", "server killed"])
def test_postgres_fails_under_way(own_server, how, tmp_path):
    """Four workers; again and again the server forgets their connections, or dies and comes back
    after a while."""
    address = own_server.fresh()
    prepared(address, pb.UCB1())
    workers = Workers(address, NAMES, tmp_path)
    try:
        for _ in range(15 if how == "connections cut" else 3):
            workers.work_on()
            if how == "connections cut":
                own_server.cut()
            else:
                own_server.kill()
                time.sleep(0.5)
                own_server.start()
        answers = workers.finish()
    finally:
        workers.kill()
    assert settled(address, answers) >= 4 * LEAST
    assert sum(failures for *_, failures in answers) > 0  # some requests did fail
