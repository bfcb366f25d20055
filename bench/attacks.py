"""What `python -m bench.torture` does besides kills: damaged requests, flipped bits, and a database
that is away."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from pathlib import Path

from damage import flips
from floods import HEALTH_SECONDS, MEGABYTES, attack, floods
from fuzz import fuzzed, wrong_fates
from outages import outage
from server_process import ServerProcess
from servers import Server
from service import Running

from bench.table import Row
from patientbandits import live
from patientbandits.live.operations.checks import check

FLOODING = 1800
"""connections"""

FUZZED_AT_A_TIME = 5000
EXPERIMENT = {"name": "a", "arms": ["x", "y"], "policy": "UCB1"}


def fuzz_rows(folder: Path, requests: int) -> list[Row]:
    """Damaged requests."""
    db = str(folder / "fuzz.db")
    server = ServerProcess(db)
    fates: Counter[str] = Counter()
    refused = 0
    try:
        server.ask("POST", "/v1/experiments", EXPERIMENT)
        for seed in range(0, requests, FUZZED_AT_A_TIME):
            number = min(FUZZED_AT_A_TIME, requests - seed)
            fates += asyncio.run(fuzzed(server.port, number, seed=seed + 1))
            status, _ = server.ask("POST", "/v1/experiments/a/decisions", {"unit": str(seed)})
            refused += status not in (200, 201)
            print(f"  {sum(fates.values()):,} requests", file=sys.stderr)
    finally:
        refused += server.stop() != 0
    with live.open(db, create=False) as shop:
        refused += len(check(shop.store)["wrong"])
    wrong = wrong_fates(fates)
    for fate in wrong[:5]:
        print(f"  {fate}", file=sys.stderr)
    total = f"of {sum(fates.values()):,}"
    return [
        Row("failures or silence", len(wrong), total, at_most=0),
        Row("good requests refused, damage", refused, total, at_most=0),
    ]


def flood_rows(folder: Path, seconds: float) -> list[Row]:
    """One client without a key that wants the server's memory."""
    grown = kept = slowest = 0.0
    with Running(folder / "floods.db") as server:
        for flood in floods(FLOODING):
            damage = attack(server.url, server.process.pid, flood, seconds)
            print(f"  {flood.name}, {flood.connections} connections: {damage}", file=sys.stderr)
            grown = max(grown, damage.grown)
            kept = max(kept, damage.kept)
            slowest = max(slowest, damage.slowest)
    return [
        Row("memory taken", grown, at_most=MEGABYTES, unit=" MB"),
        Row("not given back", kept, at_most=MEGABYTES, unit=" MB"),
        Row("/healthz, longest work", slowest, at_most=HEALTH_SECONDS, unit=" s"),
    ]


def flip_rows(folder: Path, number: int) -> list[Row]:
    """Bits of a database with a snapshot."""
    source = folder / "flips.db"
    now = 1_700_000_000.0
    with live.open(str(source), clock=lambda: now) as shop:
        handle = shop.experiment("button", ["a", "b"], window="30d", seed=1, goals=["buy", "cart"])
        for visitor in range(300):
            now += 60.0
            made = handle.decide(unit=f"visitor-{visitor}", key=f"request-{visitor}")
            if visitor % 3 == 0:
                handle.convert(made.id)
            if visitor % 5 == 0:
                handle.convert(unit=f"visitor-{visitor}", order=f"A-{visitor}", value=0.5)
        handle.alias("visitor-1", "visitor-2")
        shop.erase("visitor-5")
    there = folder / "flipped"
    there.mkdir()
    fates = flips(source, there, number)
    missed = sum(count for fate, count in fates.items() if fate.startswith("missed"))
    told = f"of {number:,} flips; {fates['found']} found, {fates['harmless']} harmless"
    return [Row("harmful and missed", missed, told, at_most=0)]


def outage_rows(seconds: float) -> list[Row]:
    """PostgreSQL is away; the service stays, says so, and goes on when it is back."""
    database = Server()
    try:
        server = ServerProcess(database.fresh())
        try:
            found = outage(database, server, seconds)
        finally:
            server.stop()
    finally:
        database.close()
    told = f"answers: {dict(found.statuses)}"
    return [
        Row("the service is still there", int(found.alive), told, at_least=1),
        Row("ready again after", found.back, unit=" s", at_most=60),
        Row("decisions since", found.since, at_least=1),
        Row("acknowledged and lost", found.lost, f"of {found.acknowledged:,}", at_most=0),
    ]
