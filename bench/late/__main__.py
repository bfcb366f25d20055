"""python -m bench.late [--quick] [--seed N] [--only SECTION] [--policy POLICY] [--json]"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import patientbandits as pb
from bench.late import both_ways, cases, cost, named, random_set, tails
from bench.late.play import Table
from bench.table import Row, show
from patientbandits.policies import POLICIES

FOLDER = Path(__file__).parents[2] / ".bench" / "late"
SECTIONS = {
    "random": ("random problems", random_set.rows),
    "suite": ("the suite and its mirror, both directions", both_ways.rows),
    "named": ("problems with a name", named.rows),
    "cases": ("regret case by case", cases.rows),
    "tails": ("lock-in", tails.rows),
    "cost": ("time per round, one core", cost.rows),
}


def policy_of(text: str) -> pb.Policy:
    """The policy that ``text`` makes in Python: its name, or its name with parameters."""
    try:
        found = eval(text, {"__builtins__": {}}, dict(POLICIES))
        policy = found() if isinstance(found, type) else found
    except Exception as error:
        raise argparse.ArgumentTypeError(f"{text!r} makes no policy: {error}") from None
    if not isinstance(policy, pb.Policy):
        raise argparse.ArgumentTypeError(f"{text!r} makes no policy")
    return policy


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.late",
        description=(
            "Regret with late rewards, as ratios to rivals in the same worlds, against the bars "
            "set for them. Results are kept in .bench/late, so that a second call is quick."
        ),
    )
    parser.add_argument("--quick", action="store_true", help="few problems and runs: a quick look")
    parser.add_argument(
        "--seed", type=int, default=1, help="seed of the random problems and worlds (default: 1)"
    )
    parser.add_argument(
        "--only", action="append", choices=SECTIONS, help="only this section; may be repeated"
    )
    parser.add_argument(
        "--policy",
        type=policy_of,
        default=pb.PatientThompson(),
        help='the policy to test, in Python: "DTS(batch=100)" (default: PatientThompson())',
    )
    parser.add_argument("--workers", type=int, help="threads (default: one per core)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    return parser.parse_args()


def main() -> int:
    options = parsed()
    begin = time.perf_counter()
    table = Table(
        policy=options.policy,
        seed=options.seed,
        folder=FOLDER,
        quick=options.quick,
        workers=options.workers,
    )
    sections: list[tuple[str, list[Row]]] = []
    for name in options.only or SECTIONS:
        title, rows = SECTIONS[name]
        print(f"{title} ...", file=sys.stderr)
        sections.append((title, rows(table)))
    if options.json:
        found = [{"section": title, **row.data()} for title, rows in sections for row in rows]
        print(json.dumps({"policy": table.policy.describe(), "rows": found}, indent=2))
        return 0
    print(show(sections))
    seconds = time.perf_counter() - begin
    print(
        f"\n{table.policy.label}, seed {table.seed}, {seconds:.0f} s. (a : b) are the mean regrets "
        "of which the ratio is taken; ratios problem by problem have 2 added to both."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
