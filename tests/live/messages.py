"""Many messages about few conversions: duplicated, shuffled, late, unknown, conflicting, from
several clients at once.

python -m tests.live.messages --full                      100 000 conversions as 1 000 000
messages, in a new SQLite file
python -m tests.live.messages --full postgresql://...     the same in an empty PostgreSQL database
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

import patientbandits as pb
from patientbandits import live
from patientbandits.live.storage.identifiers import Signer

CLIENTS = 8
WINDOW, START = 1000.0, 1_700_000_000.0
NAMES = {live.MismatchError: "different", live.NotFoundError: "unknown"}
VALUES = np.array([0.0, 0.1, 0.25, 1 / 3, 0.7, 1.0])


class Message(NamedTuple):
    kind: str
    """true, wrong (conflicts with a true one) or unknown"""
    decision: int
    id: str
    value: float
    at: float | None


class Counted(NamedTuple):
    counts: dict[str, tuple[int, int]]
    """arm: decisions, sum in millionths"""
    answers: Counter[str]


def expected(arms: list[str], messages: list[Message]) -> Counted:
    """What must come out, from the definition: each conversion once, whichever of its messages
    came first."""
    first = {message.decision: message for message in messages if message.kind == "true"}
    decided, paid = Counter(arms), Counter()
    for decision, message in first.items():
        if message.at is None or message.at - START <= WINDOW:
            paid[arms[decision]] += round(message.value * 10**6)
    kinds = Counter(message.kind for message in messages)
    answers = Counter(
        first=len(first),
        duplicate=kinds["true"] - len(first),
        different=kinds["wrong"],
        unknown=kinds["unknown"],
    )
    return Counted({arm: (decided[arm], paid[arm]) for arm in decided}, answers)


def written(
    ids: list[str], conversions: int, total: int, forge: Signer, rng: np.random.Generator
) -> list[Message]:
    """The messages, in the order of their delivery: 5 % about unknown decisions, 1 % with another
    value, the rest true."""
    converted = rng.choice(len(ids), conversions, replace=False)
    values = VALUES[rng.integers(0, len(VALUES), len(ids))]
    ats = START + rng.choice([0.0, 1.0, 500.0, WINDOW, WINDOW + 1, 4000.0], len(ids))
    true = [
        Message("true", d, ids[d], float(values[d]), float(ats[d]) if d % 4 else None)
        for d in converted.tolist()
    ]
    wrong = [
        true[j]._replace(kind="wrong", value=(true[j].value + 0.5) % 1.0)
        for j in rng.integers(0, conversions, total // 100)
    ]
    unknown = [
        Message("unknown", -1, forge.name(1, int(n)), 1.0, None)
        for n in rng.integers(1, 2**40, total // 20)
    ]
    again = [
        true[j] for j in rng.integers(0, conversions, total - len(true) - len(wrong) - len(unknown))
    ]
    everything = true + wrong + unknown + again
    return [everything[j] for j in rng.permutation(len(everything))]


def deliver(
    button: live.ExperimentHandle, messages: list[Message], known: set[int], batch: int
) -> Counter[str]:
    """One client: in batches; what conflicts is held back until its decision's conversion is
    known."""
    answers: Counter[str] = Counter()
    while messages:
        now = [
            message
            for message in messages[:batch]
            if message.kind != "wrong" or message.decision in known
        ]
        later = [
            message
            for message in messages[:batch]
            if message.kind == "wrong" and message.decision not in known
        ]
        messages = messages[batch:] + later
        sent = []
        for message in now:
            try:
                sent.append(
                    (message, button.convert_command(message.id, message.value, message.at))
                )
            except live.NotFoundError:
                answers["unknown"] += 1
        button.journal.execute([command for _, command in sent])
        for message, command in sent:
            if command.error is None:
                known.add(message.decision)
                answers["duplicate" if command.outcome.duplicate else "first"] += 1
            else:
                answers[NAMES.get(type(command.error), repr(command.error))] += 1
        if not now:
            time.sleep(0.001)
    return answers


def run(
    address: str, conversions: int, total: int, seed: int = 1
) -> tuple[Counted, Counted, float]:
    """(what must come out, what did, messages per second)"""
    rng, now = np.random.default_rng(seed), [START]
    with live.open(address, clock=lambda: now[0]) as shop:
        button = shop.experiment(
            "messages", ["a", "b", "c"], policy=pb.UCB1(), window=WINDOW, seed=seed
        )
        decisions = [button.decide_command() for _ in range(conversions + conversions // 4)]
        shop.journal.execute(decisions)
        now[0] = START + 5000.0
        arms, ids = (
            [command.outcome.arm for command in decisions],
            [command.outcome.id for command in decisions],
        )
        forge = Signer(b"forged") if seed % 2 else shop.journal.signer
        messages = written(ids, conversions, total, forge, rng)
        known: set[int] = set()
        begun = time.perf_counter()
        with ThreadPoolExecutor(CLIENTS) as clients:
            parts = [
                (messages[client::CLIENTS], int(rng.integers(20, 200))) for client in range(CLIENTS)
            ]
            answers = sum(
                clients.map(lambda part: deliver(button, part[0], known, part[1]), parts), Counter()
            )
        rate = total / (time.perf_counter() - begun)
        state = shop.journal.state(button.experiment.id)
        found = dict(
            zip(
                "abc",
                zip(
                    state.memory.tally.pulls.tolist(),
                    state.memory.tally.paid.tolist(),
                    strict=True,
                ),
                strict=True,
            )
        )
    told = [message._replace(at=now[0]) if message.at is None else message for message in messages]
    return expected(arms, told), Counted(found, answers), rate


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "address", nargs="?", help="a new SQLite file or an empty PostgreSQL database"
    )
    parser.add_argument(
        "--full", action="store_true", help="all of the 1 000 000 messages; otherwise a twentieth"
    )
    given = parser.parse_args()
    share = 1 if given.full else 20
    with tempfile.TemporaryDirectory() as folder:
        must, did, rate = run(
            given.address or f"{folder}/messages.db", 100_000 // share, 1_000_000 // share
        )
    print(
        f"expected {must.counts}\n         {dict(must.answers)}\n"
        f"counted  {did.counts}\n         {dict(did.answers)}\n{rate:.0f} messages/s"
    )
    if must != did:
        raise SystemExit("they differ")
    print("the same")


if __name__ == "__main__":
    main()
