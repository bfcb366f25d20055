"""An experiment to which something of everything has happened."""

from __future__ import annotations

import hashlib
import json

import patientbandits as pb


def busy(shop, clock, arms=("blue", "=1+1"), policy=None):
    """An experiment with a bit of everything; returns it and its decisions."""
    button = shop.experiment(
        "button", list(arms), policy=policy or pb.PatientThompson(), window=100.0
    )
    made = []
    for j in range(40):
        clock.now += 1.5
        made.append(button.decide(unit=f"@u{j}", key=f"k{j}"))
    for j in range(0, 20, 2):
        button.convert(made[j].id, 0.5 + j / 100)
    button.retract(made[0].id)
    clock.now += 1000
    button.convert(made[21].id)  # late
    button.change(paused=True)
    return button, made


def json_bytes(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def chain_of_earlier_versions(rows):
    """The names are a part of what is hashed."""
    before = b""
    for row in rows:
        *line, goal, sender, _ = row
        if goal is not None or sender is not None:
            line.append(goal)
        if sender is not None:
            line.append(sender)
        before = hashlib.blake2b(before + json_bytes(line), digest_size=16).digest()
        yield before
