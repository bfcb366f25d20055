"""What a round costs, on one core."""

from __future__ import annotations

from bench.growth import Game, per_round_of
from bench.late.play import Table
from bench.measure import stay_on_one_core
from bench.table import Row, per_round
from bench.workloads import many_arms, two_arms

SHORT = 10_000
MIDDLE = 100_000
LONG = 1_000_000
QUICK_LONG = 200_000
REPETITIONS = 2


def rows(table: Table) -> list[Row]:
    """Two arms, early and late; fifty arms."""
    stay_on_one_core()
    long = QUICK_LONG if table.quick else LONG
    games = {
        "short": Game(two_arms(SHORT, 10), table.policy),
        "middle": Game(two_arms(MIDDLE, 2), table.policy),
        "long": Game(two_arms(long, 1), table.policy),
        "many": Game(many_arms(50, SHORT, 1), table.policy),
    }
    cost = per_round_of(games, REPETITIONS)
    growth = cost["long"] / cost["short"]
    return [
        Row(f"K=2, T={MIDDLE:,}", cost["middle"] / 1000, at_most=2.0, unit=" us"),
        Row(
            f"K=2, T={long:,} over T={SHORT:,}",
            growth,
            per_round(cost["long"], cost["short"]),
            at_most=1.2,
        ),
        Row(f"K=50, T={SHORT:,}", cost["many"] / 1000, at_most=40.0, unit=" us"),
    ]
